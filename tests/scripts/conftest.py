"""Fixtures: one server for the suite, emptied between tests, and the embedded scripts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import embedded
from lock import Connect, Denied, FillMemory, Listen, Lock, client_of
from redis_server import RedisServer
from resp import Connection


@pytest.fixture(scope="session")
def server() -> Iterator[RedisServer]:
    with RedisServer() as running:
        yield running


@pytest.fixture(scope="session")
def scripts() -> dict[str, embedded.Script]:
    return embedded.load()


@pytest.fixture
def connect(server: RedisServer) -> Iterator[Connect]:
    opened: list[Connection] = []

    def connection(**options: object) -> Connection:
        opened.append(server.connect(**options))
        return opened[-1]

    yield connection
    for one in opened:
        one.close()


@pytest.fixture
def connection(connect: Connect) -> Iterator[Connection]:
    one = connect()
    one.call("FLUSHALL")
    yield one
    one.call("CONFIG", "SET", "maxmemory", 0)


@pytest.fixture
def lock(scripts: dict[str, embedded.Script], connection: Connection) -> Lock:
    return Lock(scripts, connection, b"k")


@pytest.fixture
def listen(connect: Connect) -> Listen:
    """Subscribes to the channel of an owner value's client."""

    def subscribed(value: bytes) -> Connection:
        one = connect()
        one.subscribe(f"lockc:wake:{client_of(value)}")
        return one

    return subscribed


@pytest.fixture
def full_memory(connection: Connection) -> FillMemory:
    """Puts the server above its memory limit from now to the end of the test."""
    return lambda: connection.call("CONFIG", "SET", "maxmemory", 1)


@pytest.fixture
def denied(connection: Connection, connect: Connect) -> Denied:
    """Connects as a user who may do all but what these ACL rules take away."""

    def user(*rules: str) -> Connection:
        connection.call(
            "ACL", "SETUSER", "restricted", "reset", "on", "nopass", "~*", "&*", "+@all", *rules
        )
        return connect(username="restricted", password="any")

    return user
