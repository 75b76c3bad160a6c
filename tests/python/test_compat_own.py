"""What lockc's lock in redis-py's shape does in its own way."""

from __future__ import annotations

import threading
from collections.abc import Callable

import lockc
import pytest
from conftest import Script, until
from lockc.compat import errors
from lockc.compat.redis_lock import Lock, LockError, LockNotOwnedError
from redis_server import RedisServer
from resp import Connection as Raw


def test_lock_without_a_timeout_is_renewed(quick_client: lockc.Client, key: str, raw: Raw) -> None:
    with Lock(quick_client, key) as lock:
        assert 0 < raw.call("PTTL", key) <= 600
        raw.call("PEXPIRE", key, 300)
        until(lambda: raw.call("PTTL", key) > 300)
        assert lock.owned()


def test_lock_tells_its_fencing_token_and_its_loss(
    quick_client: lockc.Client, key: str, raw: Raw
) -> None:
    lock = Lock(quick_client, key)
    assert lock.held is None
    lock.acquire()
    assert lock.held is not None
    assert lock.held.token > 0
    raw.call("DEL", key)
    assert lock.held.lost.wait(10)
    with pytest.raises(LockNotOwnedError):
        lock.release()


def test_own_value_at_the_key_is_refused(server: RedisServer, key: str, raw: Raw) -> None:
    lock = Lock(server.url, key)
    with pytest.raises(lockc.Unsupported):
        lock.acquire(token="mine")  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        lock.local.token = b"mine"  # type: ignore[misc]
    assert raw.call("EXISTS", key) == 0


def test_other_threads_see_no_token_and_cannot_release(server: RedisServer, key: str) -> None:
    seen: list[object] = []

    def work() -> None:
        seen.extend([lock.local.token, lock.owned()])
        try:
            lock.release()
        except LockError as error:
            seen.append(type(error))

    with Lock(server.url, key) as lock:
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
        assert lock.owned()
    assert seen == [None, False, LockError]


def test_lease_is_never_made_shorter(server: RedisServer, key: str, raw: Raw) -> None:
    with Lock(server.url, key, timeout=10) as lock:
        lock.extend(1, replace_ttl=True)
        assert raw.call("PTTL", key) > 9_000
        with pytest.raises(lockc.Invalid):
            lock.extend(-1)


def test_key_that_is_no_lock_raises_response_error(server: RedisServer, key: str, raw: Raw) -> None:
    raw.call("RPUSH", key, "value")
    with pytest.raises(errors.ResponseError) as told:
        Lock(server.url, key).acquire(blocking=False)
    assert isinstance(told.value.__cause__, lockc.WrongType)


def test_lock_that_is_dropped_while_held_is_given_back(
    server: RedisServer, key: str, raw: Raw
) -> None:
    lock = Lock(server.url, key, timeout=60)
    lock.acquire()
    with pytest.warns(ResourceWarning):
        del lock
    until(lambda: raw.call("EXISTS", key) == 0)


def test_forked_child_does_not_hold_what_its_parent_holds(
    script: Callable[..., Script], key: str, raw: Raw
) -> None:
    forked = script(
        """
        import os, sys, warnings
        from lockc.compat.redis_lock import Lock, LockError
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of threads at fork
        lock = Lock(*sys.argv[1:3], timeout=60)
        lock.acquire()
        if os.fork() == 0:
            print(lock.locked(), lock.owned())
            try:
                lock.release()
            except LockError as error:
                print(type(error).__name__)
            os._exit(0)
        os.wait()
        lock.release()
        print("released")
        """
    )
    assert forked.end().splitlines() == ["True False", "LockNotOwnedError", "released"]


def test_without_redis_py_the_exceptions_are_own_ones(script: Callable[..., Script]) -> None:
    alone = script(
        """
        import sys
        sys.modules["redis"] = None
        from lockc.compat import _exceptions
        from lockc.compat.redis_lock import Lock, LockError
        assert LockError is _exceptions.LockError
        try:
            Lock(*sys.argv[1:3]).release()
        except LockError as error:
            print(error, error.lock_name == sys.argv[2])
        """
    )
    assert alone.end() == "cannot release a lock that is not held True"
