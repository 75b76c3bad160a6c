"""lockc's lock in redis-py's shape; where redis-py is installed, its own must pass the same."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from lockc.compat.errors import AuthenticationError, ConnectionError
from lockc.compat.redis_lock import Lock, LockError, LockNotOwnedError
from redis_server import RedisServer
from resp import Connection

needs_redis = pytest.mark.skipif(
    importlib.util.find_spec("redis") is None, reason="redis-py is not installed"
)
MakeOn = Callable[..., Any]
Make = Callable[..., Any]


@pytest.fixture(
    params=[
        "url",
        pytest.param("pool", marks=needs_redis),
        pytest.param("redis-py", marks=needs_redis),
    ]
)
def make_on(request: pytest.FixtureRequest, key: str) -> Iterator[MakeOn]:
    """Makes locks on a server: ours by a URL and by a redis-py client, and redis-py's own."""
    if request.param == "url":
        yield lambda server, **options: Lock(server.url, key, **options)
        return
    kind = Lock if request.param == "pool" else importlib.import_module("redis.lock").Lock
    clients: dict[int, Any] = {}

    def make(server: RedisServer, **options: object) -> object:
        if server.port not in clients:
            clients[server.port] = importlib.import_module("redis").Redis(port=server.port)
        return kind(clients[server.port], key, **{"sleep": 0.01, **options})

    yield make
    for client in clients.values():
        client.close()


@pytest.fixture
def make(make_on: MakeOn, server: RedisServer) -> Make:
    return lambda **options: make_on(server, **options)


def test_with_holds_the_key_and_its_value_is_the_local_token(
    make: Make, key: str, raw: Connection
) -> None:
    lock = make(timeout=10)
    assert lock.local.token is None
    with lock as entered:
        assert entered is lock
        assert raw.call("GET", key) == lock.local.token
        assert 9_000 < raw.call("PTTL", key) <= 10_000
    assert lock.local.token is None
    assert raw.call("EXISTS", key) == 0


def test_attributes_are_those_of_the_constructor(make: Make, key: str) -> None:
    lock = make(timeout=3, blocking=False, blocking_timeout=2, thread_local=False, sleep=0.5)
    told = (lock.name, lock.timeout, lock.sleep, lock.blocking, lock.blocking_timeout)
    assert told == (key, 3, 0.5, False, 2)
    assert (lock.thread_local, lock.raise_on_release_error) == (False, True)


def test_held_lock_is_granted_to_no_other_object(make: Make) -> None:
    with make(timeout=10):
        assert make().acquire(blocking=False) is False
        assert make(blocking=False).acquire() is False
        assert make().acquire(blocking_timeout=0) is False
        assert make().acquire(blocking_timeout=-1) is False
        before = time.monotonic()
        assert make(blocking_timeout=0.2).acquire() is False
        assert 0.1 < time.monotonic() - before < 5


def test_arguments_of_acquire_override_those_of_the_constructor(make: Make) -> None:
    with make(timeout=10):
        assert make(blocking=False).acquire(blocking=True, blocking_timeout=0.01) is False
        assert make(blocking_timeout=60).acquire(sleep=0.01, blocking_timeout=0.02) is False


def test_with_raises_when_the_lock_is_not_granted_in_time(make: Make) -> None:
    with make(timeout=10), pytest.raises(LockError), make(blocking_timeout=0.05):
        pytest.fail("the body ran")


def test_waiter_gets_the_lock_after_its_release(make: Make) -> None:
    order: list[str] = []

    def wait() -> None:
        with make(timeout=10, blocking_timeout=15):
            order.append("second")

    with make(timeout=10):
        waiter = threading.Thread(target=wait)
        waiter.start()
        waiter.join(0.05)
        order.append("first")
    waiter.join()
    assert order == ["first", "second"]


def test_lock_can_be_acquired_again_after_its_release(make: Make) -> None:
    lock = make(timeout=10)
    for _ in range(3):
        with lock:
            assert lock.owned()


def test_locked_and_owned_tell_who_holds(make: Make, key: str, raw: Connection) -> None:
    lock, other = make(timeout=10), make(timeout=10)
    assert (lock.locked(), lock.owned()) == (False, False)
    with lock:
        assert (lock.locked(), lock.owned()) == (True, True)
        assert (other.locked(), other.owned()) == (True, False)
        raw.call("SET", key, "somebody")
        assert (lock.locked(), lock.owned()) == (True, False)
        raw.call("SET", key, lock.local.token)
    assert (lock.locked(), lock.owned()) == (False, False)


