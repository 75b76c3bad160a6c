"""inspect: what it tells of a key in each state, and that it changes none."""

from __future__ import annotations

import pytest
from lock import Denied, Listen, Lock, owner

A, B, C = owner("a", b=8), owner("b"), owner("c")


def test_free_key(lock: Lock) -> None:
    before = lock.now_us() // 1000
    kind, holder, pttl, token, now = lock.inspect()
    assert (kind, holder, pttl, token) == (b"none", None, -2, None)
    assert before <= now <= lock.now_us() // 1000


def test_held_key_with_waiters(lock: Lock, listen: Listen) -> None:
    listen(B)
    _, first, _ = lock.acquire(A)
    tickets = [lock.acquire(value)[3] for value in (B, C)]
    kind, holder, pttl, token, now, *entries = lock.inspect()
    assert (kind, holder) == (b"string", A)
    assert 0 < pttl <= 5000
    assert int(token) == int(first) + 7
    assert [entries[0::4], entries[1::4], entries[3::4]] == [[B, C], tickets, [1, 0]]
    assert all(now + 4000 < seen <= now + 5000 for seen in entries[2::4])


def test_stale_and_unknown_entries_are_not_live(lock: Lock, listen: Listen) -> None:
    listen(B)
    listen(C)
    lock.acquire(A)
    lock.acquire(B)
    lock.acquire(C)
    lock.make_stale(B)
    lock.connection.call("ZREM", lock.seen, C)
    entries = lock.inspect()[5:]
    assert entries[2::4] == [1, 0]
    assert entries[3::4] == [0, 0]


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (("HSET", "k", "field", "1"), b"hash"),
        (("RPUSH", "k", "1"), b"list"),
        (("SADD", "k", "1"), b"set"),
        (("ZADD", "k", "1", "1"), b"zset"),
        (("XADD", "k", "*", "field", "1"), b"stream"),
    ],
)
def test_key_of_another_type_is_named(lock: Lock, command: tuple[str, ...], kind: bytes) -> None:
    lock.connection.call(*command)
    assert lock.inspect()[:4] == [kind, None, -1, None]


@pytest.mark.parametrize("ttl", [0, 60_000])
def test_record_is_told_from_other_hashes(lock: Lock, ttl: int) -> None:
    lock.run("record_write", (lock.key,), "value", 41, "", ttl)
    kind, holder, pttl, token, _ = lock.inspect()
    assert (kind, holder, token) == (b"record", None, None)
    assert ttl - 5000 < pttl <= ttl or (ttl, pttl) == (0, -1)


@pytest.mark.parametrize(
    "fields",
    [
        ("version", "1"),
        ("version", "0", "token", "1"),
        ("version", "1", "token", "one"),
        ("version", "9007199254740992", "token", "1"),
        ("d24b3e4c-8a3e-4d5c-9d3f-0c1f9f4c7a11:1", "1"),  # as Redisson has it
    ],
)
def test_hash_that_no_record_script_would_take_is_no_record(
    lock: Lock, fields: tuple[str, ...]
) -> None:
    lock.connection.call("HSET", lock.key, *fields)
    assert lock.inspect()[0] == b"hash"


def test_user_without_hashes_is_told_of_one(lock: Lock, denied: Denied) -> None:
    lock.run("record_write", (lock.key,), "value", 41, "", 0)
    assert lock.by(denied("-hmget")).inspect()[0] == b"hash"


def test_foreign_holder_without_expiry(lock: Lock) -> None:
    lock.connection.call("SET", lock.key, "somebody")
    assert lock.inspect()[:4] == [b"string", b"somebody", -1, None]


def test_at_most_a_thousand_entries_are_told(lock: Lock) -> None:
    commands = [("ZADD", lock.queue, index, owner(f"w{index}")) for index in range(1200)]
    lock.connection.pipeline(commands)
    reply = lock.inspect()
    assert len(reply) == 5 + 4 * 1000
    assert reply[5] == owner("w0")


def test_it_only_reads(lock: Lock, denied: Denied) -> None:
    lock.acquire(A)
    lock.acquire(B)
    lock.make_stale(B)
    before = [lock.connection.call("DUMP", key) for key in lock.keys]
    assert lock.by(denied("-@write", "+eval")).inspect()[0] == b"string"
    assert [lock.connection.call("DUMP", key) for key in lock.keys] == before
