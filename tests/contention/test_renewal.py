"""Short leases, renewed over a line whose delay changes all the time: released is released."""

from __future__ import annotations

import random
import threading
import time

from lockc_abi import OpenClient, Refused
from proxy import Proxy
from resp import Connection
from scale import scaled
from timing import within
from watching import Monitor

THREADS = 8
ROUNDS = scaled(400, 10_000) // THREADS
TTL_MS = 300


def test_no_renewal_outlives_its_release(
    proxy: Proxy, raw: Connection, monitor: Monitor, open_client: OpenClient
) -> None:
    client = open_client(proxy.url, default_ttl_ms=TTL_MS, reply_timeout_ms=5000)
    client.connect()
    unexpected = []
    ended = threading.Event()

    def change_the_delay() -> None:
        while not ended.wait(0.02):
            proxy.delay(random.uniform(0, 0.015))
            proxy.delay(random.uniform(0, 0.015), saw=b"lockc:")

    def work(number: int) -> None:
        for turn in range(ROUNDS):
            try:
                lock = client.acquire(f"key:{number}:{turn % 3}")
                time.sleep(random.uniform(0, 0.02))
                lock.release()
            except Refused as refused:
                unexpected.append(refused)

    jitter = threading.Thread(target=change_the_delay)
    workers = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in (jitter, *workers):
        thread.start()
    for thread in workers:
        thread.join()
    ended.set()
    jitter.join()
    proxy.heal()
    assert unexpected == []
    assert within(1.0, lambda: all(b":fence:" in key for key in raw.call("KEYS", "*")))
    renewals = monitor.count("renew")
    assert not within(3 * TTL_MS / 1000, lambda: monitor.count("renew") > renewals)
    last: dict[bytes, str] = {}
    for _, name, words in monitor.stop():
        if name == "acquire" or name == "release":
            last[words[4]] = name
        elif name == "renew":
            for key, owner in zip(words, words[2::2], strict=False):
                assert last.get(owner) != "release", f"{key!r} was renewed behind its release"


def test_lease_shorter_than_the_work_is_renewed_over_a_slow_line(
    proxy: Proxy, raw: Connection, open_client: OpenClient
) -> None:
    client = open_client(proxy.url, default_ttl_ms=TTL_MS, reply_timeout_ms=5000)
    client.connect()
    proxy.delay(0.03)
    lock = client.acquire("key")
    assert not within(4 * TTL_MS / 1000, lambda: lock.remaining_ms == 0)
    lock.release()
    assert raw.call("EXISTS", "key") == 0
