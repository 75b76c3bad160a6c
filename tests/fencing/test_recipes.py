"""The recipes of docs/fencing.md refuse a late writer, on PostgreSQL and on SQLite alike."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

import lockc
import pytest
from recipes import FOLDER, ROOT, Session, SqliteSession, recipe

ORDER = "SELECT state, fence FROM orders WHERE id = 42"


def test_document_shows_the_statements_that_are_tested() -> None:
    page = (ROOT / "docs" / "fencing.md").read_text()
    shown = re.findall(r"^```sql\n(.*?)\n```", page, re.DOTALL | re.MULTILINE)
    assert sorted(shown) == sorted(recipe(path.stem) for path in FOLDER.glob("*.sql"))


def test_rows_from_before_the_column_let_any_token_pass(session: Session) -> None:
    assert session.rows(ORDER) == [("new", 0)]
    assert session.run("update", id=42, state="paid", token=1) == 1
    assert session.rows(ORDER) == [("paid", 1)]


@pytest.mark.parametrize("statement", ["update", "upsert"])
def test_smaller_token_changes_no_row(session: Session, statement: str) -> None:
    assert session.run(statement, id=42, state="paid", token=34) == 1
    assert session.run(statement, id=42, state="late", token=33) == 0
    assert session.rows(ORDER) == [("paid", 34)]


@pytest.mark.parametrize("statement", ["update", "upsert"])
def test_equal_and_larger_tokens_pass(session: Session, statement: str) -> None:
    for state, token in (("paid", 34), ("packed", 34), ("sent", 2**53 - 1)):
        assert session.run(statement, id=42, state=state, token=token) == 1
        assert session.rows(ORDER) == [(state, token)]


def test_update_of_a_row_that_is_not_there_changes_none(session: Session) -> None:
    assert session.run("update", id=43, state="paid", token=34) == 0


def test_upsert_makes_a_row_that_is_fenced_from_its_first_write(session: Session) -> None:
    assert session.run("upsert", id=43, state="new", token=34) == 1
    assert session.run("upsert", id=43, state="late", token=33) == 0
    assert session.rows("SELECT state, fence FROM orders WHERE id = 43") == [("new", 34)]


def test_table_of_fences_refuses_a_whole_transaction(session: Session) -> None:
    def transaction(state: str, token: int) -> bool:
        session.begin()
        if session.run("check", key="orders", token=token) == 0:
            session.rollback()
            return False
        session.run("update", id=42, state=state, token=token)
        session.commit()
        return True

    assert transaction("paid", 34)
    assert not transaction("late", 33)
    assert transaction("packed", 34)
    assert session.rows(ORDER) == [("packed", 34)]
    assert session.rows("SELECT key, token FROM fences") == [("orders", 34)]


def test_holder_that_paused_past_its_lease_cannot_write_behind_the_next(
    session: Session, client: lockc.Client
) -> None:
    lock = client.lock("orders:42", ttl=1, permissive=True)
    with lock as paused:
        assert paused.lost.wait(timeout=20)  # it sleeps, and does not look
        with client.lock("orders:42") as following:
            assert session.run("update", id=42, state="by the next", token=following.token) == 1
        assert session.run("update", id=42, state="late", token=paused.token) == 0
    assert session.rows("SELECT state FROM orders WHERE id = 42") == [("by the next",)]


@pytest.mark.parametrize("statement", ["update", "upsert"])
def test_late_writer_that_waits_for_a_larger_token_s_commit_changes_no_row(
    sqlite_session: Callable[[], SqliteSession], statement: str
) -> None:
    """SQLite lets one writer in at a time; see test_postgres.py for the other database."""
    current, late = sqlite_session(), sqlite_session()
    current.begin()
    assert current.run(statement, id=42, state="paid", token=34) == 1
    changed = []
    writer = threading.Thread(
        target=lambda: changed.append(late.run(statement, id=42, state="late", token=33))
    )
    writer.start()
    current.commit()
    writer.join()
    assert changed == [0]
    assert late.rows(ORDER) == [("paid", 34)]
