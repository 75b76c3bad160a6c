"""The asyncio face: waiting without threads, cancellation, loss, several loops."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import time

import lockc
import pytest
from lockc.aio import Client, run_until
from redis_server import RedisServer
from resp import Connection


async def queued(client: Client, key: str, waiters: int = 1) -> None:
    """Waits until so many stand in the server's queue."""
    while len((await client.inspect(key))["queue"]) < waiters:
        await asyncio.sleep(0.005)


async def test_async_with_holds_the_key_inside_and_not_after(
    aio_client: Client, key: str, raw: Connection
) -> None:
    async with aio_client.lock(key) as held:
        assert raw.call("GET", key) == held.owner.encode()
        assert held.key == key.encode()
        assert held.token > 0
        assert 0 < held.remaining <= 0.6
    assert raw.call("EXISTS", key) == 0
    assert held.remaining == 0


async def test_200_tasks_share_one_key_without_threads(aio_client: Client, key: str) -> None:
    tokens = []
    inside = 0

    async def work() -> None:
        nonlocal inside
        async with aio_client.lock(key, timeout=15) as held:
            inside += 1
            assert inside == 1
            await asyncio.sleep(0)
            tokens.append(held.token)
            inside -= 1

    tasks = [asyncio.create_task(work()) for _ in range(200)]
    await asyncio.sleep(0)
    assert threading.active_count() == 1
    await asyncio.gather(*tasks)
    assert threading.active_count() == 1
    assert len(set(tokens)) == 200


async def test_loop_goes_on_while_a_task_waits(aio_client: Client, key: str) -> None:
    async with aio_client.lock(key):
        waiter = asyncio.create_task(aio_client.lock(key).acquire(timeout=0.3))
        turns = 0
        while not waiter.done():
            await asyncio.sleep(0.001)
            turns += 1
        assert waiter.result() is False
        assert turns > 20


async def test_busy_and_timeout_are_told_and_the_body_never_runs(
    aio_client: Client, key: str
) -> None:
    ran = []
    async with aio_client.lock(key):
        with pytest.raises(lockc.Busy) as busy:
            async with aio_client.lock(key, timeout=0):
                ran.append(0)
        with pytest.raises(lockc.Timeout):
            async with aio_client.lock(key, timeout=0.05):
                ran.append(1)
        assert await aio_client.lock(key).acquire(blocking=False) is False
    assert ran == []
    assert busy.value.key == key.encode()


async def test_cancelled_waiter_leaves_nothing(
    aio_client: Client, client: lockc.Client, key: str, raw: Connection
) -> None:
    with client.lock(key):
        waiter = asyncio.create_task(aio_client.lock(key).acquire())
        await queued(aio_client, key)
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter
        while (await aio_client.inspect(key))["queue"]:
            await asyncio.sleep(0.005)
    assert raw.call("EXISTS", key) == 0


async def test_tasks_cancelled_at_any_moment_leave_nothing(aio_client: Client, key: str) -> None:
    async def work() -> None:
        async with aio_client.lock(key):
            await asyncio.sleep(0)

    for turns in range(60):
        tasks = [asyncio.create_task(work()) for _ in range(3)]
        for _ in range(turns % 12):
            await asyncio.sleep(0.0002)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    async with aio_client.lock(key, timeout=5):
        pass


async def test_task_cancelled_between_its_grant_and_its_next_step_leaves_nothing(
    aio_client: Client, key: str
) -> None:
    waiter = asyncio.create_task(aio_client.lock(key).acquire())
    await asyncio.sleep(0)
    time.sleep(0.1)  # the loop stands still while the grant comes
    await asyncio.sleep(0)
    await asyncio.sleep(0)  # now it was taken in, and the waiter's step is next
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    async with aio_client.lock(key, timeout=5):
        pass


async def test_wait_for_gives_up_and_the_lock_object_stays_usable(
    aio_client: Client, key: str
) -> None:
    lock = aio_client.lock(key)
    async with aio_client.lock(key):
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(lock.acquire(), 0.05)
    assert await lock.acquire(timeout=5)
    assert await lock.release() is True


async def test_release_of_a_cancelled_task_goes_on(aio_client: Client, key: str) -> None:
    lock = aio_client.lock(key)
    await lock.acquire()
    release = asyncio.create_task(lock.release())
    await asyncio.sleep(0)
    release.cancel()
    await asyncio.gather(release, return_exceptions=True)
    async with aio_client.lock(key, timeout=5):
        pass


async def test_release_answers_whether_it_was_still_ours(
    aio_client: Client, key: str, raw: Connection
) -> None:
    lock = aio_client.lock(key)
    with pytest.raises(lockc.NotHeld):
        await lock.release()
    await lock.acquire()
    raw.call("SET", key, "another owner")
    assert await lock.release() is False
    with pytest.raises(lockc.NotHeld):
        await lock.release()


async def test_lock_object_holds_one_grant_at_a_time(aio_client: Client, key: str) -> None:
    lock = aio_client.lock(key)
    async with lock as held:
        assert lock.held is held
        with pytest.raises(lockc.Invalid, match="in use"):
            await lock.acquire()
        waiting = aio_client.lock(key)
        waiter = asyncio.create_task(waiting.acquire(timeout=5))
        await asyncio.sleep(0)
        with pytest.raises(lockc.Invalid, match="in use"):
            await waiting.acquire()
    assert lock.held is None
    assert await waiter
    await waiting.release()


