"""Whatever a server does, every call ends in its time."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lockc_abi import Client, OpenClient, Queue, Refused
from proxy import Proxy
from redis_server import RedisServer, free_port
from resp import Connection
from scale import scaled
from timing import REPLY_MS, TOLERANCE, Stopwatch, within

UNAVAILABLE = {"E_UNREACHABLE", "E_UNCERTAIN"}
CALL = REPLY_MS / 1000 + TOLERANCE


@pytest.fixture
def black_hole() -> Iterator[str]:
    """The URL of a socket that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}"


def assert_ends_at(client: Client, wait_ms: int, statuses: set[str]) -> None:
    watch = Stopwatch()
    with pytest.raises(Refused) as refused:
        client.acquire("key", wait_ms=wait_ms)
    assert refused.value.status in statuses
    assert wait_ms / 1000 - 0.01 <= watch.seconds <= wait_ms / 1000 + TOLERANCE


def test_wait_against_a_closed_port(open_client: OpenClient) -> None:
    assert_ends_at(open_client(f"redis://127.0.0.1:{free_port()}"), 1000, UNAVAILABLE)


def test_wait_against_a_black_hole(black_hole: str, open_client: OpenClient) -> None:
    assert_ends_at(open_client(black_hole), 1000, UNAVAILABLE)


def test_wait_against_a_line_that_went_dead(near: Client, proxy: Proxy) -> None:
    proxy.drop()
    assert_ends_at(near, 1000, UNAVAILABLE | {"TIMEOUT"})


def test_wait_against_a_frozen_server(own_server: RedisServer, open_client: OpenClient) -> None:
    client = open_client(own_server.url)
    client.acquire("key").release()
    own_server.suspend()
    assert_ends_at(client, 1000, UNAVAILABLE | {"TIMEOUT"})
    own_server.resume()


def test_wait_as_a_queued_waiter_whose_line_goes_dead(
    near: Client, past: Client, proxy: Proxy
) -> None:
    held = past.acquire("key")
    proxy.once(b"SUBSCRIBE", lambda link: link.drop())
    assert_ends_at(near, 1000, UNAVAILABLE | {"TIMEOUT"})
    held.release()


def test_short_calls_against_a_dead_line(near: Client, proxy: Proxy) -> None:
    lock = near.acquire("key")
    proxy.drop()
    for call in (lambda: lock.extend(60000), lock.release, lambda: near.acquire("other")):
        watch = Stopwatch()
        with pytest.raises(Refused) as refused:
            call()
        assert refused.value.status in UNAVAILABLE
        assert watch.seconds < 2 * CALL
    watch = Stopwatch()
    lock.free()
    assert watch.seconds < TOLERANCE


def test_close_against_a_dead_line(proxy: Proxy, open_client: OpenClient) -> None:
    client = open_client(proxy.url)
    locks = [client.acquire(f"key:{i}") for i in range(5)]
    proxy.drop()
    watch = Stopwatch()
    client.close()
    assert watch.seconds < 2 * CALL
    assert all(lock.remaining_ms == 0 for lock in locks)


def test_connect_ends_in_its_time(black_hole: str, open_client: OpenClient) -> None:
    client = open_client(black_hole, connect_timeout_ms=10000)
    watch = Stopwatch()
    with pytest.raises(Refused) as refused:
        client.connect(200)
    assert refused.value.status == "E_UNREACHABLE"
    assert watch.seconds < 0.2 + TOLERANCE


def test_calls_work_again_within_a_second_of_healing(near: Client, proxy: Proxy) -> None:
    proxy.drop()
    with pytest.raises(Refused):
        near.acquire("key")
    proxy.heal()
    watch = Stopwatch()
    near.acquire("other", wait_ms=5000).release()
    assert watch.seconds < 1 + TOLERANCE


def test_unresolvable_host_is_unreachable(open_client: OpenClient) -> None:
    client = open_client("redis://no-such-host.invalid:6379")
    watch = Stopwatch()
    with pytest.raises(Refused) as refused:
        client.acquire("key", wait_ms=500)
    assert refused.value.status == "E_UNREACHABLE"
    assert watch.seconds < 0.5 + TOLERANCE


def threads_and_descriptors() -> tuple[int, ...]:
    return tuple(len(list(Path("/proc/self", kind).iterdir())) for kind in ("task", "fd"))


def assert_costs_nothing(open_use_and_close: Callable[[], None], times: int) -> None:
    open_use_and_close()
    before = threads_and_descriptors()
    for _ in range(times):
        open_use_and_close()
    assert within(
        2.0,
        lambda: all(
            now <= then for now, then in zip(threads_and_descriptors(), before, strict=True)
        ),
    )


def test_unreachable_server_costs_no_threads_or_descriptors() -> None:
    def open_wait_and_close() -> None:
        with Client(f"redis://127.0.0.1:{free_port()}") as client, Queue(client) as queue:
            for tag in range(10):
                queue.acquire(tag, f"key:{tag}", wait_ms=50)
            for _ in range(10):
                completion = queue.poll(3000)
                assert completion is not None
                assert completion.status in UNAVAILABLE

    assert_costs_nothing(open_wait_and_close, scaled(30, 1000))


def test_clients_that_come_and_go_cost_no_threads_or_descriptors(
    server: RedisServer, raw: Connection
) -> None:
    def open_wait_and_close() -> None:
        with Client(server.url) as holder, Client(server.url) as waiter, Queue(waiter) as queue:
            holder.acquire("key", wait_ms=2000).release()
            lock = holder.acquire("key", wait_ms=2000)
            queue.acquire(1, "key", wait_ms=-1)
            lock.release()
            completion = queue.poll(5000)
            assert completion is not None
            assert completion.status == "OK"

    assert_costs_nothing(open_wait_and_close, scaled(100, 1000))
    assert within(2.0, lambda: raw.call("CLIENT", "LIST").count(b"\n") == 1)
