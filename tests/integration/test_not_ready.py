"""A server that can't serve for a while: waiters and leases go on behind it, and knock politely."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

import pytest
from lockc_abi import OpenClient, Queue, Refused
from redis_server import RedisServer
from resp import Connection, ServerError
from timing import TOLERANCE, Stopwatch, within

SECONDS = 1.5  # how long the trouble lasts
TRIES_PER_SECOND = 20
KEYS = 300

OPTIONS: dict[str, str | int] = {
    "enable_debug_command": "local",
    "lua_time_limit": 20,
    "key_load_delay": int(SECONDS * 1e6 / KEYS),
    "loading_process_events_interval_bytes": 1024,
}


@pytest.fixture
def troubled() -> Iterator[RedisServer]:
    """A server that says BUSY early, and that takes its time to load what it has saved."""
    with RedisServer(OPTIONS) as server, server.connect() as raw:
        raw.pipeline(("SET", f"ballast:{number}", "x" * 1000) for number in range(KEYS))
        yield server


@contextmanager
def endless_script(server: RedisServer) -> Iterator[None]:
    """The server answers BUSY, until the script is killed."""
    with server.connect() as sender, server.connect() as killer:
        sender.send("EVAL", "while true do end", 0)
        wait_begun(server)
        yield
        time.sleep(SECONDS)  # the length of the trouble is what is tested
        killer.call("SCRIPT", "KILL")


@contextmanager
def loading(server: RedisServer) -> Iterator[None]:
    """The server answers LOADING, until all of its keys are there again."""
    with server.connect() as sender:
        sender.send("DEBUG", "RELOAD")
        wait_begun(server)
        yield
        sender.read()


@contextmanager
def sleeping(server: RedisServer) -> Iterator[None]:
    """The server answers nothing, but executes then whatever has come meanwhile."""
    with server.connect() as sender:
        sender.send("DEBUG", "SLEEP", SECONDS)
        wait_begun(server)
        yield
        sender.read()


def wait_begun(server: RedisServer) -> None:
    """Until an ordinary command gets no proper answer."""
    with suppress(ServerError, TimeoutError), server.connect(timeout=0.1) as probe:
        while True:
            probe.call("PING")


Trouble = Callable[[RedisServer], AbstractContextManager[None]]


def script_requests(raw: Connection) -> int:
    """How many scripts were sent, whether they were executed or refused."""
    lines = re.findall(r"cmdstat_eval(?:sha)?:(.*)", raw.call("INFO", "commandstats").decode())
    return sum(
        int(number) for line in lines for number in re.findall(r"\b(?:rejected_)?calls=(\d+)", line)
    )


@pytest.mark.parametrize(
    "trouble", [endless_script, loading, sleeping], ids=lambda one: one.__name__
)
def test_waiter_is_granted_and_lease_is_kept_when_it_is_over(
    trouble: Trouble, troubled: RedisServer, open_client: OpenClient
) -> None:
    client = open_client(troubled.url, default_ttl_ms=6000)
    with Queue(client) as queue, troubled.connect() as raw:
        lock = client.acquire("held", events=queue.handle)
        before, watch = script_requests(raw), Stopwatch()
        with trouble(troubled):
            queue.acquire(1, "key", wait_ms=10_000)
            assert queue.poll(100) is None
        seconds = watch.seconds
        completion = queue.poll(int((1 + TOLERANCE) * 1000))
        tries = script_requests(raw) - before
        assert completion is not None, "no grant in time"
        assert completion.lock is not None, completion.message
        assert tries <= TRIES_PER_SECOND * seconds + 5
        completion.lock.release()
        assert within(3.0, lambda: raw.call("EXISTS", "key") == 0), "an earlier try holds it"
        assert within(3.0, lambda: raw.call("PTTL", "held") > 5000)
        assert lock.remaining_ms > 0
        assert queue.poll(0) is None, "nothing was lost"
        lock.release()


@pytest.mark.parametrize(
    ("trouble", "word"), [(endless_script, "BUSY"), (loading, "LOADING")], ids=["busy", "loading"]
)
def test_wait_that_is_shorter_ends_with_the_words_of_the_server(
    trouble: Trouble, word: str, troubled: RedisServer, open_client: OpenClient
) -> None:
    client = open_client(troubled.url)
    client.acquire("key").release()
    with trouble(troubled):
        watch = Stopwatch()
        with pytest.raises(Refused) as refused:
            client.acquire("key", wait_ms=500)
        assert 0.49 <= watch.seconds <= 0.5 + TOLERANCE
    assert refused.value.status == "E_NOT_READY"
    assert word in refused.value.message
    client.acquire("key", wait_ms=5000).release()
