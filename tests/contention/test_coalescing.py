"""One waiter per key and client stands in the server's queue, whatever waits behind it."""

from __future__ import annotations

from collections.abc import Callable

from lockc_abi import Client, OpenClient, Queue
from redis_server import RedisServer
from resp import Connection
from timing import within
from waits import take, take_grant
from watching import client_of, queue_of, script_calls, wait_queued
from workers import Worker, assert_exclusive

Start = Callable[..., Worker]
QUIET = 0.3  # seconds in which nothing more may happen


def test_two_processes_of_ten_threads_have_two_entries(
    start: Start, holder: Client, raw: Connection
) -> None:
    held = holder.acquire("key")
    workers = [start(threads=10), start(threads=10)]
    for worker in workers:
        worker.begin()
    wait_queued(raw, 2)
    assert not within(QUIET, lambda: raw.call("ZCARD", "lockc:{key}:queue:key") != 2)
    assert len({client_of(owner) for owner in queue_of(raw)}) == 2
    held.release()
    seen = [worker.finish() for worker in workers]
    assert_exclusive(*seen)
    assert sum(news.word == "held" for news in seen[0] + seen[1]) == 20
    assert within(1.0, lambda: raw.call("EXISTS", "key", "lockc:{key}:queue:key") == 0)


def test_while_a_client_holds_the_key_none_of_its_waiters_is_queued(
    holder: Client, raw: Connection
) -> None:
    held = holder.acquire("key")
    before = script_calls(raw)
    with Queue(holder) as queue:
        for tag in range(10):
            queue.acquire(tag, "key", wait_ms=-1)
        assert not within(QUIET, lambda: queue_of(raw) != [])
        assert script_calls(raw) == before
        held.release()
        for tag in range(10):
            completion = take(queue, 2.0)
            assert completion.tag == tag
            assert completion.lock is not None
            completion.lock.release()


def test_keys_and_clients_do_not_share(
    holder: Client, server: RedisServer, raw: Connection, open_client: OpenClient
) -> None:
    locks = [holder.acquire(key) for key in ("key", "other")]
    client = open_client(server.url)
    with Queue(client) as queue:
        for tag in range(4):
            queue.acquire(tag, ("key", "other")[tag % 2], wait_ms=-1)
        wait_queued(raw, 1, "key")
        wait_queued(raw, 1, "other")
        locks[1].release()
        completion = take(queue, 2.0)
        assert completion.tag == 1
        assert completion.lock is not None
        completion.lock.release()
        assert take(queue, 2.0).tag == 3
        locks[0].release()
        assert take(queue, 2.0).tag == 0


def test_cancelled_representative_leaves_its_place_to_the_next_one_here(
    holder: Client, waiter: Client, server: RedisServer, raw: Connection, open_client: OpenClient
) -> None:
    held = holder.acquire("key")
    rival = open_client(server.url)
    with Queue(waiter) as queue, Queue(rival) as behind:
        queue.acquire(1, "key", wait_ms=-1)
        queue.acquire(2, "key", wait_ms=-1)
        [place] = wait_queued(raw, 1)
        behind.acquire(1, "key", wait_ms=-1)
        wait_queued(raw, 2)
        queue.cancel(1)
        assert take(queue, 1.0).status == "CANCELLED"
        assert not within(QUIET, lambda: queue_of(raw)[0] != place)
        held.release()
        lock = take_grant(queue)
        assert behind.poll(0) is None
        lock.release()
        take_grant(behind).release()


def test_cancelled_representative_does_not_pass_another_ttl_on(
    holder: Client, waiter: Client, raw: Connection
) -> None:
    held = holder.acquire("key")
    with Queue(waiter) as queue:
        queue.acquire(1, "key", wait_ms=-1, ttl_ms=20000)
        queue.acquire(2, "key", wait_ms=-1, ttl_ms=40000)
        [place] = wait_queued(raw, 1)
        assert b":20000:" in place
        queue.cancel(1)
        assert within(1.0, lambda: [b":40000:" in owner for owner in queue_of(raw)] == [True])
        assert take(queue, 1.0).status == "CANCELLED"
        held.release()
        lock = take_grant(queue)
        assert 30000 < raw.call("PTTL", "key") <= 40000
        lock.release()


def test_waits_that_end_by_their_time_leave_no_place(
    holder: Client, waiter: Client, raw: Connection
) -> None:
    held = holder.acquire("key")
    with Queue(waiter) as queue:
        for tag in range(5):
            queue.acquire(tag, "key", wait_ms=100 + 20 * tag)
        for tag in range(5):
            completion = take(queue, 1.0)
            assert (completion.tag, completion.status) == (tag, "TIMEOUT")
        assert within(1.0, lambda: queue_of(raw) == [])
    held.release()
    assert raw.call("EXISTS", "key") == 0
