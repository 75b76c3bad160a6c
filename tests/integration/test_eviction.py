"""A server that evicts locks to make room: each holder is told by its next renewal."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from lockc_abi import EVENT_LOST, LOST_TAKEN, Lock, OpenClient, Queue, Refused
from redis_server import RedisServer
from resp import Connection
from timing import TOLERANCE

HOLDS = 20
TTL_MS = 3000
MEMORY = 5 << 20
FLOOD = 40 << 20


@pytest.fixture
def evicting() -> Iterator[RedisServer]:
    """A small server that takes for granted that whatever expires may go."""
    options = {"maxmemory": MEMORY, "maxmemory_policy": "volatile-lru", "maxmemory_samples": 10}
    with RedisServer(options) as server:
        yield server


def flood(raw: Connection) -> None:
    """Keys that expire and are younger than any lock."""
    value = b"x" * 20_000
    for number in range(0, FLOOD // len(value), 100):
        raw.pipeline(("SET", f"flood:{number + i}", value, "PX", 60_000) for i in range(100))


def test_each_evicted_lock_is_told_within_one_renewal(
    evicting: RedisServer, open_client: OpenClient
) -> None:
    client = open_client(evicting.url, default_ttl_ms=TTL_MS)
    with Queue(client) as events, evicting.connect() as raw:
        locks = [
            client.acquire(f"key:{number}", events=events.handle, events_tag=number)
            for number in range(HOLDS)
        ]
        flood(raw)
        evicted = {n for n in range(HOLDS) if raw.call("EXISTS", f"key:{n}") == 0}
        assert evicted, "nothing was evicted"
        deadline = time.monotonic() + TTL_MS / 3000 + TOLERANCE
        told = set()
        while not evicted <= told:
            completion = events.poll(max(0, int((deadline - time.monotonic()) * 1000)))
            assert completion is not None, f"{evicted - told} are not told"
            assert completion.kind == EVENT_LOST
            assert completion.tag not in told, "told twice"
            told.add(completion.tag)
        for number, lock in enumerate(locks):
            check(lock, raw, number, lost=number in told)


def check(lock: Lock, raw: Connection, number: int, *, lost: bool) -> None:
    key = f"key:{number}"
    if lost:
        assert (lock.remaining_ms, lock.lost_reason) == (0, LOST_TAKEN)
        with pytest.raises(Refused) as refused:
            lock.release()
        assert refused.value.status == "LOST"
        assert raw.call("EXISTS", key) == 0, "a renewal must not bring it back"
    elif raw.call("EXISTS", key):
        assert lock.remaining_ms > 0
