"""Waiters that are killed or frozen: the key goes past them, and they hold nothing."""

from __future__ import annotations

from collections.abc import Callable

from lockc_abi import Client, OpenClient, Queue
from redis_server import RedisServer
from resp import Connection
from timing import TOLERANCE, Stopwatch, within
from waits import take_grant
from watching import queue_of, wait_queued
from workers import Worker

QUEUED = 20
Start = Callable[..., Worker]


def test_twenty_killed_waiters_cost_the_live_one_behind_them_nothing(
    start: Start, holder: Client, waiter: Client, raw: Connection
) -> None:
    held = holder.acquire("key")
    dead = start(clients=QUEUED, acquire={"ttl_ms": 30000})
    dead.begin()
    wait_queued(raw, QUEUED)
    with Queue(waiter) as queue:
        queue.acquire(1, "key", wait_ms=-1, ttl_ms=30000)
        wait_queued(raw, QUEUED + 1)
        dead.end()
        held.release()
        lock = take_grant(queue, 0.2)
        assert lock.token > held.token
        lock.release()
    # Nobody who is dead was given the key meanwhile.
    assert raw.call("EXISTS", "key") == 0
    holder.acquire("key").release()


def test_entries_of_killed_waiters_go_after_their_window(
    start: Start, holder: Client, waiter: Client, raw: Connection
) -> None:
    held = holder.acquire("key", ttl_ms=30000)
    dead = start(clients=3, acquire={"ttl_ms": 1000})
    dead.begin()
    wait_queued(raw, 3)
    dead.end()
    # The window is 3 s at least; then whoever waits removes them with its poll.
    with Queue(waiter) as queue:
        queue.acquire(1, "key", wait_ms=-1, ttl_ms=900)
        wait_queued(raw, 4)
        assert within(3.0 + 0.3 + TOLERANCE, lambda: len(queue_of(raw)) == 1)
    held.release()


def test_frozen_waiter_that_was_granted_does_not_hold_when_it_comes_back(
    start: Start, holder: Client, raw: Connection
) -> None:
    frozen = start(acquire={"ttl_ms": 700}, hold_ms=0)
    held = holder.acquire("key")
    frozen.begin()
    [owner] = wait_queued(raw, 1)
    frozen.freeze()
    held.release()
    assert raw.call("GET", "key") == owner  # its subscription stands, so it was granted
    watch = Stopwatch()
    next_one = holder.acquire("key", ttl_ms=30000, wait_ms=5000)
    assert watch.seconds < 0.7 + TOLERANCE
    frozen.thaw()
    assert frozen.next(0.5) is None
    assert next_one.remaining_ms > 0
    next_one.release()
    assert int(frozen.wait_for("held").value) > next_one.token
    frozen.finish()


def test_frozen_waiter_delays_those_behind_it_by_one_ttl_and_one_poll(
    start: Start, server: RedisServer, open_client: OpenClient, holder: Client, raw: Connection
) -> None:
    held = holder.acquire("key")
    frozen = start(acquire={"ttl_ms": 700})
    frozen.begin()
    wait_queued(raw, 1)
    behind = open_client(server.url)
    with Queue(behind) as queue:
        queue.acquire(1, "key", wait_ms=-1, ttl_ms=1500)  # polls every 0.5 s
        wait_queued(raw, 2)
        frozen.freeze()
        held.release()
        take_grant(queue, 0.7 + 0.5).release()
    frozen.thaw()
    frozen.finish()


def test_killed_holder_of_a_handed_over_key_costs_its_ttl(
    start: Start, waiter: Client, raw: Connection
) -> None:
    holders = start(threads=3, hold_ms=60000, acquire={"ttl_ms": 800, "flags": 1})
    holders.begin()
    holders.wait_for("held")
    with Queue(waiter) as queue:
        queue.acquire(1, "key", wait_ms=-1, ttl_ms=30000)
        wait_queued(raw, 1)
        holders.end()
        take_grant(queue, 0.8).release()
