"""Users who may not do all: without PUBLISH or NUMSUB waiters live by their polls."""

from __future__ import annotations

import pytest
from lock import Denied, Listen, Lock, owner
from resp import ServerError

A, B, C = owner("a"), owner("b"), owner("c")


@pytest.mark.parametrize("rule", ["resetchannels", "-publish"])
def test_without_publish_the_next_is_granted_and_finds_it_by_its_poll(
    lock: Lock, denied: Denied, listen: Listen, rule: str
) -> None:
    waiter = listen(B)
    lock.acquire(A)
    lock.acquire(B)
    assert lock.by(denied(rule)).release(A) == [1, 0, 1]
    assert lock.holder() == B
    assert waiter.message(0.05) is None
    assert lock.acquire(B)[0] == 1


def test_without_publish_a_requeue_is_answered(lock: Lock, denied: Denied, listen: Listen) -> None:
    listen(B)
    lock.acquire(A)
    lock.acquire(B)
    assert lock.by(denied("-publish")).requeue(A, owner("a", 2))[1][0] == 2
    assert lock.holder() == B


@pytest.mark.parametrize("rule", ["resetchannels", "-publish"])
def test_probe_tells_who_may_not_publish(lock: Lock, denied: Denied, rule: str) -> None:
    assert lock.by(denied(rule)).run("probe", (), "lockc:wake:a") == 0


def test_probe_sends_an_empty_message_where_publish_is_allowed(lock: Lock, listen: Listen) -> None:
    subscriber = listen(A)
    assert lock.run("probe", (), "lockc:wake:a") == 1
    assert subscriber.message() == b""
    assert lock.left() == set()


def test_without_numsub_every_fresh_entry_is_live(lock: Lock, denied: Denied) -> None:
    lock.acquire(A)
    lock.acquire(B)
    lock.acquire(C)
    lock.make_stale(B)
    user = lock.by(denied("-pubsub"))
    assert user.inspect()[5:][3::4] == [0, 1]
    assert user.release(A) == [1, 0, 1]
    assert lock.holder() == C


def test_denied_command_is_told_by_its_text(lock: Lock, denied: Denied) -> None:
    with pytest.raises(ServerError) as raised:
        lock.by(denied("-set")).acquire(A)
    text = str(raised.value)
    assert "ACL failure in script" in text or "The user executing the script can't" in text
    assert lock.left() == set()


def test_denied_key_executes_nothing(lock: Lock, denied: Denied) -> None:
    with pytest.raises(ServerError, match=r"^NOPERM|ACL failure in script|can't access"):
        lock.by(denied("resetkeys", "~lockc:*")).acquire(A)
    assert lock.left() == set()


def test_release_that_may_not_read_the_key_says_so(lock: Lock, denied: Denied) -> None:
    lock.acquire(A)
    with pytest.raises(ServerError, match=r"ACL failure|can't run"):
        lock.by(denied("-get")).release(A)
    assert lock.holder() == A
