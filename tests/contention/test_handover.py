"""Hand-over inside a client: no command for it, its tokens and its bounds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from lockc_abi import EVENT_LOST, Client, Lock, OpenClient, Queue, Refused
from redis_server import RedisServer
from resp import Connection
from timing import within
from waits import take, take_grant
from watching import Monitor, script_calls, wait_queued
from workers import Worker, assert_exclusive, grants

UNTIMED = 60000  # handover_ms that never ends a block here


def crowd(client: Client, size: int, hold: float = 0.0, **options: int) -> list[int]:
    """So many waiters of "key", each holding and releasing in turn; their tokens."""
    tokens = []
    held = client.acquire("key")
    with Queue(client) as queue:
        for tag in range(size):
            queue.acquire(tag, "key", **({"wait_ms": -1} | options))
        time.sleep(hold)
        held.release()
        for tag in range(size):
            completion = take(queue, 3.0)
            assert completion.tag == tag
            assert completion.lock is not None
            tokens.append(completion.lock.token)
            time.sleep(hold)
            completion.lock.release()
    return [held.token, *tokens]


@contextmanager
def subscribed(client: Client, raw: Connection) -> Iterator[None]:
    """Keeps the client waiting for another key, so that its wake channel stands."""
    held = client.acquire("elsewhere")
    with Queue(client) as queue:
        queue.acquire(1, "elsewhere", wait_ms=-1, kind=1)
        wait_queued(raw, 1, "elsewhere")
        yield
    held.release()


def count(monitor: Monitor) -> dict[str, int]:
    names = [name for _, name, words in monitor.stop() if b"key" in words]
    return {name: names.count(name) for name in names}


def test_tokens_inside_a_block_increase_by_one(
    server: RedisServer, raw: Connection, open_client: OpenClient
) -> None:
    client = open_client(server.url, handover_ms=UNTIMED)
    tokens = crowd(client, 7)
    assert tokens == list(range(tokens[0], tokens[0] + 8))
    # The fence is behind the whole block at once, so what others get is larger.
    assert int(raw.call("GET", "lockc:{key}:fence:key")) == tokens[-1]


def test_a_block_costs_one_acquire_and_one_release(
    server: RedisServer, monitor: Monitor, open_client: OpenClient
) -> None:
    client = open_client(server.url, handover_ms=UNTIMED)
    crowd(client, 7)
    assert count(monitor) == {"acquire": 1, "release": 1}


def test_handover_max_bounds_the_grants_of_a_block(
    server: RedisServer, raw: Connection, monitor: Monitor, open_client: OpenClient
) -> None:
    client = open_client(server.url, handover_max=4, handover_ms=UNTIMED)
    with subscribed(client, raw):
        tokens = crowd(client, 15)
    assert tokens == sorted(set(tokens))
    # 16 holders in blocks of 4; a requeue between two blocks, and one release at the end.
    assert count(monitor) == {"acquire": 1, "requeue": 3, "release": 1}


def test_handover_max_of_one_switches_it_off(
    server: RedisServer, raw: Connection, monitor: Monitor, open_client: OpenClient
) -> None:
    client = open_client(server.url, handover_max=1)
    with subscribed(client, raw):
        tokens = crowd(client, 10)
    assert tokens == sorted(set(tokens))
    assert count(monitor) == {"acquire": 1, "requeue": 10, "release": 1}


def test_handover_ms_bounds_the_time_of_a_block(
    server: RedisServer, raw: Connection, monitor: Monitor, open_client: OpenClient
) -> None:
    client = open_client(server.url, handover_max=1000, handover_ms=100)
    with subscribed(client, raw):
        crowd(client, 10, hold=0.04)
    counted = count(monitor)
    # 11 holders of 40 ms: no more than 3 of them begin within 100 ms of the first.
    assert counted["requeue"] >= 3
    assert counted["acquire"] == counted["release"] == 1


def test_fixed_leases_are_not_handed_over(
    server: RedisServer, raw: Connection, monitor: Monitor, open_client: OpenClient
) -> None:
    client = open_client(server.url, handover_ms=UNTIMED)
    with subscribed(client, raw):
        crowd(client, 5, ttl_ms=30000)
    assert count(monitor)["requeue"] == 5


def test_another_process_waits_no_longer_than_a_block(
    start: Callable[..., Worker], holder: Client, raw: Connection
) -> None:
    held = holder.acquire("key")
    many = start(threads=10, rounds=6, client={"handover_max": 5, "handover_ms": UNTIMED})
    one = start(rounds=6, client={"handover_max": 5})
    many.begin()
    wait_queued(raw, 1)
    one.begin()
    wait_queued(raw, 2)
    held.release()
    seen = many.finish(), one.finish()
    assert_exclusive(*seen)
    tokens_of_one = {news.value for news in seen[1]}
    runs, run = [], 0
    for grant in grants(*seen):
        if grant.value in tokens_of_one:
            runs.append(run)
            run = 0
        else:
            run += 1
    # One block lies between two grants of the other; one more where it hadn't asked again in time.
    assert len(runs) == 6
    assert sorted(runs)[3] <= 5, runs


def test_each_holder_has_its_own_handle_and_news(
    server: RedisServer, raw: Connection, open_client: OpenClient
) -> None:
    client = open_client(server.url, default_ttl_ms=900, handover_ms=UNTIMED)
    first = client.acquire("key")
    with Queue(client) as queue, Queue(client) as first_news:
        queue.acquire(1, "key", wait_ms=-1, events=queue.handle, events_tag=7)
        first.release()
        second = take_grant(queue)
        assert first.remaining_ms == 0
        with pytest.raises(Refused) as refused:
            first.release()
        assert refused.value.status == "NOT_HELD"
        assert second.remaining_ms > 0
        raw.call("DEL", "key")
        news = take(queue, 1.0)
        assert (news.kind, news.tag) == (EVENT_LOST, 7)
        assert first_news.poll(0) is None
        assert (first.lost_reason, second.remaining_ms) == (0, 0)


def test_waiters_of_a_lost_block_go_to_the_server(
    server: RedisServer, raw: Connection, open_client: OpenClient
) -> None:
    client = open_client(server.url, default_ttl_ms=900, handover_ms=UNTIMED)
    held = client.acquire("key")
    with Queue(client) as queue:
        queue.acquire(1, "key", wait_ms=-1)
        raw.call("SET", "key", "another owner", "PX", 700)
        lock = take_grant(queue, 2.0)
        assert lock.token > held.token + 7  # of a new grant, not of the lost block
        assert held.lost_reason != 0
        lock.release()


def test_lease_passed_on_is_renewed_for_its_holder(
    server: RedisServer, raw: Connection, open_client: OpenClient
) -> None:
    client = open_client(server.url, default_ttl_ms=600, handover_ms=UNTIMED)
    held = client.acquire("key")
    with Queue(client) as queue:
        queue.acquire(1, "key", wait_ms=-1)
        held.release()
        lock = take_grant(queue)
        assert not within(1.2, lambda: lock.remaining_ms == 0 or raw.call("EXISTS", "key") == 0)
        lock.release()


def test_threads_of_one_process_mostly_need_no_command(
    server: RedisServer, raw: Connection, open_client: OpenClient
) -> None:
    client = open_client(server.url, handover_max=16, handover_ms=1000)
    client.acquire("key").release()
    rounds, threads = 50, 8
    inside: list[Lock] = []

    def work() -> None:
        for _ in range(rounds):
            lock = client.acquire("key", wait_ms=-1)
            inside.append(lock)
            time.sleep(0.002)  # the others come to wait; a key that nobody waits for costs two
            assert inside == [lock]
            inside.clear()
            lock.release()

    before = script_calls(raw)
    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    # 0.07 of one where all threads come back in time; some don't on a busy machine.
    assert script_calls(raw) - before <= 0.5 * rounds * threads
