"""Holders that are killed or frozen: what the others get, and what the holder learns."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lockc_abi import Client
from redis_server import RedisServer
from resp import Connection
from timing import TOLERANCE, Stopwatch, within

TTL_MS = 1000


class Holder:
    """holder.py in a process of its own."""

    def __init__(self, url: str) -> None:
        program = Path(__file__).with_name("holder.py")
        self.process = subprocess.Popen(
            [sys.executable, str(program), url, "key", str(TTL_MS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        word, token = self._line().split()
        assert word == "held"
        self.token = int(token)

    def ask(self) -> tuple[int, int]:
        """Its remaining_ms and lost_reason."""
        assert self.process.stdin is not None
        self.process.stdin.write("?\n")
        remaining_ms, lost_reason = self._line().split()
        return int(remaining_ms), int(lost_reason)

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def leave(self) -> int:
        """Lets it end by itself; its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(5)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()


@pytest.fixture
def holder(server: RedisServer) -> Iterator[Holder]:
    holder = Holder(server.url)
    yield holder
    holder.end()


def test_killed_holder_costs_at_most_its_ttl(holder: Holder, past: Client, raw: Connection) -> None:
    assert raw.call("PTTL", "key") > 0
    holder.send(signal.SIGKILL)
    watch = Stopwatch()
    lock = past.acquire("key", wait_ms=10000)
    assert watch.seconds < TTL_MS / 1000 + TOLERANCE
    assert lock.token > holder.token
    lock.release()


def test_holder_that_leaves_in_order_gives_back_at_once(holder: Holder, raw: Connection) -> None:
    assert holder.leave() == 0
    assert raw.call("EXISTS", "key") == 0


def test_frozen_holder_knows_at_its_first_look(
    holder: Holder, past: Client, raw: Connection
) -> None:
    remaining_ms, lost_reason = holder.ask()
    assert remaining_ms > 0
    assert lost_reason == 0
    holder.send(signal.SIGSTOP)
    lock = past.acquire("key", wait_ms=10000, ttl_ms=60000)
    assert lock.token > holder.token
    holder.send(signal.SIGCONT)
    remaining_ms, lost_reason = holder.ask()
    assert remaining_ms == 0
    assert within(2.0, lambda: holder.ask()[1] != 0)
    assert raw.call("PTTL", "key") > 50000
    assert lock.remaining_ms > 0
    lock.release()
