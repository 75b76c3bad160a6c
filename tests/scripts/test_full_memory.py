"""A server at maxmemory: what would take memory is refused whole, what gives back goes on."""

from __future__ import annotations

import pytest
from lock import FillMemory, Listen, Lock, Message, owner
from resp import ServerError

A, B, C = owner("a"), owner("b"), owner("c")
OUT_OF_MEMORY = "OOM"


def test_acquire_of_a_free_key_is_refused_with_nothing_changed(
    lock: Lock, full_memory: FillMemory
) -> None:
    full_memory()
    with pytest.raises(ServerError, match=OUT_OF_MEMORY):
        lock.acquire(A)
    assert lock.left() == set()


def test_acquire_past_dead_waiters_is_refused_with_nothing_changed(
    lock: Lock, full_memory: FillMemory
) -> None:
    lock.acquire(A)
    lock.acquire(B)
    lock.make_stale(B)
    lock.lapse()
    before = lock.last_token()
    full_memory()
    with pytest.raises(ServerError, match=OUT_OF_MEMORY):
        lock.acquire(C)
    assert lock.holder() is None
    assert lock.last_token() == before
    assert lock.waiting() == [B]


def test_new_place_in_the_queue_is_refused_with_nothing_changed(
    lock: Lock, full_memory: FillMemory
) -> None:
    lock.acquire(A)
    full_memory()
    with pytest.raises(ServerError, match=OUT_OF_MEMORY):
        lock.acquire(B)
    assert lock.left() == {lock.key, lock.fence}


def test_busy_is_told(lock: Lock, full_memory: FillMemory) -> None:
    lock.acquire(A)
    full_memory()
    assert lock.acquire(B, wait=0)[0] == 0


@pytest.mark.parametrize("wait", [0, 1])
def test_acquire_sent_again_finds_its_grant(lock: Lock, full_memory: FillMemory, wait: int) -> None:
    lock.acquire(A)
    full_memory()
    assert lock.acquire(A, wait=wait)[0] == 1


def test_poll_of_a_waiter_works(lock: Lock, full_memory: FillMemory) -> None:
    lock.acquire(A)
    lock.acquire(B)
    full_memory()
    assert lock.acquire(B)[0] == 2


def test_poll_of_a_waiter_is_granted_the_free_key(lock: Lock, full_memory: FillMemory) -> None:
    lock.acquire(A)
    lock.acquire(B)
    lock.lapse()
    full_memory()
    assert lock.acquire(B)[0] == 1
    assert lock.holder() == B


def test_release_grants_the_next(lock: Lock, full_memory: FillMemory, listen: Listen) -> None:
    waiter = listen(B)
    lock.acquire(A)
    lock.acquire(B)
    full_memory()
    assert lock.release(A) == [1, 0, 1]
    assert Message.parse(waiter.message()).owner == B
    assert lock.release(B) == [1, 0, 0]


def test_cancel_renew_requeue_and_drop_work(lock: Lock, full_memory: FillMemory) -> None:
    second = owner("a", 2)
    lock.acquire(A)
    lock.acquire(B)
    full_memory()
    assert lock.release(B) == [0, 1, 0]
    assert lock.renew(9000, A)
    assert lock.requeue(A, second)[1][0] == 1
    assert lock.drop(second) == 1
