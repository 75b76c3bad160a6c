"""Waits that end by a completion: begun, looked at, granted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lockc_abi import Client, Completion, Lock, Option, Queue
from resp import Connection
from timing import TOLERANCE
from watching import wait_queued


def take(queue: Queue, limit: float) -> Completion:
    completion = queue.poll(int((limit + TOLERANCE) * 1000))
    assert completion is not None, f"nothing within {limit} s"
    return completion


def take_grant(queue: Queue, limit: float = 2.0) -> Lock:
    completion = take(queue, limit)
    assert completion.status == "OK", completion.status
    assert completion.lock is not None
    return completion.lock


@contextmanager
def waiting(client: Client, raw: Connection, place: int = 1, **options: Option) -> Iterator[Queue]:
    """A wait for "key" that has become so many-th in the server's queue."""
    with Queue(client) as queue:
        queue.acquire(1, "key", **({"wait_ms": -1} | options))
        wait_queued(raw, place)
        yield queue
