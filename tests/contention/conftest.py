"""Fixtures: a server, a proxy, clients through it and past it, competing processes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))
sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
sys.path.insert(0, str(Path(__file__).parents[1] / "contention"))

from coroutines import pytest_pyfunc_call
from fixtures import (
    end_a_call_that_hangs,
    open_client,
    proxy,
    pytest_configure,
    raw,
    server,
)
from lockc_abi import Client, OpenClient
from proxy import Proxy
from redis_server import RedisServer
from watching import Monitor
from workers import Worker

__all__ = [
    "end_a_call_that_hangs",
    "open_client",
    "proxy",
    "pytest_configure",
    "pytest_pyfunc_call",
    "raw",
    "server",
]


@pytest.fixture(scope="session")
def shared_server() -> Iterator[RedisServer]:
    with RedisServer({"enable_debug_command": "local"}) as server:
        yield server


@pytest.fixture
def monitor(server: RedisServer) -> Iterator[Monitor]:
    with Monitor(server) as monitor:
        yield monitor


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
