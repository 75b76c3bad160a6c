"""Fixtures: a server, a proxy in front of it, clients through the proxy and past it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from fixtures import end_a_call_that_hangs, open_client, proxy, pytest_configure, raw, server
from lockc_abi import Client, OpenClient
from proxy import Proxy
from redis_server import RedisServer

__all__ = ["end_a_call_that_hangs", "open_client", "proxy", "pytest_configure", "raw", "server"]


@pytest.fixture(scope="session")
def shared_server() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


@pytest.fixture
def own_server() -> Iterator[RedisServer]:
    """A server to be frozen, restarted and turned into a replica."""
    with RedisServer() as server:
        yield server


@pytest.fixture
def near(proxy: Proxy, open_client: OpenClient) -> Client:
    """A client through the proxy, connected, its scripts loaded."""
    client = open_client(proxy.url)
    client.acquire("warm-up").release()
    return client


@pytest.fixture
def past(server: RedisServer, open_client: OpenClient) -> Client:
    """A client that no fault touches, connected."""
    client = open_client(server.url)
    client.connect()
    return client
