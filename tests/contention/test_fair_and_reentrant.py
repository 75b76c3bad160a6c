"""The fair kind, newcomers at a queue, and owners that enter again."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from lockc_abi import Client, Lock, OpenClient, Queue, Refused
from redis_server import RedisServer
from resp import Connection
from scale import scaled
from timing import within
from waits import take, take_grant
from watching import Monitor, client_of, queue_of, script_calls, wait_queued

FAIR = {"kind": 1, "wait_ms": -1}


def test_fair_grants_come_in_the_order_of_queueing_at_two_commands_each(
    server: RedisServer, raw: Connection, monitor: Monitor, open_client: OpenClient
) -> None:
    clients = [open_client(server.url, handover_max=8) for _ in range(3)]
    held = clients[0].acquire("key", kind=1)
    queues = [Queue(clients[i % 3]) for i in range(12)]
    for number, queue in enumerate(queues):
        queue.acquire(number, "key", **FAIR)
        wait_queued(raw, number + 1)
    token = held.token
    before = monitor.stop()
    counted = script_calls(raw)
    held.release()
    for number, queue in enumerate(queues):
        lock = take_grant(queue)
        assert lock.token > token
        token = lock.token
        assert all(later.poll(0) is None for later in queues[number + 1 :])
        lock.release()
    assert script_calls(raw) - counted == 1 + 12  # the releases alone; each had asked before
    asked = Counter(words[4] for _, name, words in before if words[0] == b"key")
    assert len(asked) == 1 + 12
    # Only the first waiter of each client asked more often: until its subscription stood.
    assert sum(times > 1 for times in asked.values()) <= 3
    for queue in queues:
        queue.close()


def test_fair_waiters_of_one_client_each_have_a_place(
    holder: Client, waiter: Client, raw: Connection
) -> None:
    held = holder.acquire("key")
    with Queue(waiter) as queue:
        for tag in range(5):
            queue.acquire(tag, "key", **FAIR)
            owners = wait_queued(raw, tag + 1)
        assert len({client_of(owner) for owner in owners}) == 1
        queue.cancel(2)
        assert within(1.0, lambda: queue_of(raw) == owners[:2] + owners[3:])
        assert take(queue, 1.0).status == "CANCELLED"
        held.release()
        for tag in (0, 1, 3, 4):
            completion = take(queue, 2.0)
            assert completion.tag == tag
            assert completion.lock is not None
            completion.lock.release()


def test_newcomer_at_the_moment_of_release_never_passes_the_queue(
    server: RedisServer, raw: Connection, open_client: OpenClient
) -> None:
    rounds, size = scaled(5, 20), 10
    clients = [open_client(server.url, reply_timeout_ms=5000) for _ in range(size)]
    newcomer = open_client(server.url, reply_timeout_ms=5000)
    for _ in range(rounds):
        lock = clients[-1].acquire("key", wait_ms=-1)
        queues = [Queue(client) for client in clients]
        for number, queue in enumerate(queues):
            queue.acquire(number, "key", **FAIR)
            wait_queued(raw, number + 1)
        for queue in queues:
            with Queue(newcomer) as trying:
                order = [lambda: trying.acquire(1, "key"), lock.release]
                random.shuffle(order)
                for step in order:
                    step()
                assert take(trying, 2.0).status == "BUSY"
            lock = take_grant(queue)
        lock.release()
        for queue in queues:
            queue.close()


# ---- re-entrant owners


def test_owner_enters_again_without_a_command(holder: Client, raw: Connection) -> None:
    outer = holder.acquire("key", owner=42)
    before = script_calls(raw)
    inner = [holder.acquire("key", owner=42, wait_ms=wait) for wait in (0, 1000, -1)]
    assert {lock.token for lock in inner} == {outer.token}
    for lock in [outer, *inner[:-1]]:
        lock.release()
    assert script_calls(raw) == before
    assert raw.call("EXISTS", "key") == 1
    inner[-1].release()
    assert raw.call("EXISTS", "key") == 0
    assert script_calls(raw) == before + 1


def test_each_entry_is_released_once(holder: Client, raw: Connection) -> None:
    outer, inner = (holder.acquire("key", owner=42) for _ in range(2))
    inner.release()
    with pytest.raises(Refused) as refused:
        inner.release()
    assert refused.value.status == "NOT_HELD"
    assert raw.call("EXISTS", "key") == 1
    outer.release()
    assert raw.call("EXISTS", "key") == 0


def test_another_owner_and_none_at_all_stay_outside(
    holder: Client, waiter: Client, raw: Connection
) -> None:
    lock = holder.acquire("key", owner=42)
    for client, owner in ((holder, 43), (holder, 0), (waiter, 42)):
        with pytest.raises(Refused) as refused:
            client.acquire("key", owner=owner)
        assert refused.value.status == "BUSY"
    again: Lock = holder.acquire("key", owner=42)
    lock.release()
    again.release()
    assert raw.call("EXISTS", "key") == 0


def test_owner_does_not_enter_a_lost_lease(holder: Client, raw: Connection) -> None:
    lock = holder.acquire("key", owner=42, ttl_ms=100)
    assert within(2.0, lambda: lock.lost_reason != 0)
    with pytest.raises(Refused) as refused:
        holder.acquire("key", owner=42, wait_ms=-1)
    assert refused.value.status == "LOST"
    with pytest.raises(Refused) as refused:
        lock.release()
    assert refused.value.status == "LOST"
    holder.acquire("key", owner=42, wait_ms=-1).release()


def test_waiter_gets_the_key_after_the_last_release(holder: Client, raw: Connection) -> None:
    entries = [holder.acquire("key", owner=42) for _ in range(3)]
    with Queue(holder) as queue:
        queue.acquire(1, "key", wait_ms=-1, owner=43)
        for lock in entries:
            assert queue.poll(50) is None
            lock.release()
        lock = take_grant(queue)
        assert lock.token > entries[0].token
        lock.release()


# ---- handles, not threads, hold


def test_hold_leaked_on_a_thread_is_nobody_elses(holder: Client) -> None:
    leaked = holder.acquire("key")
    with pytest.raises(Refused) as refused:
        holder.acquire("key")  # the next job, on the same thread
    assert refused.value.status == "BUSY"
    leaked.release()


def test_two_handles_of_one_key_exclude_each_other(holder: Client, waiter: Client) -> None:
    first = holder.acquire("key")
    for client in (holder, waiter):
        with pytest.raises(Refused) as refused:
            client.acquire("key")
        assert refused.value.status == "BUSY"
    first.release()
