"""A wait ends in its time against servers that stand still or confirm nothing; C and Python."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

import lockc
import pytest
from lockc_abi import Client, OpenClient, Queue, Refused
from proxy import Proxy
from redis_server import RedisServer, free_port
from timing import TOLERANCE, Stopwatch
from waits import take_grant

WAIT = 1.0
Trouble = Callable[[Proxy], AbstractContextManager[str]]


@contextmanager
def closed_port(proxy: Proxy) -> Iterator[str]:
    yield f"redis://127.0.0.1:{free_port()}"


@contextmanager
def black_hole_from_the_start(proxy: Proxy) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def black_hole_after_connect(proxy: Proxy) -> Iterator[str]:
    proxy.once(b"EVAL", lambda link: link.drop())
    yield proxy.url


@contextmanager
def sleeping_server(proxy: Proxy) -> Iterator[str]:
    with socket.create_connection(("127.0.0.1", proxy.target_port)) as connection:
        connection.sendall(b"DEBUG SLEEP 1.6\r\n")
        yield proxy.url
        connection.recv(100)  # until it has slept


@contextmanager
def slow_subscription(proxy: Proxy) -> Iterator[str]:
    proxy.once(b"SUBSCRIBE", lambda link: link.delay(3.0, "down"))
    yield proxy.url


TROUBLES = [
    closed_port,
    black_hole_from_the_start,
    black_hole_after_connect,
    sleeping_server,
    slow_subscription,
]
ENDS = {"TIMEOUT", "E_UNREACHABLE", "E_UNCERTAIN"}
ERRORS = (lockc.Unreachable, lockc.Uncertain)
everywhere = pytest.mark.parametrize("trouble", TROUBLES, ids=lambda one: one.__name__)


def assert_in_time(watch: Stopwatch) -> None:
    assert WAIT - 0.01 <= watch.seconds <= WAIT + TOLERANCE


@pytest.fixture(autouse=True)
def held_by_another(holder: Client) -> Iterator[None]:
    """A free key would be granted in spite of a subscription that isn't confirmed."""
    lock = holder.acquire("key", ttl_ms=60000)
    yield
    lock.release()


@everywhere
def test_wait_ends_in_time(trouble: Trouble, proxy: Proxy, open_client: OpenClient) -> None:
    with trouble(proxy) as url:
        client = open_client(url)
        watch = Stopwatch()
        with pytest.raises(Refused) as refused:
            client.acquire("key", wait_ms=int(WAIT * 1000))
        assert_in_time(watch)
        assert refused.value.status in ENDS


@everywhere
def test_wait_of_python_ends_in_time(trouble: Trouble, proxy: Proxy) -> None:
    with trouble(proxy) as url, lockc.Client(url, reply_timeout=0.3) as client:
        watch = Stopwatch()
        with suppress(*ERRORS):
            assert client.lock("key").acquire(timeout=WAIT) is False
        assert_in_time(watch)


@everywhere
async def test_wait_of_asyncio_ends_in_time(trouble: Trouble, proxy: Proxy) -> None:
    with trouble(proxy) as url:
        client = lockc.aio.Client(url, reply_timeout=0.3)
        watch = Stopwatch()
        results = await asyncio.gather(
            client.lock("key").acquire(timeout=WAIT),
            asyncio.wait_for(client.lock("key").acquire(), WAIT),
            return_exceptions=True,
        )
        assert_in_time(watch)
        assert all(end is False or isinstance(end, (TimeoutError, *ERRORS)) for end in results)
        await client.close()


def test_wait_is_longer_than_the_ttl_asked_for(
    holder: Client, waiter: Client, server: RedisServer
) -> None:
    held = holder.acquire("long", ttl_ms=1500)
    watch = Stopwatch()
    lock = waiter.acquire("long", ttl_ms=500, wait_ms=5000)
    assert 1.3 < watch.seconds < 1.5 + TOLERANCE
    assert lock.token > held.token
    lock.release()


def test_late_confirmation_is_followed_by_a_try_at_once(
    holder: Client, proxy: Proxy, open_client: OpenClient
) -> None:
    client = open_client(proxy.url, reply_timeout_ms=5000)
    held = holder.acquire("late", ttl_ms=30000)
    with Queue(client) as queue:
        subscribed = proxy.once(b"SUBSCRIBE", lambda link: link.delay(0.5, "down"))
        queue.acquire(1, "late", wait_ms=-1, ttl_ms=30000)
        assert subscribed.wait(2)
        held.release()
        take_grant(queue, 0.5 + 0.2).release()
