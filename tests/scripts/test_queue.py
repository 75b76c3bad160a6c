"""Waiting: places, tickets, who counts as alive, and who is granted when K is free."""

from __future__ import annotations

import pytest
from lock import Connect, Listen, Lock, Message, owner

A, B, C, D = (owner(name) for name in "abcd")


def test_waiters_stand_in_the_order_of_their_first_asking(lock: Lock) -> None:
    lock.acquire(A)
    replies = [lock.acquire(value) for value in (B, C, D)]
    assert [reply[0] for reply in replies] == [2, 2, 2]
    assert [reply[2] for reply in replies] == [0, 1, 2]
    tickets = [int(reply[3]) for reply in replies]
    assert tickets == sorted(set(tickets))
    assert lock.waiting() == [B, C, D]


def test_queued_reply_has_pttl_mark_and_form_of_the_holder(lock: Lock) -> None:
    _, first, n = lock.acquire(owner("a", b=8))
    _, pttl, _, _, mark, lockc = lock.acquire(B)
    assert 0 < pttl <= 5000
    assert int(mark) == int(first) + n - 1
    assert lockc == 1


def test_mark_is_the_clock_where_no_token_is_known(lock: Lock) -> None:
    lock.connection.call("SET", lock.key, "somebody", "PX", 5000)
    before = lock.now_us()
    mark = int(lock.acquire(B)[4])
    assert before <= mark <= lock.now_us()
    assert not lock.connection.call("EXISTS", lock.fence)


def test_poll_keeps_ticket_and_place(lock: Lock) -> None:
    lock.acquire(A)
    ticket = lock.acquire(B)[3]
    lock.acquire(C)
    polled = lock.acquire(B, ticket=ticket)
    assert polled[2:4] == [0, ticket]
    assert lock.waiting() == [B, C]


def test_lost_place_is_regained_with_the_ticket(lock: Lock) -> None:
    lock.acquire(A)
    ticket = lock.acquire(B)[3]
    lock.acquire(C)
    lock.connection.call("ZREM", lock.queue, B)
    assert lock.acquire(B, ticket=ticket)[2:4] == [0, ticket]
    assert lock.waiting() == [B, C]


def test_lost_queue_is_restored_by_the_polls_in_its_order(lock: Lock) -> None:
    lock.acquire(A)
    tickets = {value: lock.acquire(value)[3] for value in (B, C, D)}
    lock.connection.call("DEL", lock.queue, lock.seen)
    for value in (D, B, C):
        lock.acquire(value, ticket=tickets[value])
    assert lock.waiting() == [B, C, D]


def test_newcomer_stands_behind_a_ticket_ahead_of_the_clock(lock: Lock) -> None:
    lock.acquire(A)
    ahead = lock.now_us() + 10_000_000
    lock.acquire(B, ticket=ahead)
    assert lock.acquire(C)[3] == str(ahead + 1).encode()
    assert lock.waiting() == [B, C]


def test_free_key_goes_to_the_first_live_waiter_not_to_the_newcomer(
    lock: Lock, listen: Listen
) -> None:
    waiter = listen(B)
    lock.acquire(A)
    lock.acquire(B)
    lock.lapse()
    status, pttl, position, _, mark, lockc = lock.acquire(C)
    assert (status, position, lockc) == (2, 0, 1)
    assert 0 < pttl <= 5000
    message = Message.parse(waiter.message())
    assert message == Message(B, lock.last_token(), 1, b"k")
    assert int(mark) == message.first
    assert (lock.holder(), lock.waiting()) == (B, [C])


def test_try_once_on_a_free_key_with_waiters_grants_the_waiter(lock: Lock, listen: Listen) -> None:
    waiter = listen(B)
    lock.acquire(A)
    lock.acquire(B)
    lock.lapse()
    assert lock.acquire(C, wait=0)[0] == 0
    assert Message.parse(waiter.message()).owner == B
    assert (lock.holder(), lock.waiting()) == (B, [])


def test_waiter_without_subscriber_is_passed_over_and_keeps_its_place(
    lock: Lock, listen: Listen
) -> None:
    listen(C)
    lock.acquire(A)
    lock.acquire(B)
    lock.acquire(C)
    lock.lapse()
    assert lock.acquire(D)[0] == 2
    assert lock.holder() == C
    assert lock.waiting() == [B, D]


def test_waiter_that_left_its_channel_is_passed_over(lock: Lock, listen: Listen) -> None:
    gone = listen(B)
    lock.acquire(A)
    lock.acquire(B)
    gone.call("UNSUBSCRIBE")
    lock.lapse()
    assert lock.acquire(C)[0] == 1
    assert lock.waiting() == [B]


def test_pattern_subscriber_makes_nobody_alive(lock: Lock, connect: Connect) -> None:
    watcher = connect()
    watcher.call("PSUBSCRIBE", "*")
    lock.acquire(A)
    lock.acquire(B)
    lock.lapse()
    assert lock.acquire(C)[0] == 1


def test_poller_is_alive_without_subscriber_and_though_stale(lock: Lock) -> None:
    lock.acquire(A)
    lock.acquire(B)
    lock.make_stale(B)
    lock.lapse()
    assert lock.acquire(B)[0] == 1
    assert (lock.holder(), lock.waiting()) == (B, [])


