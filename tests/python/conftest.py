"""A real server for all tests, a client and a key for each, scripts in their own processes."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import lockc
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from coroutines import pytest_pyfunc_call
from redis_server import RedisServer
from resp import Connection

__all__ = ["pytest_pyfunc_call"]

WITHIN = 20.0  # seconds; no test needs so long, and none goes on for longer


@pytest.fixture(scope="session")
def server() -> Iterator[RedisServer]:
    with RedisServer() as running:
        yield running


@pytest.fixture
def own_server() -> Iterator[RedisServer]:
    """A server that a test may stop, fill or reconfigure."""
    with RedisServer() as running:
        yield running


@pytest.fixture
def raw(server: RedisServer) -> Iterator[Connection]:
    with server.connect() as connection:
        yield connection


@pytest.fixture
def client(server: RedisServer) -> Iterator[lockc.Client]:
    with lockc.Client(server.url) as opened:
        yield opened


@pytest.fixture
def quick_client(server: RedisServer) -> Iterator[lockc.Client]:
    """Renews every 0.2 s, so that it learns soon what happens to its keys."""
    with lockc.Client(server.url, default_ttl=0.6) as opened:
        yield opened


@pytest.fixture
def aio_client(server: RedisServer) -> Iterator[lockc.aio.Client]:
    opened = lockc.aio.Client(server.url, default_ttl=0.6)
    yield opened
    asyncio.run(opened.close())


numbers = itertools.count()


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    return f"{request.node.originalname}:{next(numbers)}"


def until(condition: Callable[[], object]) -> None:
    """Waits until another process or the server has come so far."""
    deadline = time.monotonic() + WITHIN
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.005)


class Script:
    """Python code in a process of its own, with warnings as errors; it writes line by line."""

    def __init__(self, code: str, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-u", "-c", textwrap.dedent(code), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip()

    def end(self) -> str:
        """Waits for a clean end and returns what was written since the last line()."""
        out, err = self.process.communicate(timeout=WITHIN)
        assert (self.process.returncode, err) == (0, ""), err
        return out.rstrip()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def script(server: RedisServer, key: str) -> Iterator[Callable[..., Script]]:
    """Starts scripts that get the server's URL and the key as sys.argv[1] and [2]."""
    started: list[Script] = []

    def start(code: str, *arguments: object) -> Script:
        started.append(Script(code, server.url, key, *map(str, arguments)))
        return started[-1]

    yield start
    for one in started:
        one.kill()
