"""Fixtures: a server, a proxy, clients through it and past it, competing processes."""

from __future__ import annotations

import asyncio
import faulthandler
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))
sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
sys.path.insert(0, str(Path(__file__).parents[1] / "contention"))

from lockc_abi import Client, OpenClient, Option
from proxy import Proxy
from redis_server import RedisServer
from resp import Connection
from scale import scaled
from timing import REPLY_MS
from watching import Monitor
from workers import Worker

TEST_LIMIT = scaled(60, 600)


@pytest.fixture(autouse=True)
def end_a_call_that_hangs() -> Iterator[None]:
    """A call into the library can't be interrupted: a hanging one ends the run, with its trace."""
    faulthandler.dump_traceback_later(TEST_LIMIT, exit=True, file=sys.__stderr__)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs a test that is a coroutine in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    asyncio.run(pyfuncitem.obj(**arguments))
    return True


@pytest.fixture(scope="session")
def shared_server() -> Iterator[RedisServer]:
    with RedisServer({"enable_debug_command": "local"}) as server:
        yield server


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
def monitor(server: RedisServer) -> Iterator[Monitor]:
    with Monitor(server) as monitor:
        yield monitor


@pytest.fixture
def proxy(server: RedisServer) -> Iterator[Proxy]:
    with Proxy(server.port) as proxy:
        yield proxy


@pytest.fixture
def open_client() -> Iterator[OpenClient]:
    """Opens clients of short time limits, connected; they are closed at the end."""
    clients: list[Client] = []

    def open_client(url: str, **options: Option) -> Client:
        limits = {"connect_timeout_ms": REPLY_MS, "reply_timeout_ms": REPLY_MS}
        clients.append(Client(url, **(limits | options)))
        return clients[-1]

    yield open_client
    for client in clients:
        client.close()


@pytest.fixture
def holder(server: RedisServer, open_client: OpenClient) -> Client:
    """The client that has the key first; no fault touches it."""
    client = open_client(server.url, reply_timeout_ms=5000)
    client.acquire("warm-up").release()
    return client


@pytest.fixture
def waiter(proxy: Proxy, open_client: OpenClient) -> Client:
    """The client that waits, through the proxy, its scripts loaded."""
    client = open_client(proxy.url)
    client.acquire("warm-up").release()
    return client


@pytest.fixture
def start(server: RedisServer) -> Iterator[Callable[..., Worker]]:
    """Starts competing processes on a key; killed at the end."""
    workers: list[Worker] = []

    def start(key: str = "key", **plan: Any) -> Worker:  # noqa: ANN401 - JSON
        workers.append(Worker(server.url, key, **plan))
        return workers[-1]

    yield start
    for worker in workers:
        worker.end()
