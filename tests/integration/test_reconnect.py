"""Broken connections: locks outlive them, waiters still get their turn."""

from __future__ import annotations

import time

from lockc_abi import (
    EVENT_LOST,
    LOST_EXPIRED,
    Client,
    Lock,
    OpenClient,
    Option,
    Queue,
    succeeds,
)
from proxy import Proxy
from redis_server import RedisServer
from resp import Connection
from scale import scaled
from timing import TOLERANCE, Stopwatch, within

ATTEMPTS = 3  # the machine may stop this process for longer than lockc has in hand: 1 % of the ttl


def queue_length(raw: Connection) -> int:
    return int(raw.call("ZCARD", "lockc:{key}:queue:key"))


def wait_in_queue(client: Client, raw: Connection, **options: Option) -> Queue:
    queue = Queue(client)
    queue.acquire(1, "key", wait_ms=-1, **options)
    assert within(2.0, lambda: queue_length(raw) == 1)
    return queue


def take_grant(queue: Queue, limit: float) -> Lock:
    completion = queue.poll(int(limit * 1000))
    assert completion is not None, "no grant in time"
    assert completion.status == "OK"
    assert completion.lock is not None
    return completion.lock


def kill_all(raw: Connection, kind: str) -> None:
    raw.call("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")


def test_lease_outlives_its_connections(raw: Connection, past: Client) -> None:
    lock = past.acquire("key")
    kill_all(raw, "normal")
    assert within(1.0, lambda: succeeds(lambda: lock.extend(60000)))
    assert raw.call("PTTL", "key") > 50000
    kill_all(raw, "normal")
    assert within(1.0, lambda: succeeds(lock.release))
    assert raw.call("EXISTS", "key") == 0


def test_renewals_survive_short_cuts(
    proxy: Proxy, raw: Connection, open_client: OpenClient
) -> None:
    ttl_ms, outage, between = scaled(1500, 3000), scaled(300, 1000) / 1000, scaled(700, 4000) / 1000
    client = open_client(proxy.url, default_ttl_ms=ttl_ms)
    with Queue(client) as events:
        lock = client.acquire("key", events=events.handle, events_tag=1)
        for _ in range(scaled(4, 12)):
            proxy.refuse()
            proxy.cut()
            time.sleep(outage)  # its length is what is tested
            proxy.heal()
            watch = Stopwatch()
            while watch.seconds < between:
                assert lock.remaining_ms > 0
                assert raw.call("PTTL", "key") > 0
                time.sleep(0.05)
        assert events.poll(0) is None
        lock.release()


def lose_by_a_dead_line(client: Client, key: str, proxy: Proxy, raw: Connection) -> bool:
    """Whether the holder was told while the key was still there."""
    with Queue(client) as events:
        lock = client.acquire(key, events=events.handle, events_tag=9)
        proxy.drop()
        completion = events.poll(3000)
        in_time = int(raw.call("PTTL", key)) > 0
        assert completion is not None
        assert (completion.kind, completion.tag, completion.status) == (EVENT_LOST, 9, "LOST")
        assert lock.remaining_ms == 0
        assert lock.lost_reason == LOST_EXPIRED
        assert events.poll(500) is None, "told twice"
        proxy.heal()
    return in_time


def test_dead_line_is_told_once_before_the_key_can_expire(
    proxy: Proxy, raw: Connection, open_client: OpenClient
) -> None:
    client = open_client(proxy.url, default_ttl_ms=1000)
    attempts = (lose_by_a_dead_line(client, f"key:{i}", proxy, raw) for i in range(ATTEMPTS))
    assert any(attempts)


def test_waiter_whose_wake_connection_is_killed_gets_its_turn(
    past: Client, raw: Connection, near: Client
) -> None:
    held = past.acquire("key", ttl_ms=30000)
    with wait_in_queue(near, raw, ttl_ms=30000) as queue:
        kill_all(raw, "pubsub")
        held.release()
        take_grant(queue, 1 + TOLERANCE).release()


def test_waiter_whose_wake_connection_goes_dead_gets_its_turn(
    past: Client, raw: Connection, near: Client, proxy: Proxy
) -> None:
    held = past.acquire("key", ttl_ms=60000)
    with wait_in_queue(near, raw, ttl_ms=3000) as queue:
        proxy.drop(saw=b"SUBSCRIBE")
        held.release()
        # It polls at least every third of its ttl.
        take_grant(queue, 1 + 1 + TOLERANCE).release()


def test_waiter_whose_subscription_is_confirmed_late_gets_its_turn(
    past: Client, near: Client, proxy: Proxy
) -> None:
    held = past.acquire("key", ttl_ms=30000)
    with Queue(near) as queue:
        subscribed = proxy.once(b"SUBSCRIBE", lambda link: link.delay(0.25, "down"))
        queue.acquire(1, "key", wait_ms=-1, ttl_ms=30000)
        assert subscribed.wait(2)
        held.release()
        take_grant(queue, 0.25 + TOLERANCE).release()


def test_waiter_of_a_dead_line_gets_its_turn_after_healing(
    past: Client, raw: Connection, near: Client, proxy: Proxy
) -> None:
    held = past.acquire("key", ttl_ms=30000)
    with wait_in_queue(near, raw, ttl_ms=3000) as queue:
        proxy.drop()
        held.release()
        assert queue.poll(500) is None
        proxy.heal()
        take_grant(queue, 3 + TOLERANCE).release()


def test_waiter_keeps_its_place_over_a_reconnect(
    past: Client, raw: Connection, near: Client, open_client: OpenClient, server: RedisServer
) -> None:
    held = past.acquire("key", ttl_ms=30000)
    later = open_client(server.url)
    with wait_in_queue(near, raw, ttl_ms=30000) as first, Queue(later) as second:
        second.acquire(1, "key", wait_ms=-1, ttl_ms=30000)
        assert within(2.0, lambda: queue_length(raw) == 2)
        kill_all(raw, "normal")
        kill_all(raw, "pubsub")
        assert within(2.0, lambda: len(raw.call("PUBSUB", "CHANNELS", "lockc:wake:*")) == 2)
        held.release()
        lock = take_grant(first, 2 + TOLERANCE)
        assert second.poll(0) is None
        lock.release()
        take_grant(second, 2 + TOLERANCE).release()


def test_restarted_server_has_lost_the_lease(
    own_server: RedisServer, open_client: OpenClient
) -> None:
    client = open_client(own_server.url, default_ttl_ms=3000)
    with Queue(client) as events:
        lock = client.acquire("key", events=events.handle)
        own_server.kill()
        own_server.start()
        completion = events.poll(4000)
        assert completion is not None
        assert completion.kind == EVENT_LOST
        assert lock.remaining_ms == 0
        client.acquire("key", wait_ms=2000).release()
