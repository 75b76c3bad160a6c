"""How long a lock lasts: renewal, fixed leases, and the news of a loss."""

from __future__ import annotations

import ctypes
import threading
import time
import traceback

import lockc
import pytest
from redis_server import RedisServer
from resp import Connection


def test_lock_without_ttl_is_renewed_beyond_it(quick_client: lockc.Client, key: str) -> None:
    with quick_client.lock(key) as held:
        assert not held.lost.wait(1.5)
        assert 0 < held.remaining <= 0.6


def test_lock_is_renewed_while_another_call_keeps_the_gil(
    server: RedisServer, key: str, raw: Connection
) -> None:
    with lockc.Client(server.url, default_ttl=1) as client, client.lock(key) as held:
        ctypes.PyDLL(None).usleep(2_500_000)  # PyDLL, unlike CDLL, doesn't release it
        assert held.remaining > 0
        assert raw.call("PTTL", key) > 0


def test_lock_with_ttl_ends_with_it(client: lockc.Client, key: str) -> None:
    lock = client.lock(key, ttl=0.2)
    lock.acquire()
    held = lock.held
    assert held is not None
    assert held.lost.wait(5)
    assert (held.lost.reason, held.remaining) == ("expired", 0)
    assert lock.release() is False
    with client.lock(key, timeout=5):
        pass


def test_renew_overrides_what_the_ttl_says(client: lockc.Client, key: str) -> None:
    with client.lock(key, ttl=0.3, renew=True) as held:
        assert not held.lost.wait(0.8)
    with pytest.raises(lockc.Lost), client.lock(key, renew=False, ttl=0.1) as held:
        assert held.lost.wait(5)


def test_max_hold_ends_renewal(quick_client: lockc.Client, key: str) -> None:
    lock = quick_client.lock(key, max_hold=0.3, permissive=True)
    with lock as held:
        assert held.lost.wait(5)
        assert held.lost.reason == "limit"


def test_extend_makes_a_fixed_lease_last(client: lockc.Client, key: str) -> None:
    with client.lock(key, ttl=0.5) as held:
        held.extend(20)
        assert held.remaining > 15
        held.extend(1)
        assert held.remaining > 15, "extend never shortens"


def test_extend_of_what_is_not_held_raises(client: lockc.Client, key: str, raw: Connection) -> None:
    with client.lock(key, permissive=True) as held:
        raw.call("DEL", key)
        with pytest.raises(lockc.Lost):
            held.extend(10)
    with client.lock(key) as held:
        held.release()
        with pytest.raises(lockc.NotHeld):
            held.extend(10)


def test_deleted_key_is_told_to_whoever_waits(
    quick_client: lockc.Client, key: str, raw: Connection
) -> None:
    with quick_client.lock(key, permissive=True) as held:
        told: list[bool] = []
        watchers = [
            threading.Thread(target=lambda: told.append(held.lost.wait(10))) for _ in range(3)
        ]
        for watcher in watchers:
            watcher.start()
        raw.call("DEL", key)
        for watcher in watchers:
            watcher.join()
        assert told == [True, True, True]
        assert held.lost.is_set()
        assert held.lost.reason == "taken"


def test_loss_of_one_lock_leaves_the_others(
    quick_client: lockc.Client, key: str, raw: Connection
) -> None:
    with quick_client.lock(f"{key}:kept") as kept, quick_client.lock(key, permissive=True) as held:
        raw.call("DEL", key)
        assert held.lost.wait(5)
        assert not kept.lost.is_set()


def test_watcher_of_a_released_lock_is_told_it_was_not_lost(client: lockc.Client, key: str) -> None:
    answers: list[bool] = []
    with client.lock(key) as held:
        watcher = threading.Thread(target=lambda: answers.append(held.lost.wait()))
        watcher.start()
    watcher.join(5)
    assert answers == [False]


def test_leaving_raises_lost_after_a_normal_body(
    client: lockc.Client, key: str, raw: Connection
) -> None:
    with pytest.raises(lockc.Lost) as lost, client.lock(key):
        raw.call("SET", key, "another owner")
    assert lost.value.key == key.encode()
    assert raw.call("GET", key) == b"another owner"


def test_permissive_lock_raises_nothing_when_left(
    client: lockc.Client, key: str, raw: Connection
) -> None:
    with client.lock(key, permissive=True):
        raw.call("DEL", key)


def test_exception_of_the_body_wins_over_lost(
    client: lockc.Client, key: str, raw: Connection
) -> None:
    def body() -> None:
        try:
            raise KeyError("first")
        except KeyError:
            raw.call("DEL", key)
            raise RuntimeError("second")  # noqa: B904 - its context is what is tested

    with pytest.raises(RuntimeError, match="second") as error, client.lock(key):
        body()
    first = error.value.__context__
    assert isinstance(first, KeyError)
    assert isinstance(first.__context__, lockc.Lost)
    assert "the lock was lost" in "".join(traceback.format_exception(error.value))


def test_lost_lock_object_is_in_use_until_released(
    client: lockc.Client, key: str, raw: Connection
) -> None:
    lock = client.lock(key, ttl=0.5)
    lock.acquire()
    held = lock.held
    assert held is not None
    assert held.lost.wait(20)
    with pytest.raises(lockc.Invalid, match="in use"):
        lock.acquire()
    assert lock.release() is False
    assert lock.acquire() is True
    lock.release()


def test_many_lost_locks_are_told_of_without_delay(client: lockc.Client, key: str) -> None:
    before = time.monotonic()
    locks = [client.lock(f"{key}:{number}", ttl=1) for number in range(50)]
    for lock in locks:
        lock.acquire()
    for lock in locks:
        held = lock.held
        assert held is not None
        assert held.lost.wait(20)
        assert lock.release() is False
    assert time.monotonic() - before < 10
