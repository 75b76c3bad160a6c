"""Client rules 4 and 5: which messages are a grant, and what is done with those that aren't."""

from __future__ import annotations

import time

import pytest
from lockc_abi import NO_RENEW, Client, OpenClient, Queue
from proxy import Proxy
from resp import Connection
from timing import within
from waits import take, take_grant, waiting
from watching import Monitor, client_of, queue_of, wait_queued, wake_channel


def publish(raw: Connection, owner: bytes, first: int, count: int = 1, key: bytes = b"key") -> None:
    message = b"%s %d %d %s" % (owner, first, count, key)
    assert raw.call("PUBLISH", wake_channel(owner), message) == 1


def last_token(raw: Connection, key: str = "key") -> int:
    return int(raw.call("GET", f"lockc:{{{key}}}:fence:{key}"))


def released(monitor: Monitor, owner: bytes) -> int:
    """How often a release named the owner; words are four keys, then the owner."""
    return sum(name == "release" and words[4] == owner for _, name, words in monitor.seen())


def test_rule_4_stale_wake_is_no_grant(holder: Client, waiter: Client, raw: Connection) -> None:
    held = holder.acquire("key")
    with waiting(waiter, raw, ttl_ms=30000) as queue:
        [owner] = queue_of(raw)
        # Tokens up to the last one given when it asked: a grant made before.
        publish(raw, owner, 1)
        publish(raw, owner, last_token(raw))
        assert queue.poll(300) is None
        assert queue_of(raw) == [owner]
        assert raw.call("GET", "key") != owner
        held.release()
        assert take_grant(queue).token > held.token


def test_rule_4_late_wake_is_no_grant(
    holder: Client, proxy: Proxy, raw: Connection, open_client: OpenClient
) -> None:
    client = open_client(proxy.url, reply_timeout_ms=10000)
    held = holder.acquire("key")
    with waiting(client, raw, ttl_ms=600) as queue:
        proxy.hold("down")
        held.release()
        assert within(2.0, lambda: raw.call("EXISTS", "key") == 0)
        next_one = holder.acquire("key", ttl_ms=30000)
        proxy.heal()
        # Its grant has come by now, and so has the answer to its poll; both are too old.
        wait_queued(raw, 1)
        assert queue.poll(300) is None
        next_one.release()
        assert take_grant(queue).token > next_one.token


def test_rule_4_fixed_lease_granted_by_message_is_counted_from_a_renewal(
    holder: Client, waiter: Client, raw: Connection, monitor: Monitor
) -> None:
    held = holder.acquire("key")
    with waiting(waiter, raw, ttl_ms=3000, flags=NO_RENEW) as queue:
        time.sleep(0.7)  # so old is the proof by which it is granted
        held.release()
        lock = take_grant(queue)
        assert within(2.0, lambda: monitor.count("renew") == 1)
        assert within(1.0, lambda: lock.remaining_ms > 2500)
        lock.release()


def test_rule_5_second_message_for_a_held_key_changes_nothing(
    holder: Client, waiter: Client, raw: Connection, monitor: Monitor
) -> None:
    held = holder.acquire("key")
    with waiting(waiter, raw, ttl_ms=30000) as queue:
        [owner] = queue_of(raw)
        held.release()
        lock = take_grant(queue)
        token = lock.token
        publish(raw, owner, token + 5)
        waiter.acquire("other").release()  # comes behind the message
        assert lock.token == token
        assert raw.call("GET", "key") == owner
        assert queue.poll(100) is None
        lock.release()
    monitor.stop()
    assert released(monitor, owner) == 1


@pytest.mark.parametrize("with_key", [True, False], ids=["real", "forged"])
def test_rule_5_grant_for_an_unknown_owner_is_given_back(
    with_key: bool, holder: Client, waiter: Client, raw: Connection, monitor: Monitor
) -> None:
    held = holder.acquire("other")
    with Queue(waiter) as queue:
        queue.acquire(1, "other", wait_ms=-1, ttl_ms=30000)
        [known] = wait_queued(raw, 1, "other")
        unknown = b"lc1:%s:999999:x:30000:1" % client_of(known).encode()
        raw.call("SET", "key", unknown if with_key else "another owner", "PX", 30000)
        publish(raw, unknown, last_token(raw, "other") + 1)
        assert within(2.0, lambda: released(monitor, unknown) == 1)
        assert within(2.0, lambda: bool(raw.call("EXISTS", "key")) != with_key)
        held.release()
        take_grant(queue).release()


def test_rule_5_hint_for_an_unknown_owner_is_ignored(
    holder: Client, waiter: Client, raw: Connection, monitor: Monitor
) -> None:
    held = holder.acquire("key")
    with waiting(waiter, raw, ttl_ms=30000) as queue:
        [known] = queue_of(raw)
        publish(raw, known.replace(b":30000:", b":30001:"), 0, 0)
        publish(raw, b"lc1:%s:999999:x:30000:1" % client_of(known).encode(), 0, 0)
        held.release()
        take_grant(queue).release()
    names = [name for _, name, words in monitor.stop() if b"key" in words]
    # The holder's, a try, and one to queue; the hints came before the grant and brought no further.
    assert names.count("acquire") == 3
    assert names.count("release") == 2


def test_rule_5_grant_to_a_waiter_whose_cancel_is_under_way_comes_back(
    holder: Client, proxy: Proxy, raw: Connection, open_client: OpenClient
) -> None:
    client = open_client(proxy.url, reply_timeout_ms=10000)
    held = holder.acquire("key")
    with waiting(client, raw, ttl_ms=30000) as queue:
        [owner] = queue_of(raw)
        proxy.hold("up")
        queue.cancel(1)
        assert take(queue, 0).status == "CANCELLED"
        held.release()
        assert raw.call("GET", "key") == owner  # its cancel has not come yet
        proxy.heal()
        assert within(2.0, lambda: raw.call("EXISTS", "key") == 0)
        assert queue.poll(0) is None
