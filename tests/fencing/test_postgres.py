"""Two connections to PostgreSQL at once: a late writer waits for the row, and is then refused."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from recipes import PostgresRecipes

ORDER = "SELECT state, fence FROM orders WHERE id = 42"
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
WITHIN = 20.0

Connect = Callable[[], PostgresRecipes]


def until_one_waits(session: PostgresRecipes) -> None:
    """Only the server knows that a connection waits for the row of another."""
    deadline = time.monotonic() + WITHIN
    while session.rows(WAITING) != [(1,)]:
        assert time.monotonic() < deadline, "nobody waits"
        time.sleep(0.01)


def late_writer(connect: Connect, level: str) -> PostgresRecipes:
    """A connection in a transaction that has begun, and read, before the current holder writes."""
    late = connect()
    late.execute(f"BEGIN ISOLATION LEVEL {level}")
    assert late.rows(ORDER) == [("new", 0)]
    return late


@pytest.mark.parametrize("statement", ["update", "upsert"])
def test_read_committed_finds_the_larger_token_when_it_is_committed(
    postgres_session: Connect, statement: str
) -> None:
    current, late = postgres_session(), late_writer(postgres_session, "READ COMMITTED")
    current.begin()
    assert current.run(statement, id=42, state="paid", token=34) == 1
    late.send(statement, id=42, state="late", token=33)
    until_one_waits(postgres_session())
    current.commit()
    assert late.changed() == 0
    late.commit()
    assert current.rows(ORDER) == [("paid", 34)]


def test_write_that_is_rolled_back_leaves_no_token(postgres_session: Connect) -> None:
    current, late = postgres_session(), late_writer(postgres_session, "READ COMMITTED")
    current.begin()
    assert current.run("update", id=42, state="paid", token=34) == 1
    late.send("update", id=42, state="early", token=33)
    until_one_waits(postgres_session())
    current.rollback()
    assert late.changed() == 1
    late.commit()
    assert current.rows(ORDER) == [("early", 33)]


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
@pytest.mark.parametrize("statement", ["update", "upsert"])
def test_stricter_levels_fail_the_transaction_and_its_repetition_changes_no_row(
    postgres_session: Connect, level: str, statement: str
) -> None:
    current, late = postgres_session(), late_writer(postgres_session, level)
    assert current.run(statement, id=42, state="paid", token=34) == 1
    late.send(statement, id=42, state="late", token=33)
    answer = late.session.answer()
    assert answer == ["ERROR:  could not serialize access due to concurrent update"]
    late.rollback()
    late.execute(f"BEGIN ISOLATION LEVEL {level}")
    assert late.run(statement, id=42, state="late", token=33) == 0
    late.commit()
    assert current.rows(ORDER) == [("paid", 34)]


def test_table_of_fences_keeps_a_late_transaction_out_until_the_current_one_ends(
    postgres_session: Connect,
) -> None:
    current, late = postgres_session(), postgres_session()
    current.begin()
    assert current.run("check", key="orders", token=34) == 1
    late.begin()
    late.send("check", key="orders", token=33)
    until_one_waits(postgres_session())
    current.run("update", id=42, state="paid", token=34)
    current.commit()
    assert late.changed() == 0
    late.rollback()
    assert current.rows(ORDER) == [("paid", 34)]
