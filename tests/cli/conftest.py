"""Fixtures: servers, a key for each test, and the command as a user starts it."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from redis_server import RedisServer
from resp import Connection

ROOT = Path(__file__).parents[2]
COMMAND = os.environ.get("LOCKC_COMMAND", str(ROOT / "build" / "lockc"))
WITHIN = 20.0  # seconds; no test needs so long, and none goes on for longer


def until(condition: Callable[[], object], within: float = WITHIN) -> None:
    """Waits until another process or the server has come so far."""
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.005)


class Started:
    """A running lockc, whose output is read line by line."""

    def __init__(self, words: tuple[str | bytes, ...], environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [COMMAND, *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.pid = self.process.pid

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip()

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self) -> tuple[int, str, str]:
        """Waits for the end: exit code, what was written since the last line(), complaints."""
        out, err = self.process.communicate(timeout=WITHIN)
        return self.process.returncode, out.rstrip(), err

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


class Lockc:
    """The command, with the URL of a server in its environment."""

    def __init__(self, url: str) -> None:
        self.environment = {**os.environ, "LOCKC_URL": url}
        self.started: list[Started] = []

    def start(self, *words: str | bytes, **environment: str) -> Started:
        self.started.append(Started(words, {**self.environment, **environment}))
        return self.started[-1]

    def __call__(self, *words: str | bytes, **environment: str) -> tuple[int, str, str]:
        return self.start(*words, **environment).end()


@pytest.fixture(scope="session")
def server() -> Iterator[RedisServer]:
    with RedisServer() as running:
        yield running


@pytest.fixture
def own_server() -> Iterator[RedisServer]:
    """A server that a test may stop, fill or reconfigure."""
    with RedisServer() as running:
        yield running
        running.resume()


def commands_for(running: RedisServer) -> Iterator[Lockc]:
    lockc = Lockc(running.url)
    yield lockc
    for started in lockc.started:
        started.kill()


@pytest.fixture
def lockc(server: RedisServer) -> Iterator[Lockc]:
    yield from commands_for(server)


@pytest.fixture
def own_lockc(own_server: RedisServer) -> Iterator[Lockc]:
    yield from commands_for(own_server)


@pytest.fixture
def raw(server: RedisServer) -> Iterator[Connection]:
    with server.connect() as connection:
        yield connection


@pytest.fixture
def own_raw(own_server: RedisServer) -> Iterator[Connection]:
    with own_server.connect() as connection:
        yield connection


numbers = itertools.count()


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    return f"{request.node.originalname}:{next(numbers)}"
