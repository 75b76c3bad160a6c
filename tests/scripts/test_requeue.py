"""requeue: giving the key back and standing in the queue for it again in one step."""

from __future__ import annotations

import pytest
from lock import Listen, Lock, Message, owner
from resp import ServerError

V1, V2, V3 = (owner("a", seq) for seq in (1, 2, 3))
B = owner("b")


def test_alone_it_takes_the_key_for_the_next_owner_value(lock: Lock) -> None:
    _, token, _ = lock.acquire(V1)
    ours, (status, first, n) = lock.requeue(V1, V2)
    assert (ours, status, n) == (1, 1, 1)
    assert int(first) > int(token)
    assert lock.holder() == V2
    assert lock.left() == {lock.key, lock.fence}


def test_with_a_waiter_it_hands_over_and_queues_behind(lock: Lock, listen: Listen) -> None:
    waiter = listen(B)
    lock.acquire(V1)
    lock.acquire(B)
    ours, (status, pttl, position, ticket, mark, lockc) = lock.requeue(V1, V2)
    assert (ours, status, position, lockc) == (1, 2, 0, 1)
    assert 0 < pttl <= 5000
    message = Message.parse(waiter.message())
    assert message == Message(B, int(mark), 1, b"k")
    assert (lock.holder(), lock.waiting()) == (B, [V2])
    assert int(ticket) > 0


def test_new_value_stands_behind_all_that_wait(lock: Lock, listen: Listen) -> None:
    listen(B)
    others = [owner(name) for name in "cde"]
    lock.acquire(V1)
    for value in (B, *others):
        lock.acquire(value)
    assert lock.requeue(V1, V2)[1][2] == 3
    assert lock.waiting() == [*others, V2]


def test_sent_again_it_draws_anew_for_the_value_that_holds(lock: Lock) -> None:
    lock.acquire(V1)
    _, (_, first, _) = lock.requeue(V1, V2)
    ours, (status, again, _) = lock.requeue(V1, V2)
    assert (ours, status) == (0, 1)
    assert int(again) > int(first)
    assert lock.holder() == V2


def test_sent_again_it_keeps_the_place(lock: Lock, listen: Listen) -> None:
    listen(B)
    lock.acquire(V1)
    lock.acquire(B)
    ticket = lock.requeue(V1, V2)[1][3]
    lock.acquire(owner("c"))
    ours, reply = lock.requeue(V1, V2)
    assert ours == 0
    assert reply[2:4] == [0, ticket]


def test_dead_waiters_are_passed_over(lock: Lock) -> None:
    lock.acquire(V1)
    lock.acquire(B)
    assert lock.requeue(V1, V2)[1][0] == 1
    assert (lock.holder(), lock.waiting()) == (V2, [B])


def test_after_the_lease_ran_out_it_is_an_acquire(lock: Lock) -> None:
    lock.acquire(V1)
    lock.lapse()
    ours, (status, _, _) = lock.requeue(V1, V2)
    assert (ours, status) == (0, 1)
    assert lock.holder() == V2


def test_another_holder_is_left_alone_and_waited_for(lock: Lock) -> None:
    lock.acquire(V1)
    lock.connection.call("SET", lock.key, B, "PX", 5000)
    ours, reply = lock.requeue(V1, V2)
    assert (ours, reply[0]) == (0, 2)
    assert (lock.holder(), lock.waiting()) == (B, [V2])


def test_place_of_the_given_up_value_is_left_and_never_served(lock: Lock, listen: Listen) -> None:
    listen(V1)
    lock.acquire(B)
    lock.acquire(V1)
    lock.lapse()
    assert lock.requeue(V1, V2)[1][0] == 1
    assert (lock.holder(), lock.waiting()) == (V2, [])


def test_unusable_fence_changes_nothing_until_the_release(lock: Lock) -> None:
    lock.acquire(V1)
    lock.connection.call("SET", lock.fence, "none")
    with pytest.raises(ServerError, match=r"^LOCKCFENCE"):
        lock.requeue(V1, V2)
    assert lock.holder() == V1
    assert lock.release(V1) == [1, 0, 0]


def test_key_of_another_type_is_refused(lock: Lock) -> None:
    lock.connection.call("HSET", lock.key, "field", "1")
    with pytest.raises(ServerError, match="WRONGTYPE"):
        lock.requeue(V1, V2)
    assert lock.left() == {lock.key}