async def test_extend_makes_a_fixed_lease_last(aio_client: Client, key: str) -> None:
    async with aio_client.lock(key, ttl=0.5) as held:
        await held.extend(20)
        assert held.remaining > 15
        await held.release()
        with pytest.raises(lockc.NotHeld):
            await held.extend(1)


async def test_lost_is_awaited_by_several_tasks(
    aio_client: Client, key: str, raw: Connection
) -> None:
    async def watch(event: lockc.aio.LostEvent) -> bool:
        return await event

    async with aio_client.lock(key, permissive=True) as held:
        assert await held.lost.wait(0.01) is False
        watchers = [asyncio.create_task(watch(held.lost)) for _ in range(3)]
        await asyncio.sleep(0)
        raw.call("DEL", key)
        assert await asyncio.gather(*watchers) == [True, True, True]
        assert held.lost.reason == "taken"
        assert await held.lost is True


async def test_expiry_of_a_fixed_lease_is_told(aio_client: Client, key: str) -> None:
    async with aio_client.lock(key, ttl=0.1, permissive=True) as held:
        assert await held.lost.wait(5)
        assert held.lost.reason == "expired"


async def test_watcher_of_a_released_lock_is_told_it_was_not_lost(
    aio_client: Client, key: str
) -> None:
    async with aio_client.lock(key) as held:
        watcher = asyncio.create_task(held.lost.wait())
        await asyncio.sleep(0)
    assert await watcher is False


async def test_leaving_raises_lost_but_the_body_wins(
    aio_client: Client, key: str, raw: Connection
) -> None:
    with pytest.raises(lockc.Lost):
        async with aio_client.lock(key):
            raw.call("DEL", key)

    def lose_and_fail() -> None:
        raw.call("DEL", key)
        raise KeyError("body")

    with pytest.raises(KeyError) as body:
        async with aio_client.lock(key):
            lose_and_fail()
    assert isinstance(body.value.__context__, lockc.Lost)


async def test_run_until_cancels_the_work_of_a_lost_lock(
    aio_client: Client, key: str, raw: Connection
) -> None:
    cancelled = asyncio.Event()

    async def work() -> None:
        raw.call("DEL", key)
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    with pytest.raises(lockc.Lost):
        async with aio_client.lock(key) as held:
            await run_until(work(), held.lost)
    assert cancelled.is_set()


async def test_run_until_returns_or_raises_what_the_work_does(aio_client: Client, key: str) -> None:
    async def fail() -> None:
        raise KeyError("work")

    async with aio_client.lock(key) as held:
        assert await run_until(asyncio.sleep(0, "done"), held.lost) == "done"
        with pytest.raises(KeyError):
            await run_until(fail(), held.lost)
        outer = asyncio.create_task(run_until(asyncio.sleep(60), held.lost))
        await asyncio.sleep(0)
        outer.cancel()
        with pytest.raises(asyncio.CancelledError):
            await outer


async def test_close_ends_waits(server: RedisServer, aio_client: Client, key: str) -> None:
    async with aio_client.lock(key):
        async with Client(server.url) as other:
            waiter = asyncio.create_task(other.lock(key).acquire())
            await queued(aio_client, key)
        with pytest.raises(lockc.Closed):
            await waiter
        with pytest.raises(lockc.Closed):
            await other.lock(key).acquire()


def test_one_client_serves_loops_one_after_another(aio_client: Client, key: str) -> None:
    async def turn() -> int:
        async with aio_client.lock(key) as held:
            return held.token

    tokens = [asyncio.run(turn()) for _ in range(3)]
    assert tokens == sorted(set(tokens))


def test_one_client_serves_loops_of_several_threads(aio_client: Client, key: str) -> None:
    total = 0

    async def add() -> None:
        nonlocal total
        for _ in range(10):
            async with aio_client.lock(key):
                seen = total
                await asyncio.sleep(0.0005)
                total = seen + 1

    threads = [threading.Thread(target=asyncio.run, args=(add(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total == 40


async def test_lock_of_another_loop_is_told_and_stays(aio_client: Client, key: str) -> None:
    lock = aio_client.lock(key)
    await lock.acquire()

    async def elsewhere() -> None:
        assert lock.held is not None
        for ask in (lock.release, lambda: lock.held.extend(1), lock.held.lost.wait):
            with pytest.raises(lockc.Invalid, match="event loop"):
                await asyncio.wait_for(ask(), 5)

    await asyncio.to_thread(asyncio.run, elsewhere())
    assert await lock.release()


def test_loop_that_ends_while_a_task_waits_leaves_nothing(
    aio_client: Client, client: lockc.Client, key: str
) -> None:
    async def leave() -> None:
        asyncio.create_task(aio_client.lock(key).acquire())  # noqa: RUF006 - to be abandoned
        await queued(aio_client, key)

    with client.lock(key):
        asyncio.run(leave())
    with client.lock(key, timeout=5):
        pass


async def test_unreachable_server_is_told() -> None:
    async with Client("redis://127.0.0.1:1") as client:
        with pytest.raises(lockc.Unreachable):
            await client.lock("key", timeout=0).acquire()
        with pytest.raises(lockc.Unreachable):
            await client.connect(timeout=0.2)


async def test_a_client_dropped_without_close_leaves_the_loop(server: RedisServer) -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    async def use_once() -> None:
        client = Client(server.url)
        async with client.lock("dropped"):
            pass

    await use_once()
    before = descriptors()
    for _ in range(5):
        await use_once()
        gc.collect()
    while descriptors() > before:  # the loop takes the queue out in its own time
        await asyncio.sleep(0.01)
