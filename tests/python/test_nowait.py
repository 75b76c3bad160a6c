"""A release that waits for no answer: over here at once, there soon, and a loss still told."""

from __future__ import annotations

import asyncio
import time

import lockc
import pytest
from conftest import until
from redis_server import RedisServer
from resp import Connection


def taken(raw: Connection, key: str) -> None:
    raw.call("SET", key, "somebody", "PX", "60000")


def test_key_is_free_soon_and_the_object_at_once(
    client: lockc.Client, key: str, raw: Connection
) -> None:
    lock = client.lock(key, timeout=0)
    for _ in range(100):
        assert lock.acquire()
        assert lock.release_nowait() is True
        assert lock.held is None
    until(lambda: raw.call("EXISTS", key) == 0)


def test_second_release_learns_the_end_and_the_third_is_not_held(
    client: lockc.Client, key: str, raw: Connection
) -> None:
    with client.lock(key) as held:
        assert held.release_nowait()
        with pytest.raises(lockc.NotHeld):
            held.release_nowait()
        assert held.release()
        assert raw.call("EXISTS", key) == 0
        with pytest.raises(lockc.NotHeld):
            held.release()


def test_nothing_held_is_not_held(client: lockc.Client, aio_client: lockc.aio.Client) -> None:
    for lock in (client.lock("k"), aio_client.lock("k")):
        with pytest.raises(lockc.NotHeld):
            lock.release_nowait()


def test_loss_is_told_behind_and_nothing_of_another_owner_is_touched(
    client: lockc.Client, key: str, raw: Connection
) -> None:
    with client.lock(key) as held:
        taken(raw, key)
        assert held.release_nowait() is True
        until(held.lost.is_set)
        assert held.lost.reason == "taken"
    assert raw.call("GET", key) == b"somebody"


def test_loss_that_is_known_is_answered(client: lockc.Client, key: str) -> None:
    lock = client.lock(key, ttl=0.05)
    lock.acquire()
    assert lock.held is not None
    assert lock.held.lost.wait(5)
    assert lock.release_nowait() is False


def test_frozen_server_keeps_nobody(own_server: RedisServer) -> None:
    with lockc.Client(own_server.url, reply_timeout=60) as client:
        lock = client.lock("key")
        lock.acquire()
        own_server.suspend()
        try:
            began = time.monotonic()
            assert lock.release_nowait() is True
            assert time.monotonic() - began < 10
        finally:
            own_server.resume()
        with own_server.connect() as raw:
            until(lambda: raw.call("EXISTS", "key") == 0)


async def test_in_asyncio_it_is_a_plain_call(
    aio_client: lockc.aio.Client, key: str, raw: Connection
) -> None:
    lock = aio_client.lock(key, timeout=0)
    for _ in range(100):
        assert await lock.acquire()
        assert lock.release_nowait() is True
        assert lock.held is None
    while raw.call("EXISTS", key):
        await asyncio.sleep(0.005)


async def test_in_asyncio_the_loss_is_told_behind(
    aio_client: lockc.aio.Client, key: str, raw: Connection
) -> None:
    async with aio_client.lock(key) as held:
        watch = asyncio.create_task(held.lost.wait())
        await asyncio.sleep(0)
        taken(raw, key)
        assert held.release_nowait() is True
        await asyncio.wait_for(watch, 10)  # it was released: nothing more may come
        while not held.lost.is_set():
            await asyncio.sleep(0.005)
    assert raw.call("GET", key) == b"somebody"
