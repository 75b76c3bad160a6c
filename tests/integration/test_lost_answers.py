"""An answer that never comes: the outcome is told as unknown, and lockc cleans up behind it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from lockc_abi import Client, OpenClient, Queue, Refused, succeeds
from proxy import Link, Proxy
from resp import Connection
from timing import REPLY_MS, TOLERANCE, Stopwatch, within

HEALED_WITHIN = 3.0


def lose_the_answer(link: Link) -> None:
    link.drop("down")


def lose_the_request(link: Link) -> None:
    link.drop("up")


def delay_the_answer(link: Link) -> None:
    link.hold("down")


def test_acquire_without_answer_is_uncertain_and_undone(
    near: Client, proxy: Proxy, raw: Connection
) -> None:
    proxy.drop("down")
    watch = Stopwatch()
    with pytest.raises(Refused) as refused:
        near.acquire("key")
    assert refused.value.status == "E_UNCERTAIN"
    assert watch.seconds < 2 * REPLY_MS / 1000 + TOLERANCE
    assert raw.call("EXISTS", "key") == 1
    proxy.heal()
    assert within(HEALED_WITHIN, lambda: raw.call("EXISTS", "key") == 0)
    near.acquire("key").release()
    assert raw.call("EXISTS", "key") == 0


def test_unknown_acquire_is_never_renewed(
    proxy: Proxy, raw: Connection, open_client: OpenClient
) -> None:
    client = open_client(proxy.url, default_ttl_ms=600)
    client.acquire("warm-up").release()
    proxy.drop("down")
    with pytest.raises(Refused):
        client.acquire("key")
    assert raw.call("EXISTS", "key") == 1
    assert within(0.6 + TOLERANCE, lambda: raw.call("EXISTS", "key") == 0)


def test_acquire_whose_request_is_lost_leaves_nothing(
    near: Client, proxy: Proxy, raw: Connection
) -> None:
    proxy.drop("up")
    with pytest.raises(Refused) as refused:
        near.acquire("key")
    assert refused.value.status == "E_UNCERTAIN"
    proxy.heal()
    near.acquire("other", wait_ms=5000).release()  # a log-in may have been lost as well
    assert raw.call("EXISTS", "key") == 0


@pytest.mark.parametrize(
    "loss", [lose_the_answer, delay_the_answer, lose_the_request, Link.cut, Link.reset]
)
def test_wait_outlives_a_lost_answer_and_holds_once(
    near: Client, proxy: Proxy, raw: Connection, loss: object
) -> None:
    fired = proxy.once(b"EVALSHA", loss)  # type: ignore[arg-type]
    lock = near.acquire("key", wait_ms=5000)
    assert fired.is_set()
    proxy.heal()  # what was delayed comes now
    assert lock.remaining_ms > 0
    assert raw.call("GET", "key")
    lock.release()
    assert raw.call("EXISTS", "key") == 0


def test_late_answer_of_a_given_up_connection_counts_no_more(
    near: Client, proxy: Proxy, raw: Connection
) -> None:
    proxy.hold("down")
    with pytest.raises(Refused):
        near.acquire("key")
    proxy.heal()
    assert within(HEALED_WITHIN, lambda: raw.call("EXISTS", "key") == 0)


@pytest.mark.parametrize("loss", [lose_the_answer, lose_the_request])
def test_release_without_answer_is_uncertain_and_done_behind(
    near: Client, proxy: Proxy, raw: Connection, loss: object
) -> None:
    lock = near.acquire("key")
    proxy.once(b"EVALSHA", loss)  # type: ignore[arg-type]
    with pytest.raises(Refused) as refused:
        lock.release()
    assert refused.value.status == "E_UNCERTAIN"
    assert lock.remaining_ms == 0
    assert within(HEALED_WITHIN, lambda: raw.call("EXISTS", "key") == 0)
    lock.release()  # tells the end: it was given back


@pytest.mark.parametrize("cut", [Link.cut, Link.reset])
def test_release_broken_off_ends_the_renewal_and_may_be_repeated(
    cut: Callable[[Link], None], proxy: Proxy, raw: Connection, open_client: OpenClient
) -> None:
    client = open_client(proxy.url, default_ttl_ms=3000)
    client.acquire("warm-up").release()
    lock = client.acquire("key")
    proxy.refuse()
    proxy.once(b"EVALSHA", cut)
    with pytest.raises(Refused) as refused:
        lock.release()
    assert refused.value.status in {"E_UNCERTAIN", "E_UNREACHABLE"}
    left = raw.call("PTTL", "key")
    assert not within(1.2, lambda: raw.call("PTTL", "key") > left)  # it was renewed every second
    proxy.heal()
    assert within(HEALED_WITHIN, lambda: succeeds(lock.release))
    assert raw.call("EXISTS", "key") == 0


def test_release_that_never_comes_through_costs_the_ttl(
    proxy: Proxy, raw: Connection, open_client: OpenClient
) -> None:
    client = open_client(proxy.url, default_ttl_ms=1000)
    lock = client.acquire("key")
    proxy.drop("up")
    with pytest.raises(Refused):
        lock.release()
    assert within(1.0 + TOLERANCE, lambda: raw.call("EXISTS", "key") == 0)


def test_freed_lock_is_released_behind_though_the_line_is_dead(
    near: Client, proxy: Proxy, raw: Connection
) -> None:
    lock = near.acquire("key")
    proxy.drop()
    lock.free()
    proxy.heal()
    proxy.cut()
    assert within(HEALED_WITHIN, lambda: raw.call("EXISTS", "key") == 0)


def test_cancelled_wait_without_answer_leaves_nothing(
    near: Client, past: Client, proxy: Proxy, raw: Connection
) -> None:
    held = past.acquire("key")
    with Queue(near) as queue:
        queue.acquire(1, "key", wait_ms=-1)
        assert within(2.0, lambda: raw.call("ZCARD", "lockc:{key}:queue:key") == 1)
        proxy.drop("down")
        queue.cancel(1)
        completion = queue.poll(2000)
        assert completion is not None
        assert completion.status == "CANCELLED"
        proxy.heal()
        assert within(HEALED_WITHIN, lambda: raw.call("ZCARD", "lockc:{key}:queue:key") == 0)
    held.release()
    assert raw.call("EXISTS", "key") == 0
