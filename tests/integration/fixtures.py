"""What the suites of faults and of contention share; their conftest.py names it."""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Iterator

import pytest
from lockc_abi import Client, OpenClient, Option
from proxy import Proxy
from redis_server import RedisServer
from resp import Connection
from scale import scaled
from timing import REPLY_MS

TEST_LIMIT = scaled(60, 600)
STDERR = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    """Keeps the terminal's stderr, which is captured during tests."""
    config.stash[STDERR] = os.dup(2)


@pytest.fixture(autouse=True)
def end_a_call_that_hangs(request: pytest.FixtureRequest) -> Iterator[None]:
    """A call into the library can't be interrupted: a hanging one ends the run, with its trace."""
    stderr = request.config.stash[STDERR]
    faulthandler.dump_traceback_later(TEST_LIMIT, exit=True, file=stderr)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def server(shared_server: RedisServer) -> Iterator[RedisServer]:
    """The session's server, empty; no test may leave it changed otherwise."""
    yield shared_server
    with shared_server.connect() as connection:
        connection.call("FLUSHALL")


@pytest.fixture
def raw(server: RedisServer) -> Iterator[Connection]:
    with server.connect(timeout=60) as connection:
        yield connection


@pytest.fixture
def proxy(server: RedisServer) -> Iterator[Proxy]:
    with Proxy(server.port) as proxy:
        yield proxy


@pytest.fixture
def open_client() -> Iterator[OpenClient]:
    """Opens clients of short time limits; they are closed at the end."""
    clients: list[Client] = []

    def open_client(url: str, **options: Option) -> Client:
        limits = {"connect_timeout_ms": REPLY_MS, "reply_timeout_ms": REPLY_MS}
        clients.append(Client(url, **(limits | options)))
        return clients[-1]

    yield open_client
    for client in clients:
        client.close()
