"""A cancel that races with the grant: CANCELLED or held, and nothing is left; C and asyncio."""

from __future__ import annotations

import asyncio
import random
import time

import lockc
from lockc_abi import Client, OpenClient, Queue
from redis_server import RedisServer
from resp import Connection
from scale import scaled
from timing import within
from waits import take
from watching import wait_queued

ROUNDS = scaled(60, 2000)
LATEST = scaled(8, 50)  # ms around the release


def leaves_nothing(raw: Connection) -> bool:
    """No key is held and nobody queued: only fences are left."""
    return within(1.5, lambda: all(b":fence:" in key for key in raw.call("KEYS", "*")))


def test_cancel_around_the_release_leaves_nothing(
    holder: Client, server: RedisServer, raw: Connection, open_client: OpenClient
) -> None:
    client = open_client(server.url, reply_timeout_ms=5000)
    ends = {"OK": 0, "CANCELLED": 0}
    token = 0
    with Queue(client) as queue:
        for tag in range(ROUNDS):
            held = holder.acquire("key", wait_ms=2000)
            queue.acquire(tag, "key", wait_ms=-1, kind=tag % 2)
            if tag % 3:
                wait_queued(raw, 1)
            steps = [
                (random.uniform(0, LATEST / 1000), held.release),
                (LATEST / 2000, lambda: queue.cancel(tag)),  # noqa: B023 - called here
            ]
            begin = time.monotonic()
            for at, step in sorted(steps, key=lambda one: one[0]):
                time.sleep(max(0, begin + at - time.monotonic()))
                step()
            completion = take(queue, 2.0)
            assert completion.tag == tag
            ends[completion.status] += 1
            if completion.lock is not None:
                assert completion.lock.token > max(token, held.token)
                token = completion.lock.token
                completion.lock.release()
            assert queue.poll(0) is None
    assert leaves_nothing(raw)
    assert min(ends.values()) > 0, ends


def test_every_cancelled_waiter_of_a_crowd_leaves_nothing(
    holder: Client, server: RedisServer, raw: Connection, open_client: OpenClient
) -> None:
    client = open_client(server.url, reply_timeout_ms=5000)
    with Queue(client) as queue:
        for _ in range(scaled(5, 100)):
            held = holder.acquire("key", wait_ms=2000)
            for tag in range(40):
                queue.acquire(tag, "key", wait_ms=-1, ttl_ms=(0, 20000)[tag % 2])
            held.release()
            for tag in random.sample(range(40), 40):
                queue.cancel(tag)
            for _ in range(40):
                completion = take(queue, 2.0)
                assert completion.status in ("OK", "CANCELLED")
                if completion.lock is not None:
                    completion.lock.release()
    assert leaves_nothing(raw)


async def test_task_cancelled_around_the_release_leaves_nothing(
    holder: Client, server: RedisServer, raw: Connection
) -> None:
    client = lockc.aio.Client(server.url)
    ends = {"held": 0, "cancelled": 0}
    for number in range(ROUNDS):
        # Not in the loop: a grant that came too late is given back there.
        held = await asyncio.to_thread(holder.acquire, "key", wait_ms=2000)
        lock = client.lock("key")
        task = asyncio.create_task(lock.acquire())
        if number % 3:
            while not raw.call("EXISTS", "lockc:{key}:queue:key"):
                await asyncio.sleep(0.001)
        loop = asyncio.get_running_loop()
        loop.call_later(random.uniform(0, LATEST / 1000), held.release)
        loop.call_later(LATEST / 2000, task.cancel)
        try:
            assert await task
            ends["held"] += 1
            await lock.release()
        except asyncio.CancelledError:
            ends["cancelled"] += 1
        while held.remaining_ms > 0:
            await asyncio.sleep(0.001)
    assert await asyncio.to_thread(leaves_nothing, raw)  # not in the loop, as above
    assert min(ends.values()) > 0, ends
    await client.close()