def test_lock_that_is_not_held_cannot_be_released_or_extended(make: Make, key: str) -> None:
    lock = make(timeout=10)
    for call in (lock.release, lambda: lock.extend(1), lock.reacquire):
        with pytest.raises(LockError) as told:
            call()
        assert not isinstance(told.value, LockNotOwnedError)
        assert told.value.lock_name == key
    with lock:
        pass
    with pytest.raises(LockError):
        lock.release()


@pytest.mark.parametrize("taken_by", [None, "somebody"])
def test_lost_lock_cannot_be_released_or_extended(
    make: Make, key: str, raw: Connection, taken_by: str | None
) -> None:
    lock = make(timeout=10)
    lock.acquire()
    raw.call("DEL", key)
    if taken_by is not None:
        raw.call("SET", key, taken_by)
    for call in (lambda: lock.extend(1), lock.reacquire, lock.release):
        with pytest.raises(LockNotOwnedError):
            call()
    assert raw.call("GET", key) == (None if taken_by is None else taken_by.encode())
    with pytest.raises(LockError) as told:
        lock.release()
    assert not isinstance(told.value, LockNotOwnedError)


def test_lease_with_a_timeout_ends_and_is_not_renewed(make: Make) -> None:
    lock = make(timeout=0.1)
    lock.acquire()
    with make(timeout=10, blocking_timeout=15) as next_one:
        assert not lock.owned()
        with pytest.raises(LockNotOwnedError):
            lock.release()
        assert next_one.owned()


def test_extend_adds_to_the_lease(make: Make, key: str, raw: Connection) -> None:
    with make(timeout=10) as lock:
        for _ in range(10):
            assert lock.extend(5) is True
        assert 58_000 < raw.call("PTTL", key) <= 60_500


def test_extend_can_replace_the_lease(make: Make, key: str, raw: Connection) -> None:
    with make(timeout=10) as lock:
        assert lock.extend(20.5, replace_ttl=True) is True
        assert 19_000 < raw.call("PTTL", key) <= 20_500


def test_reacquire_makes_the_lease_last_for_the_timeout(
    make: Make, key: str, raw: Connection
) -> None:
    with make(timeout=10) as lock:
        raw.call("PEXPIRE", key, 5_000)
        assert lock.reacquire() is True
        assert 9_000 < raw.call("PTTL", key) <= 10_000


def test_lock_without_a_timeout_cannot_be_extended(make: Make) -> None:
    with make() as lock:
        for call in (lambda: lock.extend(1), lock.reacquire):
            with pytest.raises(LockError):
                call()


def test_leaving_with_after_a_loss_raises(make: Make, key: str, raw: Connection) -> None:
    with pytest.raises(LockNotOwnedError), make(timeout=10):
        raw.call("DEL", key)
    with pytest.raises(LockError), make(timeout=10) as lock:
        lock.release()


def test_leaving_with_after_a_loss_only_warns_if_so_told(
    make: Make, key: str, raw: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    with make(timeout=10, raise_on_release_error=False):
        raw.call("DEL", key)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_without_thread_local_another_thread_can_release(make: Make) -> None:
    lock = make(timeout=10, thread_local=False)
    lock.acquire()
    worker = threading.Thread(target=lock.release)
    worker.start()
    worker.join()
    assert not lock.locked()


def test_one_object_serves_threads_that_exclude_one_another(make: Make) -> None:
    lock = make(timeout=20, blocking_timeout=15)
    tokens: list[bytes] = []
    inside = 0

    def work() -> None:
        nonlocal inside
        for _ in range(10):
            with lock:
                inside += 1
                assert inside == 1
                tokens.append(lock.local.token)
                inside -= 1

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(tokens) == 30
    assert None not in tokens


def test_server_that_is_gone_raises_connection_error(
    make_on: MakeOn, own_server: RedisServer
) -> None:
    lock = make_on(own_server, timeout=10)
    own_server.stop()
    with pytest.raises(ConnectionError):
        lock.acquire(blocking=False)


def test_refused_password_raises_authentication_error(
    make_on: MakeOn, own_server: RedisServer
) -> None:
    with own_server.connect() as raw:
        raw.call("CONFIG", "SET", "requirepass", "secret")
    with pytest.raises(AuthenticationError):
        make_on(own_server).acquire(blocking=False)
