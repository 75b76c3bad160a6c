"""Acquiring and releasing: who gets the lock, who does not, and what each is told."""

from __future__ import annotations

import threading
import time

import lockc
import pytest
from conftest import until
from redis_server import RedisServer
from resp import Connection


def test_with_holds_the_key_inside_and_not_after(
    client: lockc.Client, key: str, raw: Connection
) -> None:
    with client.lock(key) as held:
        assert raw.call("GET", key) == held.owner.encode()
        assert 0 < raw.call("PTTL", key) <= 30_000
    assert raw.call("EXISTS", key) == 0


def test_held_tells_key_token_and_remaining_time(client: lockc.Client, key: str) -> None:
    with client.lock(key, ttl=10) as held:
        assert held.key == key.encode()
        assert held.token > 0
        assert 9 < held.remaining < 10
        assert not held.lost.is_set()
        assert held.lost.reason is None
    assert held.remaining == 0
    assert not held.lost.is_set()


def test_tokens_grow_with_every_grant(client: lockc.Client, key: str) -> None:
    tokens = []
    for _ in range(5):
        with client.lock(key) as held:
            tokens.append(held.token)
    assert tokens == sorted(set(tokens))


def test_unfenced_lock_has_token_0(client: lockc.Client, key: str) -> None:
    with client.lock(key, fenced=False) as held:
        assert held.token == 0


def test_bytes_that_are_not_text_are_a_key(client: lockc.Client, raw: Connection) -> None:
    with client.lock(b"\xff\x00\n") as held:
        assert held.key == b"\xff\x00\n"
        assert raw.call("EXISTS", b"\xff\x00\n") == 1


def test_key_prefix_is_put_before_the_key(server: RedisServer, key: str, raw: Connection) -> None:
    with lockc.Client(server.url, key_prefix="app:") as client, client.lock(key) as held:
        assert held.key == key.encode()
        assert raw.call("EXISTS", f"app:{key}") == 1


def test_one_try_on_a_held_key_answers_at_once(client: lockc.Client, key: str) -> None:
    with client.lock(key):
        before = time.monotonic()
        assert not client.lock(key).acquire(blocking=False)
        assert not client.lock(key, timeout=0).acquire()
        assert not client.lock(key).acquire(timeout=0)
        assert time.monotonic() - before < 1


def test_wait_ends_with_its_timeout(client: lockc.Client, key: str) -> None:
    with client.lock(key):
        before = time.monotonic()
        assert not client.lock(key).acquire(timeout=0.2)
        assert 0.2 <= time.monotonic() - before < 2


def test_with_raises_busy_or_timeout_and_never_runs_its_body(
    client: lockc.Client, key: str
) -> None:
    ran = []
    with client.lock(key):
        with pytest.raises(lockc.Busy) as busy, client.lock(key, timeout=0):
            ran.append(0)
        with pytest.raises(lockc.Timeout) as late, client.lock(key, timeout=0.05):
            ran.append(1)
    assert ran == []
    assert (busy.value.status, busy.value.key) == (lockc.Status.BUSY, key.encode())
    assert (late.value.status, late.value.key) == (lockc.Status.TIMEOUT, key.encode())
    assert isinstance(late.value, TimeoutError)
    assert key in str(busy.value)


def test_waiter_gets_the_lock_when_it_is_released(client: lockc.Client, key: str) -> None:
    first = client.lock(key)
    first.acquire()
    got = threading.Event()

    def wait() -> None:
        with client.lock(key):
            got.set()

    waiter = threading.Thread(target=wait)
    waiter.start()
    assert not got.wait(0.05)
    first.release()
    assert got.wait(5)
    waiter.join()


