"""Everything written has an expiry, long enough for its purpose and never shortened."""

from __future__ import annotations

import pytest
from lock import Listen, Lock, owner

A, B, C = owner("a"), owner("b"), owner("c")


def test_every_key_has_an_expiry_in_every_state(lock: Lock, listen: Listen) -> None:
    listen(B)
    steps = [
        lambda: lock.acquire(A),
        lambda: lock.acquire(B),
        lambda: lock.acquire(C),
        lambda: lock.renew(9000, A),
        lambda: lock.requeue(A, owner("a", 2)),
        lambda: lock.release(C),
        lambda: lock.release(B),
        lambda: lock.release(owner("a", 2)),
    ]
    for step in steps:
        step()
        assert all(expiry > 0 for expiry in lock.expiries().values())


@pytest.mark.parametrize(
    ("ttl", "window"),
    [(10, 3000), (3000, 3000), (5000, 5000), (30_000, 30_000), (86_400_000, 30_000)],
)
def test_waiter_counts_as_alive_for_its_window(lock: Lock, ttl: int, window: int) -> None:
    value = owner("b", ttl=ttl)
    lock.acquire(A)
    before = lock.now_us() // 1000
    lock.acquire(value)
    after = lock.now_us() // 1000
    seen = int(lock.connection.call("ZSCORE", lock.seen, value))
    assert before + window <= seen <= after + window


@pytest.mark.parametrize("ttl", [10, 5000, 30_000, 86_400_000])
def test_queue_outlives_two_windows_and_a_minute(lock: Lock, ttl: int) -> None:
    lock.acquire(A)
    lock.acquire(owner("b", ttl=ttl))
    for key in (lock.queue, lock.seen):
        assert 59_000 < lock.pttl(key) <= 60_000


def test_poll_renews_the_expiry_of_the_queue(lock: Lock) -> None:
    lock.acquire(A)
    lock.acquire(B)
    for key in (lock.queue, lock.seen):
        lock.connection.call("PEXPIRE", key, 1000)
    lock.acquire(B)
    for key in (lock.queue, lock.seen):
        assert lock.pttl(key) > 50_000


@pytest.mark.parametrize("value", [B, C])
def test_expiry_of_the_queue_is_never_shortened(lock: Lock, value: bytes) -> None:
    lock.acquire(A)
    lock.acquire(B)
    for key in (lock.queue, lock.seen):
        lock.connection.call("PEXPIRE", key, 600_000)
    lock.acquire(value)
    for key in (lock.queue, lock.seen):
        assert lock.pttl(key) > 590_000


def test_poll_renews_the_window(lock: Lock) -> None:
    lock.acquire(A)
    lock.acquire(B)
    lock.make_stale(B)
    lock.acquire(B)
    assert int(lock.connection.call("ZSCORE", lock.seen, B)) > lock.now_us() // 1000 + 4000


def test_keys_of_a_cancelled_wait_are_gone(lock: Lock) -> None:
    lock.acquire(A)
    for value in (B, C):
        lock.acquire(value)
    for value in (B, C):
        lock.release(value)
    assert lock.left() == {lock.key, lock.fence}
