"""release: giving back, cancelling, and the hand-over to the next in the queue."""

from __future__ import annotations

import pytest
from lock import Connect, Listen, Lock, Message, owner
from resp import Connection

A, B, C = owner("a"), owner("b"), owner("c")


def test_release_deletes_what_is_ours_and_leaves_only_the_fence(lock: Lock) -> None:
    lock.acquire(A)
    assert lock.release(A) == [1, 0, 0]
    assert lock.left() == {lock.fence}


def test_second_release_finds_nothing(lock: Lock) -> None:
    lock.acquire(A)
    lock.release(A)
    assert lock.release(A) == [0, 0, 0]
    assert lock.left() == {lock.fence}


@pytest.mark.parametrize("holder", [B, b"somebody"])
def test_what_is_another_s_stays(lock: Lock, holder: bytes) -> None:
    lock.connection.call("SET", lock.key, holder, "PX", 5000)
    assert lock.release(A) == [0, 0, 0]
    assert lock.holder() == holder


def test_next_waiter_is_granted_in_the_same_step_and_told(lock: Lock, listen: Listen) -> None:
    waiter = listen(B)
    _, token, _ = lock.acquire(A)
    lock.acquire(B)
    lock.acquire(C)
    assert lock.release(A) == [1, 0, 1]
    message = Message.parse(waiter.message())
    assert message == Message(B, lock.last_token(), 1, b"k")
    assert message.first > int(token)
    assert (lock.holder(), lock.waiting()) == (B, [C])
    assert lock.connection.call("ZRANGE", lock.seen, 0, -1) == [C]


def test_cancel_of_a_waiter_takes_it_out(lock: Lock) -> None:
    lock.acquire(A)
    lock.acquire(B)
    assert lock.release(B) == [0, 1, 0]
    assert lock.holder() == A
    assert lock.left() == {lock.key, lock.fence}


def test_cancel_of_the_head_on_a_free_key_grants_the_next(lock: Lock, listen: Listen) -> None:
    waiter = listen(C)
    lock.acquire(A)
    lock.acquire(B)
    lock.acquire(C)
    lock.lapse()
    assert lock.release(B) == [0, 1, 1]
    assert Message.parse(waiter.message()).owner == C
    assert lock.holder() == C


def test_cancelled_waiter_is_not_granted_though_it_is_live(lock: Lock, listen: Listen) -> None:
    waiter = listen(B)
    lock.acquire(A)
    lock.acquire(B)
    lock.lapse()
    assert lock.release(B) == [0, 1, 0]
    assert lock.left() == {lock.fence}
    assert waiter.message(0.05) is None


def test_holder_that_still_has_a_place_leaves_it(lock: Lock, listen: Listen) -> None:
    listen(B)
    lock.acquire(A)
    lock.acquire(B)
    lock.connection.call("SET", lock.key, B, "PX", 5000)
    assert lock.release(B) == [1, 1, 0]
    assert lock.left() == {lock.fence}


def test_release_on_a_free_key_without_own_place_grants_the_waiter(
    lock: Lock, listen: Listen
) -> None:
    listen(B)
    lock.acquire(A)
    lock.acquire(B)
    lock.lapse()
    assert lock.release(A) == [0, 0, 1]
    assert lock.holder() == B


def test_dead_waiters_only_get_the_key_deleted_and_the_first_a_hint(
    lock: Lock, connect: Connect
) -> None:
    """Nobody subscribes the channel when the script looks, so the hint is seen by a pattern."""
    watcher = connect()
    watcher.call("PSUBSCRIBE", "lockc:wake:*")
    lock.acquire(A)
    lock.acquire(B)
    lock.acquire(C)
    assert lock.release(A) == [1, 0, 0]
    assert lock.holder() is None
    assert watcher.read(5.0) == [
        b"pmessage",
        b"lockc:wake:*",
        b"lockc:wake:b",
        b"lc1:b:1:x:5000:1 0 0 k",
    ]
    assert lock.waiting() == [B, C]


def test_stale_waiters_get_no_hint(lock: Lock, connect: Connect) -> None:
    watcher = connect()
    watcher.call("PSUBSCRIBE", "lockc:wake:*")
    lock.acquire(A)
    lock.acquire(B)
    lock.make_stale(B)
    assert lock.release(A) == [1, 0, 0]
    lock.connection.call("PUBLISH", "lockc:wake:end", "end")
    assert watcher.read(5.0)[3] == b"end"
    assert lock.waiting() == []


def test_waiter_passed_over_gets_no_hint_when_another_is_granted(
    lock: Lock, listen: Listen, connect: Connect
) -> None:
    watcher = connect()
    watcher.call("PSUBSCRIBE", "lockc:wake:*")
    listen(C)
    lock.acquire(A)
    lock.acquire(B)
    lock.acquire(C)
    assert lock.release(A) == [1, 0, 1]
    assert watcher.read(5.0)[2] == b"lockc:wake:c"
    lock.connection.call("PUBLISH", "lockc:wake:end", "end")
    assert watcher.read(5.0)[3] == b"end"


def test_cancel_works_though_the_key_has_another_type(lock: Lock) -> None:
    lock.acquire(A)
    lock.acquire(B)
    lock.lapse()
    lock.connection.call("HSET", lock.key, "field", "1")
    assert lock.release(B) == [0, 1, 0]
    assert lock.waiting() == []
    assert lock.connection.call("TYPE", lock.key) == b"hash"


def test_efficiency_lock_hands_over_like_any_other(
    lock: Lock, listen: Listen, connection: Connection
) -> None:
    waiter = listen(B)
    value = owner("a", b=0)
    connection.call("SET", lock.key, value, "NX", "PX", 5000)
    lock.acquire(B)
    assert lock.release(value) == [1, 0, 1]
    assert Message.parse(waiter.message()).owner == B


def test_efficiency_waiter_is_granted_one_token(lock: Lock, listen: Listen) -> None:
    value = owner("b", b=0)
    waiter = listen(value)
    lock.acquire(A)
    lock.acquire(value)
    lock.release(A)
    assert Message.parse(waiter.message()).n == 1
