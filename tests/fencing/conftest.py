"""Fixtures: both databases, emptied for each test, and a lock server."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import lockc
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from postgres_server import PostgresServer, programs
from recipes import PostgresRecipes, Session, SqliteSession
from redis_server import RedisServer

SCHEMA = "CREATE TABLE orders (id bigint PRIMARY KEY, state text)"


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    if programs() is None:
        pytest.skip("PostgreSQL is not installed")
    with PostgresServer() as running:
        yield running


@pytest.fixture
def postgres_session(postgres: PostgresServer) -> Iterator[Callable[[], PostgresRecipes]]:
    """Opens connections to tables as the recipes want them."""
    opened: list[PostgresRecipes] = []

    def connect() -> PostgresRecipes:
        opened.append(PostgresRecipes(postgres.connect()))
        return opened[-1]

    first = connect()
    for statement in ("SET client_min_messages TO warning", "DROP TABLE IF EXISTS orders, fences"):
        first.execute(statement)
    make_tables(first)
    yield connect
    for one in opened:
        one.close()


@pytest.fixture
def sqlite_session(tmp_path: Path) -> Iterator[Callable[[], SqliteSession]]:
    opened: list[SqliteSession] = []

    def connect() -> SqliteSession:
        opened.append(SqliteSession(tmp_path / "orders.db"))
        return opened[-1]

    make_tables(connect())
    yield connect
    for one in opened:
        one.close()


def make_tables(session: SqliteSession | PostgresRecipes) -> None:
    session.execute(SCHEMA)
    session.execute("INSERT INTO orders (id, state) VALUES (42, 'new')")
    session.run("column")
    session.run("table")


@pytest.fixture(params=["sqlite", "postgres"])
def connect(request: pytest.FixtureRequest) -> Callable[[], Session]:
    opener: Callable[[], Session] = request.getfixturevalue(f"{request.param}_session")
    return opener


@pytest.fixture
def session(connect: Callable[[], Session]) -> Session:
    return connect()


@pytest.fixture
def client() -> Iterator[lockc.Client]:
    with RedisServer() as server, lockc.Client(server.url) as opened:
        yield opened
