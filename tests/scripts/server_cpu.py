"""Server CPU per acquire and release, as the server itself accounts for it, without the network.

    python3 tests/scripts/server_cpu.py

Pairs are sent in one pipelined write by one connection; the least of some rounds is printed, and
for comparison that of empty scripts with the same keys and of SET NX PX with compare-and-delete.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import embedded
from lock import RETENTION, Lock, owner
from redis_server import RedisServer
from resp import Arg, Connection

PAIRS = 2000
ROUNDS = 30
COMPARE_AND_DELETE = (
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
)


def cpu_seconds(connection: Connection) -> float:
    info = connection.call("INFO", "cpu").decode()
    return sum(float(re.search(rf"used_cpu_{kind}:([\d.]+)", info)[1]) for kind in ("user", "sys"))


def cost_us(connection: Connection, pair: list[tuple[Arg, ...]]) -> float:
    least = float("inf")
    for _ in range(ROUNDS):
        before = cpu_seconds(connection)
        connection.pipeline(pair * PAIRS)
        least = min(least, cpu_seconds(connection) - before)
    return least / PAIRS * 1e6


def main() -> None:
    scripts = embedded.load()
    with RedisServer() as server, server.connect(timeout=60) as connection:
        lock = Lock(scripts, connection, b"k")
        value, waiter = owner("A" * 22, b=8, ttl=30_000), owner("B" * 22, b=8, ttl=30_000)
        sha = {name: script.sha1 for name, script in scripts.items()}
        for script in scripts.values():
            connection.call("SCRIPT", "LOAD", script.text)
        empty = connection.call("SCRIPT", "LOAD", "return 1")
        compare = connection.call("SCRIPT", "LOAD", COMPARE_AND_DELETE)

        def acquire(name: Arg, by: bytes = value, wait: int = 0) -> tuple[Arg, ...]:
            return ("EVALSHA", name, 4, *lock.keys, by, wait, 0, RETENTION)

        def release(name: Arg, by: bytes = value) -> tuple[Arg, ...]:
            return ("EVALSHA", name, 4, *lock.keys, by, RETENTION)

        free = [acquire(sha["acquire"]), release(sha["release"])]
        floor = [acquire(empty), release(empty)]
        plain = [("SET", "p", value, "NX", "PX", 30_000), ("EVALSHA", compare, 1, "p", value)]
        print(f"acquire and release, uncontended  {cost_us(connection, free):6.2f} us")
        print(f"two empty scripts                 {cost_us(connection, floor):6.2f} us")
        print(f"SET NX PX and compare-and-delete  {cost_us(connection, plain):6.2f} us")

        lock.acquire(value)
        busy = [acquire(sha["acquire"], waiter)]
        print(f"acquire, busy                     {cost_us(connection, busy):6.2f} us")
        poll = [acquire(sha["acquire"], waiter, wait=1)]
        print(f"acquire, poll of a waiter         {cost_us(connection, poll):6.2f} us")


if __name__ == "__main__":
    main()