def test_poller_without_subscriber_is_served_before_those_behind_it(
    lock: Lock, listen: Listen
) -> None:
    listen(C)
    lock.acquire(A)
    lock.acquire(B)
    lock.acquire(C)
    lock.lapse()
    assert lock.acquire(B)[0] == 1
    assert (lock.holder(), lock.waiting()) == (B, [C])


def test_live_waiter_before_the_poller_is_served_first(lock: Lock, listen: Listen) -> None:
    listen(B)
    lock.acquire(A)
    lock.acquire(B)
    lock.acquire(C)
    lock.lapse()
    assert lock.acquire(C)[0] == 2
    assert lock.holder() == B


def test_stale_waiter_is_removed_though_it_is_subscribed(lock: Lock, listen: Listen) -> None:
    listen(B)
    lock.acquire(A)
    lock.acquire(B)
    lock.make_stale(B)
    lock.lapse()
    assert lock.acquire(C)[0] == 1
    assert lock.waiting() == []
    assert not lock.connection.call("EXISTS", lock.seen)


def test_stale_waiters_are_removed_while_the_key_is_held(lock: Lock) -> None:
    lock.acquire(A)
    dead = [owner(f"dead{index}") for index in range(100)]
    for value in dead:
        lock.acquire(value)
    for value in dead:
        lock.make_stale(value)
    lock.acquire(B)
    assert len(lock.waiting()) == 1 + 100 - 64
    assert lock.acquire(B)[2] == 0
    assert lock.waiting() == [B]


def test_stale_waiters_are_removed_at_a_hand_over(lock: Lock, listen: Listen) -> None:
    listen(B)
    lock.acquire(A)
    for value in (B, C, D):
        lock.acquire(value)
    lock.make_stale(C)
    assert lock.release(A) == [1, 0, 1]
    assert lock.waiting() == [D]


def test_holder_that_asks_again_leaves_its_place(lock: Lock) -> None:
    lock.acquire(A)
    lock.acquire(B)
    lock.connection.call("SET", lock.key, B, "PX", 5000)
    assert lock.acquire(B)[0] == 1
    assert lock.left() == {lock.key, lock.fence}


def test_entry_that_seen_does_not_know_is_removed(lock: Lock, listen: Listen) -> None:
    listen(B)
    lock.acquire(A)
    lock.acquire(B)
    lock.connection.call("ZREM", lock.seen, B)
    lock.lapse()
    assert lock.acquire(C)[0] == 1
    assert lock.waiting() == []


def test_entry_of_another_form_is_removed(lock: Lock) -> None:
    lock.acquire(A)
    lock.connection.call("ZADD", lock.queue, 1, "garbage")
    lock.connection.call("ZADD", lock.seen, 2**52, "garbage")
    assert lock.release(A) == [1, 0, 0]
    assert lock.waiting() == []


def test_no_more_than_sixty_four_stale_entries_are_removed_at_once(lock: Lock) -> None:
    lock.acquire(A)
    for index in range(100):
        lock.acquire(owner(f"dead{index}"))
    lock.connection.call("DEL", lock.seen)
    lock.lapse()
    lock.acquire(B, wait=0)
    assert len(lock.waiting()) == 100 - 64


def test_waiter_is_granted_what_its_own_value_says(lock: Lock, listen: Listen) -> None:
    value = owner("b", ttl=40_000, b=5)
    waiter = listen(value)
    lock.acquire(A)
    lock.acquire(value)
    lock.release(A)
    message = Message.parse(waiter.message())
    assert message.n == 5
    assert lock.last_token() == message.first + 4
    assert 35_000 < lock.pttl() <= 40_000


def test_message_says_a_token_that_is_larger_than_the_mark(lock: Lock, listen: Listen) -> None:
    waiter = listen(B)
    lock.acquire(owner("a", b=1000))
    mark = int(lock.acquire(B)[4])
    lock.release(owner("a", b=1000))
    assert Message.parse(waiter.message()).first > mark


def test_five_hundred_entries_without_subscriber_cost_a_bounded_time(
    lock: Lock, listen: Listen
) -> None:
    waiter = listen(B)
    lock.acquire(A)
    for index in range(500):
        lock.acquire(owner(f"dead{index}"))
    lock.acquire(B)
    lock.connection.call("CONFIG", "RESETSTAT")
    assert lock.release(A) == [1, 0, 1]
    assert Message.parse(waiter.message()).owner == B
    stats = lock.connection.call("INFO", "commandstats").decode()
    evaluated = next(line for line in stats.splitlines() if line.startswith("cmdstat_eval:"))
    assert float(evaluated.split("usec_per_call=")[1].split(",")[0]) < 20_000
    calls = sum(int(line.split("calls=")[1].split(",")[0]) for line in stats.splitlines()[1:])
    assert calls < 60


@pytest.mark.parametrize("position", [1023, 1024])
def test_search_ends_behind_a_thousand_entries(lock: Lock, listen: Listen, position: int) -> None:
    listen(B)
    now = lock.now_us()
    for index in range(position):
        value = owner(f"dead{index}")
        lock.connection.pipeline(
            [("ZADD", lock.queue, index, value), ("ZADD", lock.seen, now, value)]
        )
    lock.connection.call("ZADD", lock.queue, now, B)
    lock.connection.call("ZADD", lock.seen, now, B)
    lock.acquire(C, wait=0)
    assert lock.holder() == (B if position < 1024 else C)
