"""Client rules 1 and 3: when a waiter queues, and when it polls."""

from __future__ import annotations

import time

import pytest
from lockc_abi import SPIN, Client, OpenClient, Queue
from proxy import Proxy
from resp import Connection
from timing import REPLY_MS, TOLERANCE, Stopwatch, within
from waits import take, take_grant, waiting
from watching import Monitor, calls, queue_of, script_calls, wait_queued, wake_channel

STRANGER = b"lc1:AAAAAAAAAAAAAAAAAAAAAA:1:x:600:1"  # a holder whose process is gone


def test_rule_1_waiter_queues_only_over_a_confirmed_subscription(
    holder: Client, proxy: Proxy, raw: Connection, open_client: OpenClient
) -> None:
    client = open_client(proxy.url, reply_timeout_ms=5000)
    held = holder.acquire("key")
    subscribed = proxy.once(b"SUBSCRIBE", lambda link: link.hold("down"))
    with Queue(client) as queue:
        queue.acquire(1, "key", wait_ms=-1, ttl_ms=30000)
        assert subscribed.wait(2)
        before = script_calls(raw)
        assert within(2.0, lambda: script_calls(raw) >= before + 3)  # it asks meanwhile
        assert queue_of(raw) == []
        proxy.heal()
        wait_queued(raw, 1)
        held.release()
        take_grant(queue).release()


def test_rule_1_free_key_is_granted_without_a_subscription(waiter: Client, raw: Connection) -> None:
    waiter.acquire("key", wait_ms=-1).release()
    assert raw.call("PUBSUB", "CHANNELS") == []


def test_rule_3_waiter_polls_every_third_of_its_ttl(
    holder: Client, waiter: Client, raw: Connection, monitor: Monitor
) -> None:
    held = holder.acquire("key", ttl_ms=60000)
    with waiting(waiter, raw, ttl_ms=900):
        before = monitor.count("acquire")
        time.sleep(1.5)  # the rate is what is tested
        assert 3 <= monitor.count("acquire") - before <= 6
    held.release()


def test_rule_3_lost_wake_is_made_up_for_by_the_next_poll(
    holder: Client, proxy: Proxy, raw: Connection, open_client: OpenClient
) -> None:
    client = open_client(proxy.url, reply_timeout_ms=10000)  # it won't miss its heartbeat so soon
    held = holder.acquire("key")
    with waiting(client, raw, ttl_ms=2400) as queue:
        lost = proxy.once(b"\r\nmessage\r\n", lambda link: link.drop("down"))
        watch = Stopwatch()
        held.release()
        lock = take_grant(queue, 0.8)
        assert lost.is_set()
        assert watch.seconds < 0.8 + TOLERANCE
        lock.release()


def test_rule_3_killed_wake_connection_makes_the_waiter_ask_at_once(
    holder: Client, waiter: Client, raw: Connection, monitor: Monitor
) -> None:
    held = holder.acquire("key")
    with waiting(waiter, raw, ttl_ms=30000) as queue:
        before = monitor.count("acquire")
        raw.call("CLIENT", "KILL", "TYPE", "pubsub")
        assert within(1.0, lambda: monitor.count("acquire") == before + 1)
        held.release()
        take_grant(queue, 1.0).release()


def test_rule_3_black_holed_wake_connection_is_found_out_by_the_heartbeat(
    holder: Client, waiter: Client, proxy: Proxy, raw: Connection
) -> None:
    held = holder.acquire("key", ttl_ms=60000)
    with waiting(waiter, raw, ttl_ms=1500) as queue:
        subscribed = calls(raw, "subscribe")
        proxy.drop(saw=b"SUBSCRIBE")
        # A heartbeat goes with each poll, every 0.5 s; its answer is waited for as any other.
        limit = 0.5 + REPLY_MS / 1000 + TOLERANCE
        assert within(limit, lambda: calls(raw, "subscribe") == subscribed + 1)
        held.release()
        take_grant(queue).release()


