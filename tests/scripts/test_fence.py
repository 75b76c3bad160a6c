"""Fencing tokens: strictly increasing, exact, close to the clock, and kept long enough."""

from __future__ import annotations

import pytest
from lock import RETENTION, Listen, Lock, Message, owner
from resp import ServerError

A, B = owner("a"), owner("b")
LIMIT = 2**53 - 2**20


def test_tokens_increase_with_every_grant(lock: Lock) -> None:
    last = 0
    for seq in range(200):
        value = owner("a", seq, b=seq % 9)
        _, first, n = lock.acquire(value)
        assert int(first) > last
        last = int(first) + n - 1
        lock.release(value)


def test_tokens_increase_though_the_fence_is_lost_at_every_grant(lock: Lock) -> None:
    last = 0
    for seq in range(50):
        value = owner("a", seq)
        _, first, _ = lock.acquire(value)
        assert int(first) > last
        last = int(first)
        lock.release(value)
        lock.connection.call("DEL", lock.fence)


@pytest.mark.parametrize("contended", [False, True])
def test_behind_a_fence_ahead_of_the_clock_single_tokens_follow(
    lock: Lock, listen: Listen, contended: bool
) -> None:
    value = owner("a", b=1000)
    ahead = lock.now_us() + 3_600_000_000
    if contended:
        waiter = listen(value)
        lock.acquire(B)
        lock.acquire(value)
        lock.connection.call("SET", lock.fence, ahead)
        lock.release(B)
        message = Message.parse(waiter.message())
        first, n = message.first, message.n
    else:
        lock.connection.call("SET", lock.fence, ahead)
        _, token, n = lock.acquire(value)
        first = int(token)
    assert (first, n) == (ahead + 1, 1)
    assert lock.last_token() == ahead + 1


@pytest.mark.parametrize("contended", [False, True])
def test_largest_usable_fence_is_counted_on_exactly(lock: Lock, contended: bool) -> None:
    if contended:
        lock.connection.call("ZADD", lock.queue, 1, owner("dead"))
    lock.connection.call("SET", lock.fence, LIMIT - 1)
    assert lock.acquire(A)[1:] == [str(LIMIT).encode(), 1]
    assert lock.connection.call("GET", lock.fence) == str(LIMIT).encode()


@pytest.mark.parametrize(
    "fence", [str(LIMIT), str(2**53), "9" * 400, "zz", "", "-5", "1.5", "1e3", " 7", "0x10", "nan"]
)
@pytest.mark.parametrize("contended", [False, True])
def test_unusable_fence_grants_nothing(lock: Lock, fence: str, contended: bool) -> None:
    if contended:
        lock.connection.call("ZADD", lock.queue, 1, owner("dead"))
    lock.connection.call("SET", lock.fence, fence)
    before = lock.left()
    for wait in (0, 1):
        with pytest.raises(ServerError, match=r"^LOCKCFENCE"):
            lock.acquire(A, wait=wait)
    assert lock.left() == before
    assert lock.connection.call("GET", lock.fence) == fence.encode()


def test_fence_of_another_type_is_unusable(lock: Lock) -> None:
    lock.connection.call("RPUSH", lock.fence, "1")
    with pytest.raises(ServerError, match=r"^LOCKCFENCE"):
        lock.acquire(A)
    assert lock.left() == {lock.fence}


@pytest.mark.parametrize("command", [("SET", "zz"), ("RPUSH", "1")])
def test_release_with_an_unusable_fence_deletes_and_grants_nobody(
    lock: Lock, listen: Listen, command: tuple[str, str]
) -> None:
    waiter = listen(B)
    lock.acquire(A)
    lock.acquire(B)
    lock.connection.call("DEL", lock.fence)
    lock.connection.call(command[0], lock.fence, command[1])
    assert lock.release(A) == [1, 0, 0]
    assert lock.holder() is None
    assert lock.waiting() == [B]
    assert waiter.message(0.05) is None


def test_busy_answer_needs_no_fence(lock: Lock) -> None:
    lock.acquire(A)
    lock.connection.call("SET", lock.fence, "zz")
    assert lock.acquire(B, wait=0)[0] == 0


@pytest.mark.parametrize("contended", [False, True])
@pytest.mark.parametrize(
    ("ttl", "retention", "kept"),
    [(5000, RETENTION, RETENTION), (100_000, RETENTION, 200_000), (20, 15, 40)],
)
def test_fence_is_kept_for_the_retention_and_two_ttls(
    lock: Lock, contended: bool, ttl: int, retention: int, kept: int
) -> None:
    if contended:
        lock.connection.call("ZADD", lock.queue, 1, owner("dead"))
    lock.acquire(owner("a", ttl=ttl), retention=retention)
    assert kept - 30 <= lock.pttl(lock.fence) <= kept + retention / 4


def test_fence_that_lasts_long_enough_keeps_its_expiry(lock: Lock) -> None:
    last = lock.now_us()
    lock.connection.call("SET", lock.fence, last, "PX", RETENTION + 5000)
    _, first, n = lock.acquire(owner("a", b=8))
    assert int(first) > last
    assert lock.last_token() == int(first) + n - 1
    assert RETENTION < lock.pttl(lock.fence) <= RETENTION + 5000


@pytest.mark.parametrize("left", [1000, RETENTION - 1, None])
def test_fence_that_would_go_too_early_is_prolonged(lock: Lock, left: int | None) -> None:
    expiry = () if left is None else ("PX", left)
    lock.connection.call("SET", lock.fence, 7, *expiry)
    lock.acquire(A)
    assert RETENTION - 30 <= lock.pttl(lock.fence) <= 1.25 * RETENTION


@pytest.mark.parametrize("contended", [False, True])
def test_fence_expiry_is_never_shortened(lock: Lock, contended: bool) -> None:
    if contended:
        lock.connection.call("ZADD", lock.queue, 1, owner("dead"))
    lock.connection.call("SET", lock.fence, 5, "PX", 7_200_000)
    lock.acquire(A)
    assert lock.pttl(lock.fence) > 7_100_000


@pytest.mark.parametrize("contended", [False, True])
def test_fence_ahead_of_the_clock_is_kept_until_the_clock_has_passed_it(
    lock: Lock, contended: bool
) -> None:
    if contended:
        lock.connection.call("ZADD", lock.queue, 1, owner("dead"))
    lock.connection.call("SET", lock.fence, lock.now_us() + 3_600_000_000, "PX", 1000)
    lock.acquire(A)
    assert 3_600_000 + RETENTION - 1000 < lock.pttl(lock.fence) <= 3_600_000 + 1.25 * RETENTION


def test_tokens_are_whole_digits_in_reply_fence_and_message(lock: Lock, listen: Listen) -> None:
    waiter = listen(B)
    fence = 9007199253692000
    lock.connection.call("SET", lock.fence, fence)
    assert lock.acquire(A)[1] == b"9007199253692001"
    assert lock.acquire(B)[4] == b"9007199253692001"
    lock.release(A)
    assert waiter.message() == B + b" 9007199253692002 1 k"
    assert lock.connection.call("GET", lock.fence) == b"9007199253692002"


def test_token_of_the_first_tenth_of_a_second_has_leading_zeros(lock: Lock) -> None:
    """The server gives seconds and microseconds apart, the latter without leading zeros."""
    microseconds = 1_000_000
    for seq in range(1_000_000):
        before = lock.now_us()
        value = owner("a", seq)
        first = int(lock.acquire(value)[1])
        assert before <= first <= lock.now_us()
        lock.release(value)
        microseconds = first % 1_000_000
        if microseconds < 100_000:
            break
    assert microseconds < 100_000
