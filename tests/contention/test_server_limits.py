"""Waiting where the server is full, or where this user may not publish or subscribe."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from lockc_abi import Client, Queue
from redis_server import RedisServer
from resp import Connection
from timing import within
from waits import take, take_grant, waiting
from watching import Monitor, calls, queue_of, script_calls, wait_queued

FAIR = {"kind": 1, "ttl_ms": 1500}
USER = ("ACL", "SETUSER", "limited", "on", ">secret", "~*", "+@all", "&*")


@pytest.fixture
def full(server: RedisServer, raw: Connection) -> Iterator[Callable[[bool], None]]:
    """Makes the server deny what needs memory, and ends that."""

    def full(is_full: bool) -> None:
        raw.call("CONFIG", "SET", "maxmemory", 1 if is_full else 0)

    yield full
    full(False)


def test_waiters_keep_their_turn_in_full_memory(
    full: Callable[[bool], None], holder: Client, waiter: Client, raw: Connection
) -> None:
    held = holder.acquire("key", ttl_ms=30000)
    with waiting(waiter, raw, ttl_ms=1500) as first, waiting(waiter, raw, 2, **FAIR) as second:
        full(True)
        polls = script_calls(raw)
        assert within(3.0, lambda: script_calls(raw) >= polls + 4)  # both, every 0.5 s
        assert len(queue_of(raw)) == 2
        held.release()
        take_grant(first).release()
        take_grant(second).release()
    assert raw.call("EXISTS", "key") == 0


def test_newcomer_in_full_memory_waits_for_room(
    full: Callable[[bool], None], waiter: Client, raw: Connection
) -> None:
    full(True)
    with Queue(waiter) as queue:
        tries = script_calls(raw)
        queue.acquire(1, "key", wait_ms=1000)
        assert take(queue, 1.0).status == "E_SERVER_OOM"
        assert 5 <= script_calls(raw) - tries <= 22  # at most 20 a second
        queue.acquire(2, "key", wait_ms=-1)
        assert queue.poll(200) is None
        full(False)
        take_grant(queue).release()


class Limited:
    """A client whose user may not do everything, and what it warned of."""

    def __init__(self, server: RedisServer, raw: Connection, *limits: str) -> None:
        raw.call(*USER, *limits)
        self._read, self._write = os.pipe()
        self.client = Client(server.url, username="limited", password="secret", log_fd=self._write)

    def warnings(self) -> list[str]:
        os.set_blocking(self._read, False)
        return os.read(self._read, 65536).decode().splitlines()

    def close(self) -> None:
        self.client.close()
        os.close(self._read)
        os.close(self._write)


@pytest.mark.parametrize(
    ("limits", "warning"),
    [
        (("-publish",), "waiters poll, for this user may not publish"),
        (("-subscribe",), "waiters poll, for this user may not subscribe"),
        (("resetchannels",), "waiters poll, for this user may not subscribe"),
    ],
    ids=["no publish", "no subscribe", "no channels"],
)
def test_waiter_that_cannot_be_told_polls_and_warns(
    limits: tuple[str, ...], warning: str, server: RedisServer, raw: Connection, monitor: Monitor
) -> None:
    limited, other = (Limited(server, raw, *limits) for _ in range(2))
    held = other.client.acquire("key")
    with Queue(limited.client) as queue:
        queue.acquire(1, "key", wait_ms=-1, ttl_ms=30000)
        # By back-off of up to 250 ms, which is far below the poll bound of 5 s.
        assert within(3.0, lambda: monitor.count("acquire") >= 12)
        before = monitor.count("acquire")
        assert not within(1.0, lambda: monitor.count("acquire") > before + 12)
        published = calls(raw, "publish")
        held.release()
        lock = take_grant(queue, 0.25)
        assert lock.token > held.token
        lock.release()
        assert calls(raw, "publish") == published
    warnings = limited.warnings()
    assert len([line for line in warnings if warning in line]) == 1, warnings
    assert not any("secret" in line for line in warnings)
    limited.close()
    other.close()
    raw.call("ACL", "DELUSER", "limited")


def test_waiter_told_by_a_holder_who_may_not_publish_gets_its_turn_by_polling(
    server: RedisServer, raw: Connection, waiter: Client
) -> None:
    limited = Limited(server, raw, "-publish")
    held = limited.client.acquire("key")
    with Queue(waiter) as queue:
        queue.acquire(1, "key", wait_ms=-1, ttl_ms=1500)
        [owner] = wait_queued(raw, 1)
        held.release()
        assert raw.call("GET", "key") == owner
        take_grant(queue, 0.5).release()
    limited.close()
    raw.call("ACL", "DELUSER", "limited")
