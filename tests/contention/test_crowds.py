"""Many waiters: idle while the key is held, no storm at its release, deadlines kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from lockc_abi import Client, OpenClient, Queue
from redis_server import RedisServer
from resp import Connection
from scale import scaled
from timing import TOLERANCE, Stopwatch, within
from watching import calls, queue_of, script_calls, wait_queued
from workers import Worker, assert_exclusive

Start = Callable[..., Worker]


def all_commands(raw: Connection) -> int:
    """Commands of clients and of their scripts, but for looking at them here."""
    fields = raw.call("INFO", "stats").decode().split()
    total = next(field for field in fields if field.startswith("total_commands_processed:"))
    return int(total.partition(":")[2])


def threads_of_this_process() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def test_a_thousand_waiters_of_one_client_are_one_to_the_server(
    holder: Client, server: RedisServer, raw: Connection, open_client: OpenClient
) -> None:
    size = scaled(1000, 10_000)
    client = open_client(server.url, handover_max=8)
    held = holder.acquire("key", ttl_ms=60000)
    threads = threads_of_this_process()
    with Queue(client) as queue:
        for tag in range(size):
            queue.acquire(tag, "key", wait_ms=-1)
        wait_queued(raw, 1)
        assert threads_of_this_process() == threads
        scripts, cpu = script_calls(raw), time.process_time()
        time.sleep(2)  # the rates are what is tested
        assert script_calls(raw) - scripts <= 1  # the poll bound is 5 s
        assert time.process_time() - cpu < 0.1
        assert len(queue_of(raw)) == 1
        scripts = script_calls(raw)
        held.release()
        for tag in range(size):
            completion = queue.poll(5000)
            assert completion is not None
            assert (completion.tag, completion.status) == (tag, "OK")
            assert completion.lock is not None
            completion.lock.release()
        # A block of 8 at best, of fewer where it took longer than handover_ms.
        assert script_calls(raw) - scripts <= size
    assert raw.call("EXISTS", "key", "lockc:{key}:queue:key") == 0


@pytest.mark.parametrize("hold_ms", [5, 60], ids=["time enough", "time for some"])
def test_waiters_own_or_time_out_neither_sooner_nor_later(
    hold_ms: int, start: Start, raw: Connection
) -> None:
    wait_ms = scaled(1500, 5000)
    size = 50
    plan = {"threads": size // 2, "hold_ms": hold_ms, "acquire": {"wait_ms": wait_ms}}
    workers = [start(**plan), start(**plan)]
    watch = Stopwatch()
    began = time.monotonic_ns()
    for worker in workers:
        worker.begin()
    seen = [worker.finish() for worker in workers]
    assert_exclusive(*seen)
    news = [one for some in seen for one in some]
    refused = [one for one in news if one.word == "refused"]
    assert len([one for one in news if one.word == "held"]) + len(refused) == size
    assert {one.value for one in refused} <= {"TIMEOUT"}
    for one in news:
        after = (one.at - began) / 1e9
        if one.word == "held":
            assert after <= wait_ms / 1000 + TOLERANCE
        if one.word == "refused":
            assert wait_ms / 1000 - 0.01 <= after <= wait_ms / 1000 + 2 * TOLERANCE
    if hold_ms * size < wait_ms / 2:
        assert refused == []
    assert watch.seconds < wait_ms / 1000 + 3 * TOLERANCE
    assert within(1.0, lambda: raw.call("EXISTS", "key", "lockc:{key}:queue:key") == 0)


def test_waiters_of_several_processes_sleep_while_the_key_is_held(
    start: Start, holder: Client, raw: Connection
) -> None:
    seconds = scaled(2, 10)
    held = holder.acquire("key", ttl_ms=60000)
    workers = [start(threads=50) for _ in range(4)]
    for worker in workers:
        worker.begin()
    wait_queued(raw, 4)
    scripts, cpu = script_calls(raw), [worker.cpu_seconds() for worker in workers]
    subscribes = calls(raw, "subscribe")
    time.sleep(seconds)  # the rates are what is tested
    assert script_calls(raw) - scripts <= 4 * (seconds // 5 + 1)
    assert calls(raw, "subscribe") == subscribes
    for worker, before in zip(workers, cpu, strict=True):
        # 2 % of the time, and a tick of its clock.
        assert worker.cpu_seconds() - before <= 0.02 * seconds + 0.02
    scripts = script_calls(raw)
    held.release()
    seen = [worker.finish() for worker in workers]
    assert_exclusive(*seen)
    # At worst one requeue for each grant and one release for each process: nobody tries in vain.
    assert script_calls(raw) - scripts <= 200 + 2 * 4


def test_poll_bound_is_the_rate_of_all_commands_of_an_idle_waiter(
    holder: Client, waiter: Client, raw: Connection
) -> None:
    held = holder.acquire("key", ttl_ms=60000)
    with Queue(waiter) as queue:
        queue.acquire(1, "key", wait_ms=-1, ttl_ms=3000)
        wait_queued(raw, 1)
        before = all_commands(raw)
        time.sleep(2.2)  # the rate is what is tested
        # Two or three polls with their PING; a poll is one call and up to 15 commands inside.
        assert all_commands(raw) - before <= 3 * 17 + 2
    held.release()


def test_equal_processes_get_equal_shares(start: Start, raw: Connection) -> None:
    seconds = scaled(2, 10)
    workers = [start(threads=4, rounds=100_000, hold_ms=1) for _ in range(3)]
    for worker in workers:
        worker.begin()
    for worker in workers:
        worker.wait_for("held")
    time.sleep(seconds)  # the shares within this time are what is tested
    counts = [sum(news.word == "held" for news in worker.end_and_read()) for worker in workers]
    assert max(counts) <= 1.3 * min(counts), counts
