"""Client rules 2, 6, 7 and 8: what lost and late answers leave, and from when a lease counts."""

from __future__ import annotations

import pytest
from lockc_abi import LOST_EXPIRED, Client, Lock, OpenClient, Queue, Refused
from proxy import Link, Proxy
from resp import Connection
from timing import within
from waits import take
from watching import Monitor, queue_of


def test_rule_2_given_up_connection_is_killed_before_the_owner_is_named_again(
    waiter: Client, proxy: Proxy, raw: Connection
) -> None:
    links: list[Link] = []
    lost = proxy.once(b"EVALSHA", lambda link: link.drop("down"))
    killing = proxy.once(b"KILL", links.append)
    lock = waiter.acquire("key", wait_ms=5000)
    assert lost.is_set()
    assert killing.is_set()
    seen = links[0].seen
    assert seen.index(b"KILL") < seen.index(raw.call("GET", "key"))
    lock.release()
    assert raw.call("EXISTS", "key") == 0


def test_rule_2_release_goes_behind_an_unanswered_acquire_on_its_connection(
    proxy: Proxy, raw: Connection, monitor: Monitor, open_client: OpenClient
) -> None:
    client = open_client(proxy.url, reply_timeout_ms=10000)
    client.acquire("warm-up").release()
    with Queue(client) as queue:
        proxy.hold("up")
        queue.acquire(1, "key", wait_ms=-1)
        queue.cancel(1)
        assert take(queue, 0).status == "CANCELLED"
        proxy.heal()
        assert within(2.0, lambda: monitor.count("release") == 2)  # the other is the warm-up's
    mine = [(who, name) for who, name, words in monitor.stop() if words[0] == b"key"]
    assert [name for _, name in mine] == ["acquire", "release"]
    assert len({who for who, _ in mine}) == 1
    assert raw.call("EXISTS", "key") == 0
    assert queue_of(raw) == []


def test_rule_6_validity_counts_from_before_the_request(
    proxy: Proxy, raw: Connection, open_client: OpenClient
) -> None:
    client = open_client(proxy.url, reply_timeout_ms=10000)
    client.acquire("warm-up").release()
    proxy.delay(0.4, "down")
    lock = client.acquire("key", ttl_ms=5000)
    assert 0 < lock.remaining_ms <= 5000 - 400 - (50 + 2)
    lock.extend(6000)
    assert 0 < lock.remaining_ms <= 6000 - 400 - (60 + 2)
    assert raw.call("PTTL", "key") > lock.remaining_ms


def test_rule_6_nothing_is_valid_beyond_its_proof_whatever_the_server_says(
    waiter: Client, raw: Connection
) -> None:
    lock = waiter.acquire("key", ttl_ms=200)
    raw.call("PEXPIRE", "key", 60000)
    assert within(2.0, lambda: lock.lost_reason == LOST_EXPIRED)
    assert lock.remaining_ms == 0
    with pytest.raises(Refused) as refused:
        lock.extend(1000)
    assert refused.value.status == "LOST"
    with pytest.raises(Refused) as refused:
        lock.release()
    assert refused.value.status == "LOST"
    # The server still had it; lockc gives it back behind.
    assert within(2.0, lambda: raw.call("EXISTS", "key") == 0)


@pytest.mark.parametrize("kind", ["normal", "all"])
def test_rule_7_every_lease_is_renewed_right_behind_a_reconnect(
    kind: str, waiter: Client, raw: Connection, proxy: Proxy
) -> None:
    locks: list[Lock] = [waiter.acquire(f"key:{i}") for i in range(5)]
    for i in range(5):
        raw.call("PEXPIRE", f"key:{i}", 15000)
    if kind == "all":
        proxy.cut()
    else:
        raw.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    waiter.acquire("something", wait_ms=2000).release()
    assert within(2.0, lambda: all(raw.call("PTTL", f"key:{i}") > 25000 for i in range(5)))
    assert all(lock.remaining_ms > 25000 for lock in locks)


def test_rule_8_lost_is_told_by_the_first_release(waiter: Client, raw: Connection) -> None:
    lock = waiter.acquire("key")
    raw.call("SET", "key", "another owner")
    with pytest.raises(Refused) as refused:
        lock.release()
    assert refused.value.status == "LOST"
    assert raw.call("GET", "key") == b"another owner"


def test_rule_8_release_sent_again_is_no_loss(
    waiter: Client, raw: Connection, proxy: Proxy
) -> None:
    lock = waiter.acquire("key")
    proxy.once(b"EVALSHA", lambda link: link.drop("down"))
    with pytest.raises(Refused) as refused:
        lock.release()
    assert refused.value.status == "E_UNCERTAIN"
    assert raw.call("EXISTS", "key") == 0  # it was done; only the answer is missing
    lock.release()
