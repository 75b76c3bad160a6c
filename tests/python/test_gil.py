"""Calls that block leave the interpreter to other threads, which keep their rate meanwhile."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import lockc
import pytest
from conftest import until
from redis_server import RedisServer

# A call that keeps the GIL leaves others nothing of it, and one that keeps it half of the time a
# half. A busy machine takes from them, too. For how long it let the counting thread wait for a
# processor is not counted; but it may also stop the calling thread just as that has the GIL again.
# So the first of some attempts counts at which the rates beside the call and without it agree.
# Those of a call that keeps the GIL differ at all of them.
TOLERANCE = 0.1
ATTEMPTS = 30

SECONDS = 0.1  # that each call blocks
CALLS = 3

Call = Callable[[], object]


class Counter(threading.Thread):
    """Counts as fast as the interpreter lets it."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.count = 0
        self._over = False

    def run(self) -> None:
        while not self._over:
            self.count += 1

    def window(self, call: Call) -> tuple[int, float]:
        """How far it came while the call lasted, and in how many seconds."""
        count, start = self.count, self._seconds()
        call()
        return self.count - count, self._seconds() - start

    def _seconds(self) -> float:
        """A clock that stands still while this thread waits for a processor."""
        statistics = Path(f"/proc/self/task/{self.native_id}/schedstat").read_text()
        return time.monotonic() - int(statistics.split()[1]) / 1e9

    def end(self) -> None:
        self._over = True
        self.join()


def rate(windows: list[tuple[int, float]]) -> float:
    counts, seconds = zip(*windows, strict=True)
    return float(sum(counts) / sum(seconds))


def share_left_by(calls: Iterable[Call]) -> float:
    """The rate of another thread beside these calls, to its rate between them."""
    counter = Counter()
    counter.start()
    until(lambda: counter.count)
    beside, between = [], []
    for call in calls:
        beside.append(counter.window(call))
        between.append(counter.window(lambda: time.sleep(SECONDS)))
    counter.end()
    return rate(beside) / rate(between)


def assert_leaves_the_gil(calls: Callable[[], Iterator[Call]]) -> None:
    shares = [share_left_by(calls())]
    while abs(shares[-1] - 1) > TOLERANCE:
        assert len(shares) < ATTEMPTS, shares
        shares.append(share_left_by(calls()))


def test_other_threads_keep_their_rate_while_one_waits(client: lockc.Client, key: str) -> None:
    def waits() -> Iterator[Call]:
        for _ in range(CALLS):
            yield lambda: client.lock(key).acquire(timeout=SECONDS)

    with client.lock(key):
        assert_leaves_the_gil(waits)


def test_other_threads_keep_their_rate_while_one_waits_for_a_loss(
    client: lockc.Client, key: str
) -> None:
    def waits() -> Iterator[Call]:
        for _ in range(CALLS):
            yield lambda: held.lost.wait(SECONDS)

    with client.lock(key) as held:
        assert_leaves_the_gil(waits)


class Hold:
    """A lock that a client of its own holds."""

    def __init__(self, server: RedisServer, number: int) -> None:
        self.client = lockc.Client(server.url, reply_timeout=SECONDS)
        self.lock: lockc.Lock | None = self.client.lock(f"key:{number}")
        assert self.lock.acquire(timeout=10)


@contextmanager
def holds_at_a_frozen_server(server: RedisServer) -> Iterator[list[Hold]]:
    holds = [Hold(server, number) for number in range(CALLS)]
    server.suspend()
    yield holds
    server.resume()
    for hold in holds:
        hold.client.close()


def drop(hold: Hold) -> None:
    """Its lock is given back behind it, which takes no time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        hold.lock = None
    time.sleep(SECONDS)


ASK = {
    "release": lambda hold: hold.lock.release(),
    "extend": lambda hold: hold.lock.held.extend(60),
    "acquire": lambda hold: hold.client.lock("other", timeout=0).acquire(),
    "inspect": lambda hold: hold.client.inspect("other"),
    "read": lambda hold: hold.client.read("record"),
    "write": lambda hold: hold.client.write("record", b"value"),
    "close": lambda hold: hold.client.close(),
    "drop": drop,
}


@pytest.mark.parametrize("ask", ASK.values(), ids=ASK)
def test_other_threads_keep_their_rate_while_a_frozen_server_is_asked(
    ask: Callable[[Hold], object], own_server: RedisServer
) -> None:
    def calls() -> Iterator[Call]:
        with holds_at_a_frozen_server(own_server) as holds:
            for hold in holds:
                yield lambda: asked_in_vain(hold)  # noqa: B023 - called before the next one

    def asked_in_vain(hold: Hold) -> None:
        with suppress(lockc.Unreachable, lockc.Uncertain):
            ask(hold)

    assert_leaves_the_gil(calls)
