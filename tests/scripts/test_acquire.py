"""acquire on a key that nobody waits for, and its answers."""

from __future__ import annotations

import pytest
from lock import Listen, Lock, owner
from resp import Connection, ServerError

A, B, C = owner("a"), owner("b"), owner("c")


def test_free_key_is_granted_with_expiry_and_a_token_of_the_clock(lock: Lock) -> None:
    before = lock.now_us()
    status, first, n = lock.acquire(A)
    assert (status, n) == (1, 1)
    assert before <= int(first) <= lock.now_us()
    assert lock.holder() == A
    assert 0 < lock.pttl() <= 5000
    assert lock.last_token() == int(first)


def test_block_of_tokens_is_reserved_at_once(lock: Lock) -> None:
    _, first, n = lock.acquire(owner("a", b=8))
    assert n == 8
    assert lock.last_token() == int(first) + 7


def test_unfenced_owner_takes_one_token(lock: Lock) -> None:
    _, first, n = lock.acquire(owner("a", b=0))
    assert n == 1
    assert lock.last_token() == int(first)


def test_asking_again_for_what_is_ours_gives_a_new_block(lock: Lock) -> None:
    value = owner("a", b=4)
    _, first, n = lock.acquire(value)
    _, again, _ = lock.acquire(value)
    assert int(again) >= int(first) + n
    assert lock.last_token() == int(again) + 3
    assert lock.holder() == value


@pytest.mark.parametrize("wait", [0, 1])
def test_asking_again_prolongs_to_the_ttl(lock: Lock, wait: int) -> None:
    lock.acquire(A)
    lock.connection.call("PEXPIRE", lock.key, 100)
    lock.acquire(A, wait=wait)
    assert lock.pttl() > 4000


def test_asking_again_never_shortens_the_lease(lock: Lock) -> None:
    lock.acquire(A)
    lock.renew(90_000, A)
    lock.acquire(A)
    assert lock.pttl() > 80_000


def test_held_key_without_wait_is_busy_and_nothing_is_left(lock: Lock) -> None:
    lock.acquire(A)
    status, pttl, waiters, lockc = lock.acquire(B, wait=0)
    assert (status, waiters, lockc) == (0, 0, 1)
    assert 0 < pttl <= 5000
    assert lock.left() == {lock.key, lock.fence}


def test_busy_tells_how_many_wait(lock: Lock) -> None:
    lock.acquire(A)
    lock.acquire(B)
    lock.acquire(C)
    assert lock.acquire(owner("d"), wait=0)[2] == 2


def test_plain_holder_is_seen_as_foreign(lock: Lock) -> None:
    lock.connection.call("SET", lock.key, "somebody")
    assert lock.acquire(A, wait=0) == [0, -1, 0, 0]
    status, pttl, position, _, _, lockc = lock.acquire(A)
    assert (status, pttl, position, lockc) == (2, -1, 0, 0)
    assert lock.holder() == b"somebody"


def test_plain_set_nx_client_is_excluded(lock: Lock) -> None:
    lock.acquire(A)
    assert lock.connection.call("SET", lock.key, "somebody", "NX", "PX", 5000) is None


def test_owner_by_plain_set_is_granted_tokens_by_the_script(lock: Lock) -> None:
    value = owner("a", b=0)
    lock.connection.call("SET", lock.key, value, "NX", "PX", 5000)
    status, first, n = lock.acquire(value)
    assert (status, n) == (1, 1)
    assert lock.last_token() == int(first)


@pytest.mark.parametrize("wait", [0, 1])
def test_key_of_another_type_is_refused_and_untouched(lock: Lock, wait: int) -> None:
    lock.connection.call("HSET", lock.key, "field", "1")
    with pytest.raises(ServerError, match="WRONGTYPE"):
        lock.acquire(A, wait=wait)
    assert lock.left() == {lock.key}


def test_owner_value_of_another_form_changes_nothing(lock: Lock) -> None:
    with pytest.raises(ServerError):
        lock.acquire(b"no-owner-value")
    lock.acquire(A)
    with pytest.raises(ServerError):
        lock.acquire(b"no-owner-value")
    assert lock.left() == {lock.key, lock.fence}


@pytest.mark.parametrize("key", [b"\x00\xff\r\n bin", b"a b", b"{tag}:x", b"lc1:", b"%s%d"])
def test_key_may_hold_any_bytes(
    lock: Lock, listen: Listen, connection: Connection, key: bytes
) -> None:
    named = Lock(lock.scripts, connection, key)
    waiter = listen(B)
    named.acquire(A)
    named.acquire(B)
    assert named.release(A) == [1, 0, 1]
    assert waiter.message().split(b" ", 3)[3] == key
    assert named.holder() == B


def test_scripts_run_by_their_embedded_digest(lock: Lock) -> None:
    for script in lock.scripts.values():
        assert lock.connection.call("SCRIPT", "LOAD", script.text).decode() == script.sha1
    acquire = lock.scripts["acquire"]
    assert lock.connection.call("EVALSHA", acquire.sha1, 4, *lock.keys, A, 0, 0, 1000) > 1
