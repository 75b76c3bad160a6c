"""renew prolongs and drop deletes, each only what has the owner value named."""

from __future__ import annotations

import pytest
from lock import Listen, Lock, owner

A, B = owner("a"), owner("b")


def test_renew_prolongs_what_is_ours(lock: Lock) -> None:
    lock.acquire(A)
    assert lock.renew(9000, A)
    assert lock.pttl() > 8000


def test_renew_never_shortens(lock: Lock) -> None:
    lock.acquire(A)
    lock.renew(90_000, A)
    assert lock.renew(10, A)
    assert lock.pttl() > 80_000


def test_renew_gives_an_expiry_to_a_key_that_lost_it(lock: Lock) -> None:
    lock.connection.call("SET", lock.key, A)
    assert lock.renew(9000, A)
    assert 8000 < lock.pttl() <= 9000


@pytest.mark.parametrize("holder", [None, B])
def test_renew_leaves_what_is_not_ours(lock: Lock, holder: bytes | None) -> None:
    if holder:
        lock.connection.call("SET", lock.key, holder, "PX", 5000)
    assert not lock.renew(90_000, A)
    assert lock.pttl() <= 5000


def test_renew_answers_for_each_of_many_keys(lock: Lock) -> None:
    keys = tuple(f"many:{index}".encode() for index in range(1000))
    values = [owner("a", seq) for seq in range(1000)]
    for key, value in zip(keys[::2], values[::2], strict=True):
        lock.connection.call("SET", key, value, "PX", 5000)
    lock.connection.call("HSET", keys[1], "field", "1")
    args = [arg for value in values for arg in (60_000, value)]
    assert lock.run("renew", keys, *args) == list(range(2, 1001, 2))
    assert all(lock.pttl(key) > 50_000 for key in keys[::2])


def test_renew_touches_nothing_but_the_key(lock: Lock) -> None:
    lock.acquire(A)
    before = lock.last_token()
    lock.renew(9000, A)
    assert lock.left() == {lock.key, lock.fence}
    assert lock.last_token() == before


def test_drop_deletes_what_is_ours_and_grants_nobody(lock: Lock, listen: Listen) -> None:
    listen(B)
    lock.acquire(A)
    lock.acquire(B)
    assert lock.drop(A) == 1
    assert lock.left() == {lock.fence, lock.queue, lock.seen}
    assert lock.waiting() == [B]


@pytest.mark.parametrize("command", [("SET", "k", B), ("HSET", "k", "field", "1"), ("PING",)])
def test_drop_leaves_what_is_not_ours(lock: Lock, command: tuple[str, ...]) -> None:
    lock.connection.call(*command)
    before = lock.left()
    assert lock.drop(A) == 0
    assert lock.left() == before
