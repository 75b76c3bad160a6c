"""The statements of examples/fencing, on PostgreSQL and on SQLite, through one face."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Protocol

from postgres_server import PostgresSession

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "fencing"

Value = str | int


def recipe(name: str) -> str:
    return (FOLDER / f"{name}.sql").read_text().strip()


class Session(Protocol):
    """One connection to a database."""

    def run(self, name: str, **values: Value) -> int:
        """Runs a recipe and tells how many rows it has changed."""

    def rows(self, query: str) -> list[tuple[Value, ...]]: ...

    def begin(self) -> None: ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def close(self) -> None: ...


class SqliteSession:
    def __init__(self, path: Path) -> None:
        # A wait for another writer is bounded only by the test's own patience.
        self._connection = sqlite3.connect(
            path, timeout=60, isolation_level=None, check_same_thread=False
        )

    def run(self, name: str, **values: Value) -> int:
        return self._connection.execute(recipe(name), values).rowcount

    def rows(self, query: str) -> list[tuple[Value, ...]]:
        return self._connection.execute(query).fetchall()

    def execute(self, statement: str) -> None:
        self._connection.execute(statement)

    def begin(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self._connection.execute("COMMIT")

    def rollback(self) -> None:
        self._connection.execute("ROLLBACK")

    def close(self) -> None:
        self._connection.close()


class PostgresRecipes:
    def __init__(self, session: PostgresSession) -> None:
        self.session = session

    def run(self, name: str, **values: Value) -> int:
        self.send(name, **values)
        return self.changed()

    def send(self, name: str, **values: Value) -> None:
        """Begins a recipe that may have to wait; changed() tells its end."""
        quoted = {
            key: str(value) if isinstance(value, int) else f"'{value}'"
            for key, value in values.items()
        }
        self.session.send(re.sub(r":(\w+)", lambda found: quoted[found[1]], recipe(name)))

    def changed(self) -> int:
        (tag,) = self.session.answer()
        match = re.fullmatch(r"(?:UPDATE|INSERT 0) (\d+)|(?:ALTER|CREATE) TABLE", tag)
        assert match, tag
        return int(match[1] or 0)

    def rows(self, query: str) -> list[tuple[Value, ...]]:
        return [
            tuple(int(field) if field.isdigit() else field for field in line.split("|"))
            for line in self.session.execute(query)
        ]

    def execute(self, statement: str) -> None:
        self.session.execute(statement)

    def begin(self) -> None:
        self.session.execute("BEGIN")

    def commit(self) -> None:
        self.session.execute("COMMIT")

    def rollback(self) -> None:
        self.session.execute("ROLLBACK")

    def close(self) -> None:
        self.session.close()