def test_rule_3_hint_makes_the_waiter_ask_at_once(
    holder: Client, waiter: Client, raw: Connection, monitor: Monitor
) -> None:
    held = holder.acquire("key")
    with waiting(waiter, raw, ttl_ms=30000):
        [owner] = queue_of(raw)
        before = monitor.count("acquire")
        raw.call("PUBLISH", wake_channel(owner), b"%s 0 0 key" % owner)
        assert within(1.0, lambda: monitor.count("acquire") == before + 1)
    held.release()


def test_rule_3_expired_holder_is_noticed_in_time_and_not_before(
    waiter: Client, raw: Connection, monitor: Monitor
) -> None:
    raw.call("SET", "key", STRANGER, "PX", 600)
    watch = Stopwatch()
    lock = waiter.acquire("key", wait_ms=-1, ttl_ms=30000)
    assert 0.5 < watch.seconds < 0.6 + TOLERANCE
    # A try or two until the subscription stands, one to queue, one or two when the lease is over.
    assert monitor.count("acquire") <= 5
    lock.release()


@pytest.mark.parametrize("expiry", [("PX", 60000), ()], ids=["expires", "never"])
def test_rule_3_foreign_holder_is_asked_for_with_jittered_back_off(
    expiry: tuple[str, ...], waiter: Client, raw: Connection, monitor: Monitor
) -> None:
    raw.call("SET", "key", "a plain client", *expiry)
    with waiting(waiter, raw, ttl_ms=30000) as queue:
        time.sleep(2)  # the rate is what is tested
        # Steps from 2 ms doubled up to 250 ms: 7 until there, then 4 to 8 a second.
        assert 8 <= monitor.count("acquire") <= 30
        raw.call("DEL", "key")
        take_grant(queue, 0.25).release()


@pytest.mark.parametrize("gone", [("DEL", "key"), ("PEXPIRE", "key", "1")])
def test_rule_3_keyspace_notifications_tell_that_a_foreign_holder_has_gone(
    gone: tuple[str, ...], proxy: Proxy, raw: Connection, open_client: OpenClient
) -> None:
    raw.call("CONFIG", "SET", "notify-keyspace-events", "Kgx")
    client = open_client(proxy.url, spin_min_ms=60000, spin_max_ms=60000)
    raw.call("SET", "key", "a plain client")
    notified = b"__keyspace@0__:key"
    with waiting(client, raw, ttl_ms=30000) as queue:
        assert within(1.0, lambda: notified in raw.call("PUBSUB", "CHANNELS"))
        raw.call(*gone)
        take_grant(queue, 1.0).release()
    assert within(1.0, lambda: notified not in raw.call("PUBSUB", "CHANNELS"))


def test_rule_3_back_off_follows_the_options(
    proxy: Proxy, raw: Connection, monitor: Monitor, open_client: OpenClient
) -> None:
    client = open_client(proxy.url, spin_min_ms=400, spin_max_ms=500)
    raw.call("SET", "key", "a plain client")
    with waiting(client, raw, ttl_ms=30000):
        before = monitor.count("acquire")
        time.sleep(1.5)  # the rate is what is tested
        assert 2 <= monitor.count("acquire") - before <= 7


def test_spinning_waiter_neither_queues_nor_subscribes(
    holder: Client, waiter: Client, raw: Connection, monitor: Monitor
) -> None:
    held = holder.acquire("key")
    with Queue(waiter) as queue:
        queue.acquire(1, "key", wait_ms=-1, flags=SPIN)
        assert within(2.0, lambda: monitor.count("acquire") >= 8)
        assert raw.call("EXISTS", "lockc:{key}:queue:key") == 0
        assert raw.call("PUBSUB", "CHANNELS") == []
        held.release()
        take_grant(queue, 0.25).release()


def test_spinning_waiter_ends_after_its_tries(
    holder: Client, waiter: Client, monitor: Monitor
) -> None:
    held = holder.acquire("key")
    with Queue(waiter) as queue:
        queue.acquire(1, "key", wait_ms=-1, flags=SPIN, max_tries=7)
        assert take(queue, 3.0).status == "BUSY"
    held.release()
    assert [name for _, name, _ in monitor.stop()].count("acquire") == 1 + 7
