"""lockc's asyncio lock in redis-py's shape; redis-py's own, if installed, must pass too."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
from collections.abc import AsyncIterator, Callable
from typing import Any

import lockc
import pytest
from lockc.compat.redis_lock_asyncio import Lock, LockError, LockNotOwnedError
from redis_server import RedisServer
from resp import Connection

needs_redis = pytest.mark.skipif(
    importlib.util.find_spec("redis") is None, reason="redis-py is not installed"
)
Make = Callable[..., Any]
Opened = Callable[[], contextlib.AbstractAsyncContextManager[Make]]


@pytest.fixture(
    params=[
        "lockc",
        pytest.param("pool", marks=needs_redis),
        pytest.param("redis-py", marks=needs_redis),
    ]
)
def opened(request: pytest.FixtureRequest, server: RedisServer, key: str) -> Opened:
    """Opens a client in the test's loop and gives what makes locks of the test's key."""

    @contextlib.asynccontextmanager
    async def open_client() -> AsyncIterator[Make]:
        if request.param == "lockc":
            async with lockc.aio.Client(server.url) as client:
                yield lambda **options: Lock(client, key, **options)
            return
        kind = Lock
        if request.param == "redis-py":
            kind = importlib.import_module("redis.asyncio.lock").Lock
        async with importlib.import_module("redis.asyncio").Redis(port=server.port) as redis:
            yield lambda **options: kind(redis, key, **{"sleep": 0.01, **options})

    return open_client


async def test_with_holds_the_key_and_its_value_is_the_local_token(
    opened: Opened, key: str, raw: Connection
) -> None:
    async with opened() as make:
        lock = make(timeout=10)
        async with lock as entered:
            assert entered is lock
            assert raw.call("GET", key) == lock.local.token
            assert (await lock.locked(), await lock.owned()) == (True, True)
            assert (await make().locked(), await make().owned()) == (True, False)
        assert lock.local.token is None
        assert (await lock.locked(), await lock.owned()) == (False, False)


async def test_held_lock_is_granted_to_no_other_object(opened: Opened) -> None:
    async with opened() as make, make(timeout=10):
        assert await make().acquire(blocking=False) is False
        assert await make(blocking_timeout=0.05).acquire() is False
        with pytest.raises(LockError):
            async with make(blocking_timeout=0.05):
                pytest.fail("the body ran")


async def test_tasks_exclude_one_another(opened: Opened) -> None:
    inside = 0
    entered = 0

    async def work(make: Make) -> None:
        nonlocal inside, entered
        lock = make(timeout=20, blocking_timeout=15)
        for _ in range(5):
            async with lock:
                inside += 1
                await asyncio.sleep(0)
                assert inside == 1
                inside -= 1
                entered += 1

    async with opened() as make:
        await asyncio.gather(*(work(make) for _ in range(4)))
    assert entered == 20


async def test_extend_and_reacquire_make_the_lease_longer(
    opened: Opened, key: str, raw: Connection
) -> None:
    async with opened() as make, make(timeout=10) as lock:
        assert await lock.extend(5) is True
        assert 13_000 < raw.call("PTTL", key) <= 15_500
        assert await lock.extend(20, replace_ttl=True) is True
        assert 19_000 < raw.call("PTTL", key) <= 20_000
        raw.call("PEXPIRE", key, 5_000)
        assert await lock.reacquire() is True
        assert 9_000 < raw.call("PTTL", key) <= 10_000


async def test_lock_that_is_not_held_cannot_be_released_or_extended(opened: Opened) -> None:
    async with opened() as make:
        lock = make(timeout=10)
        for call in (lock.release, lambda: lock.extend(1), lock.reacquire):
            with pytest.raises(LockError) as told:
                await call()
            assert not isinstance(told.value, LockNotOwnedError)


async def test_lost_lock_cannot_be_released_or_extended(
    opened: Opened, key: str, raw: Connection
) -> None:
    async with opened() as make:
        lock = make(timeout=10)
        await lock.acquire()
        raw.call("SET", key, "somebody")
        for call in (lambda: lock.extend(1), lock.reacquire, lock.release):
            with pytest.raises(LockNotOwnedError):
                await call()
        assert raw.call("GET", key) == b"somebody"
        assert lock.local.token is None


async def test_leaving_with_after_a_loss_only_warns_if_so_told(
    opened: Opened, key: str, raw: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened() as make:
        async with make(timeout=10, raise_on_release_error=False):
            raw.call("DEL", key)
        assert "WARNING" in [record.levelname for record in caplog.records]
        with pytest.raises(LockNotOwnedError):
            async with make(timeout=10):
                raw.call("DEL", key)


async def test_cancelled_wait_leaves_nothing_held(opened: Opened, key: str) -> None:
    async with opened() as make:
        async with make(timeout=10):
            waiter = asyncio.ensure_future(make(timeout=10).acquire())
            await asyncio.sleep(0.05)
            waiter.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiter
        assert not await make().locked()


async def test_lock_of_a_url_and_an_own_value(server: RedisServer, key: str) -> None:
    async with Lock(server.url, key) as lock:
        assert await lock.owned()
        assert lock.held is not None
        assert lock.held.token > 0
        with pytest.raises(lockc.Unsupported):
            await lock.acquire(token="mine")  # type: ignore[arg-type]
