"""The server's trouble: each kind an exception of its own, in the time that was asked for."""

from __future__ import annotations

import contextlib
import copy
import pickle
import socket
import threading
import time

import lockc
import pytest
from conftest import until
from lockc import _core
from redis_server import RedisServer
from resp import Connection


def test_unreachable_server_is_told_at_once_without_a_wait() -> None:
    before = time.monotonic()
    with lockc.Client("redis://127.0.0.1:1") as client:
        with pytest.raises(lockc.Unreachable) as error:
            client.lock("key", timeout=0).acquire()
        with pytest.raises(lockc.Unreachable):
            client.connect(timeout=0.2)
    assert isinstance(error.value, ConnectionError)
    assert time.monotonic() - before < 5


def test_unreachable_server_is_told_at_the_end_of_the_wait() -> None:
    ran = []
    before = time.monotonic()
    client = lockc.Client("redis://127.0.0.1:1")
    with pytest.raises(lockc.Unreachable), client.lock("key", timeout=0.3):
        ran.append(True)
    assert 0.3 <= time.monotonic() - before < 5
    assert ran == []


def test_server_that_never_answers_ends_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}"
        before = time.monotonic()
        client = lockc.Client(url, connect_timeout=0.2, reply_timeout=0.2)
        with pytest.raises((lockc.Unreachable, lockc.Uncertain)):
            client.lock("key", timeout=0).acquire()
        client.close()
        assert time.monotonic() - before < 5


@pytest.mark.parametrize("call", ["acquire", "inspect", "extend", "release", "close"])
def test_other_threads_run_while_a_call_waits_for_a_frozen_server(
    own_server: RedisServer, call: str
) -> None:
    ticks, stop = [0], threading.Event()

    def tick() -> None:
        while not stop.wait(0.01):
            ticks[0] += 1

    client = lockc.Client(own_server.url, reply_timeout=0.5)
    lock = client.lock("key")
    lock.acquire()
    held = lock.held
    assert held is not None
    calls = {
        "acquire": lambda: client.lock("other", timeout=0.5).acquire(),
        "inspect": lambda: client.inspect("key"),
        "extend": lambda: held.extend(60),
        "release": lock.release,
        "close": client.close,
    }
    ticker = threading.Thread(target=tick)
    ticker.start()
    own_server.suspend()
    before = ticks[0]
    with contextlib.suppress(lockc.Error):
        calls[call]()
    during = ticks[0] - before
    own_server.resume()
    stop.set()
    ticker.join()
    client.close()
    assert during >= 3


def test_wrong_password_is_denied(own_server: RedisServer) -> None:
    with own_server.connect() as raw:
        raw.call("CONFIG", "SET", "requirepass", "right")
    wrong = lockc.Client(own_server.url, password="wr0ng")
    with pytest.raises(lockc.Denied) as error:
        wrong.lock("key", timeout=5).acquire()
    assert isinstance(error.value, PermissionError)
    assert "wr0ng" not in str(error.value)
    with lockc.Client(own_server.url, password="right") as client, client.lock("key"):
        pass


def test_key_of_another_type_is_told(client: lockc.Client, key: str, raw: Connection) -> None:
    raw.call("LPUSH", key, "x")
    with pytest.raises(lockc.WrongType) as error:
        client.lock(key, timeout=0).acquire()
    assert error.value.key == key.encode()
    assert raw.call("LLEN", key) == 1


def test_full_server_is_told(own_server: RedisServer) -> None:
    with own_server.connect() as raw, lockc.Client(own_server.url) as client:
        raw.call("CONFIG", "SET", "maxmemory", "1")
        with pytest.raises(lockc.ServerOOM):
            client.lock("key", timeout=0).acquire()


def test_read_only_replica_is_told(own_server: RedisServer, server: RedisServer) -> None:
    with own_server.connect() as raw, lockc.Client(own_server.url) as client:
        raw.call("REPLICAOF", "127.0.0.1", server.port)
        with pytest.raises((lockc.ReadOnly, lockc.NotReady)):
            client.lock("key", timeout=0).acquire()


def test_max_waiters_is_a_limit(server: RedisServer, client: lockc.Client, key: str) -> None:
    with client.lock(key), lockc.Client(server.url, max_waiters=1) as other:
        waiter = threading.Thread(target=other.lock(key).acquire, kwargs={"timeout": 1})
        waiter.start()
        until(lambda: client.inspect(key)["queue"])
        with pytest.raises(lockc.Limit):
            other.lock(key, timeout=1).acquire()
        waiter.join()


def test_release_that_gets_no_answer_is_told_but_does_not_hide_the_body(
    own_server: RedisServer,
) -> None:
    def fail() -> None:
        own_server.kill()
        raise KeyError("body")

    with lockc.Client(own_server.url, reply_timeout=0.2) as client:
        with pytest.raises((lockc.Unreachable, lockc.Uncertain)), client.lock("key"):
            own_server.kill()
        own_server.start()
        with pytest.raises(KeyError) as body, client.lock("key", timeout=5):
            fail()
    assert isinstance(body.value.__context__, (lockc.Unreachable, lockc.Uncertain, lockc.Lost))


def all_errors() -> list[type[lockc.Error]]:
    found = [getattr(lockc, name) for name in lockc.__all__]
    return [cls for cls in found if isinstance(cls, type) and issubclass(cls, lockc.Error)]


def test_every_status_has_the_name_of_the_c_library() -> None:
    for status in lockc.Status:
        assert _core.status_name(status) == status.name


def test_every_failure_has_one_class() -> None:
    statuses = [cls.status for cls in all_errors() if cls is not lockc.Error]
    assert sorted(statuses) == sorted(set(lockc.Status) - {lockc.Status.OK, lockc.Status.PENDING})


@pytest.mark.parametrize("cls", all_errors())
def test_errors_can_be_copied_and_pickled(cls: type[lockc.Error]) -> None:
    error = cls("what went wrong", key=b"k")
    for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert type(twin) is cls
        assert (str(twin), twin.key, twin.status) == ("what went wrong", b"k", cls.status)
