"""A line that goes dead under a holder: told in Python before anybody else can have the key."""

from __future__ import annotations

from collections.abc import Iterator

import lockc
import pytest
from proxy import Proxy
from redis_server import RedisServer
from resp import Connection

TTL = 1.0
ATTEMPTS = 3  # the machine may stop this process for longer than lockc has in hand: 1 % of the ttl


@pytest.fixture
def proxy(server: RedisServer) -> Iterator[Proxy]:
    with Proxy(server.port) as running:
        yield running


def test_dead_line_is_told_before_the_key_can_expire(
    proxy: Proxy, raw: Connection, key: str
) -> None:
    def told_in_time(name: str) -> bool:
        lock = client.lock(name)
        lock.acquire()
        held = lock.held
        assert held is not None
        proxy.drop()
        assert held.lost.wait(3 * TTL)
        in_time = int(raw.call("PTTL", name)) > 0
        assert (held.remaining, held.lost.reason) == (0, "expired")
        assert lock.release() is False
        proxy.heal()
        return in_time

    with lockc.Client(proxy.url, default_ttl=TTL, reply_timeout=0.3) as client:
        assert any(told_in_time(f"{key}:{i}") for i in range(ATTEMPTS))


async def test_dead_line_is_told_to_a_task_before_the_key_can_expire(
    proxy: Proxy, raw: Connection, key: str
) -> None:
    client = lockc.aio.Client(proxy.url, default_ttl=TTL, reply_timeout=0.3)
    told = []
    while not any(told) and len(told) < ATTEMPTS:
        name = f"{key}:{len(told)}"
        lock = client.lock(name)
        await lock.acquire()
        held = lock.held
        assert held is not None
        proxy.drop()
        assert await held.lost.wait()
        told.append(int(raw.call("PTTL", name)) > 0)
        assert (held.remaining, held.lost.reason) == (0, "expired")
        assert await lock.release() is False
        proxy.heal()
    await client.close()
    assert any(told)