@pytest.mark.parametrize("options", [{}, {"fair": True}, {"spin": True}], ids=str)
def test_threads_exclude_one_another(
    client: lockc.Client, key: str, options: dict[str, bool]
) -> None:
    total = 0

    def add() -> None:
        nonlocal total
        lock = client.lock(key, **options)
        for _ in range(20):
            with lock:
                seen = total
                time.sleep(0.0005)  # lets the others run between reading and writing
                total = seen + 1

    threads = [threading.Thread(target=add) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total == 120


def test_other_threads_run_while_one_waits(client: lockc.Client, key: str) -> None:
    ticks: list[float] = []
    stop = threading.Event()

    def tick() -> None:
        while not stop.wait(0.01):
            ticks.append(time.monotonic())

    ticker = threading.Thread(target=tick)
    ticker.start()
    with client.lock(key):
        before = time.monotonic()
        assert not client.lock(key).acquire(timeout=0.5)
    stop.set()
    ticker.join()
    assert len([at for at in ticks if before < at < before + 0.4]) >= 3


def test_release_answers_whether_it_was_still_ours(
    client: lockc.Client, key: str, raw: Connection
) -> None:
    lock = client.lock(key)
    assert lock.acquire()
    assert lock.release() is True
    assert lock.acquire()
    raw.call("SET", key, "another owner")
    assert lock.release() is False
    assert raw.call("GET", key) == b"another owner"


def test_release_of_nothing_is_not_held(client: lockc.Client, key: str) -> None:
    lock = client.lock(key)
    with pytest.raises(lockc.NotHeld) as never:
        lock.release()
    lock.acquire()
    lock.release()
    with pytest.raises(lockc.NotHeld):
        lock.release()
    assert never.value.key == key.encode()


def test_body_may_release_early(client: lockc.Client, key: str) -> None:
    with client.lock(key) as held:
        assert held.release() is True
        with client.lock(key, timeout=0):
            pass
        with pytest.raises(lockc.NotHeld):
            held.release()


def test_lock_object_holds_one_grant_at_a_time(client: lockc.Client, key: str) -> None:
    lock = client.lock(key, timeout=0)
    with lock as held:
        assert lock.held is not None
        assert lock.held.token == held.token
        with pytest.raises(lockc.Invalid, match="in use"):
            lock.acquire()
    assert lock.held is None
    with lock as again:
        assert again.token > held.token


def test_lock_object_shared_by_threads_refuses_the_second(
    client: lockc.Client, quick_client: lockc.Client, key: str
) -> None:
    with client.lock(key):
        shared = quick_client.lock(key)
        waiter = threading.Thread(target=shared.acquire, kwargs={"timeout": 5})
        waiter.start()
        until(lambda: client.inspect(key)["queue"])
        with pytest.raises(lockc.Invalid, match="in use"):
            shared.acquire()
    waiter.join()
    assert shared.release() is True


def test_same_owner_enters_again(client: lockc.Client, key: str) -> None:
    with client.lock(key, owner=7, timeout=0) as outer:
        with client.lock(key, owner=7, timeout=0) as inner:
            assert inner.token == outer.token
        assert not client.lock(key, owner=8).acquire(blocking=False)
        assert outer.remaining > 0
    with client.lock(key, timeout=0):
        pass


def test_spinning_gives_up_after_max_tries(client: lockc.Client, key: str) -> None:
    with client.lock(key):
        assert not client.lock(key, spin=True, max_tries=3).acquire()


def test_dropped_lock_is_given_back_with_a_warning(client: lockc.Client, key: str) -> None:
    lock = client.lock(key)
    lock.acquire()
    with pytest.warns(ResourceWarning, match=f"lock b'{key}' was dropped while it was held"):
        del lock
    with client.lock(key, timeout=5):
        pass


def test_closed_client_gives_back_and_refuses(
    client: lockc.Client, server: RedisServer, key: str
) -> None:
    other = lockc.Client(server.url)
    lock = other.lock(key)
    lock.acquire()
    other.close()
    other.close()
    with client.lock(key, timeout=0):
        pass
    with pytest.raises(lockc.Closed):
        other.lock(key).acquire()
    with pytest.raises(lockc.Closed):
        other.inspect(key)
    assert repr(other) == "<lockc.client.Client closed>"


def test_close_ends_waits(server: RedisServer, client: lockc.Client, key: str) -> None:
    other = lockc.Client(server.url)
    raised: list[BaseException] = []

    def wait() -> None:
        try:
            other.lock(key).acquire()
        except lockc.Closed as error:
            raised.append(error)

    with client.lock(key):
        waiter = threading.Thread(target=wait)
        waiter.start()
        until(lambda: client.inspect(key)["queue"])
        other.close()
        waiter.join(5)
    assert len(raised) == 1


def test_inspect_tells_a_record_from_a_foreign_holder(client: lockc.Client, key: str) -> None:
    client.write(key, b"value", ttl=60)
    found = client.inspect(key)
    assert (found["state"], found["type"]) == ("record", "hash")
    assert 0 < found["pttl_ms"] <= 60_000


def test_inspect_tells_who_holds_a_key(client: lockc.Client, key: str) -> None:
    assert client.inspect(key)["state"] == "free"
    with client.lock(key) as held:
        found = client.inspect(key)
        assert (found["state"], found["owner"]) == ("held", held.owner)
