"""Our lock together with redis-py itself: its clients, its exceptions, its own locks."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import lockc
import lockc.compat.redis_lock_asyncio
import pytest
from lockc.compat import _exceptions, errors
from lockc.compat.redis_lock import Lock
from redis_server import RedisServer

redis = pytest.importorskip("redis")
pytest.importorskip("redis.asyncio")
pytest.importorskip("redis.sentinel")


@pytest.mark.parametrize("name", errors.__all__)
def test_exceptions_are_those_of_redis_py_with_the_same_bases(name: str) -> None:
    theirs = getattr(redis.exceptions, name)
    assert getattr(errors, name) is theirs
    bases = {base.__name__ for base in getattr(_exceptions, name).__mro__}
    assert bases <= {base.__name__ for base in theirs.__mro__}


@pytest.mark.parametrize("unix", [False, True])
def test_redis_client_makes_our_locks_by_lock_class(
    server: RedisServer, key: str, unix: bool
) -> None:
    where = {"unix_socket_path": server.socket_path} if unix else {"port": server.port}
    with redis.Redis(db=1, **where) as client:
        with client.lock(key, timeout=10, lock_class=Lock) as lock:
            assert isinstance(lock, Lock)
            assert client.get(key) == lock.local.token
            assert client.lock(key, blocking=False).acquire() is False
        assert client.exists(key) == 0


def test_tls_connections_are_refused() -> None:
    with (
        redis.Redis.from_url("rediss://localhost") as client,
        pytest.raises(lockc.Unsupported, match="TLS"),
    ):
        Lock(client, "key")


def test_clients_of_sentinel_are_refused() -> None:
    sentinel = redis.sentinel.Sentinel([("localhost", 1)])
    with pytest.raises(lockc.Unsupported, match="Sentinel"):
        Lock(sentinel.master_for("service"), "key")


def test_client_of_the_other_kind_is_refused() -> None:
    with pytest.raises(lockc.Invalid, match=r"package redis$"):
        Lock(redis.asyncio.Redis(), "key")
    with redis.Redis() as client, pytest.raises(lockc.Invalid, match=r"redis\.asyncio$"):
        lockc.compat.redis_lock_asyncio.Lock(client, "key")


def test_our_locks_and_those_of_redis_py_exclude_one_another(server: RedisServer, key: str) -> None:
    inside: list[str] = []
    grants: list[str] = []

    def work(kind: type[Any]) -> None:
        lock = kind(client, key, timeout=20, blocking_timeout=15, sleep=0.002)
        for _ in range(15):
            with lock:
                inside.append(kind.__module__)
                assert len(inside) == 1
                grants.append(kind.__module__)
                inside.clear()

    with redis.Redis(port=server.port) as client:
        kinds = [redis.lock.Lock, Lock] * 2
        workers = [threading.Thread(target=work, args=[kind]) for kind in kinds]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert [grants.count(kind.__module__) for kind in kinds[:2]] == [30, 30]


@pytest.mark.parametrize("decodes", [False, True], ids=["bytes", "text"])
def test_second_lock_of_a_key_is_refused_and_the_first_released_though_replies_are_decoded(
    server: RedisServer, key: str, decodes: bool
) -> None:
    with redis.Redis(port=server.port, decode_responses=decodes) as client:
        first, second = Lock(client, key, timeout=10), Lock(client, key, timeout=10)
        assert first.acquire(blocking=False)
        assert second.acquire(blocking=False) is False
        assert first.owned()
        assert not second.owned()
        value = client.get(key)
        assert (value.encode() if decodes else value) == first.local.token
        first.extend(10)
        first.release()
        assert client.exists(key) == 0
        assert second.acquire(blocking=False)
        second.release()


EXAMPLES = re.findall(
    r"^```python\n(.*?)^```$",
    (Path(__file__).parents[2] / "docs/python-compat.md").read_text(),
    re.DOTALL | re.MULTILINE,
)


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_examples_of_the_documentation_run(
    example: str, server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKC_URL", server.url)
    exec(compile(example, "docs/python-compat.md", "exec"), {"__name__": "__main__"})
