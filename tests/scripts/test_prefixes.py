"""Scripts aren't rolled back: each write may be the last, and what then stands must be safe.

Every script is run once for each number of writes, cut off behind the last of them by an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from lock import Listen, Lock, Message, client_of, owner
from resp import Connection, ServerError

A, B, C, NEXT = owner("a", b=8), owner("b", b=8), owner("c"), owner("a", 2)

Run = Callable[[Lock], object]  # the script that is cut off
Scenario = Callable[[Lock], Run]  # what is there before

CUT = """
local server, left = redis, {allowed}
local writes = {{SET = 1, DEL = 1, ZADD = 1, ZREM = 1, PEXPIRE = 1, PUBLISH = 1}}
local function counted(how)
  return function(name, ...)
    if writes[name] then
      left = left - 1
      if left < 0 then error('cut off') end
    end
    return how(name, ...)
  end
end
local redis = {{
  call = counted(server.call),
  pcall = counted(server.pcall),
  error_reply = server.error_reply,
  replicate_commands = server.replicate_commands,
}}
"""


def acquire_free(lock: Lock) -> Run:
    return lambda cut: cut.acquire(A)


def acquire_ours(lock: Lock) -> Run:
    lock.acquire(A)
    return lambda cut: cut.acquire(A)


def queue_anew(lock: Lock) -> Run:
    lock.acquire(C)
    return lambda cut: cut.acquire(A)


def poll_that_is_granted(lock: Lock) -> Run:
    lock.acquire(C)
    lock.acquire(A)
    lock.lapse()
    return lambda cut: cut.acquire(A)


def poll_that_grants_another(lock: Lock) -> Run:
    lock.acquire(C)
    lock.acquire(B)
    lock.acquire(A)
    lock.lapse()
    return lambda cut: cut.acquire(A)


def release_to_nobody(lock: Lock) -> Run:
    lock.acquire(A)
    return lambda cut: cut.release(A)


def release_to_the_next(lock: Lock) -> Run:
    lock.acquire(A)
    lock.acquire(owner("dead"))
    lock.make_stale(owner("dead"))
    lock.acquire(B)
    return lambda cut: cut.release(A)


def cancel(lock: Lock) -> Run:
    lock.acquire(B)
    lock.acquire(A)
    return lambda cut: cut.release(A)


def requeue_alone(lock: Lock) -> Run:
    lock.acquire(A)
    return lambda cut: cut.requeue(A, NEXT)


def requeue_behind_another(lock: Lock) -> Run:
    lock.acquire(A)
    lock.acquire(B)
    return lambda cut: cut.requeue(A, NEXT)


SCENARIOS = [
    acquire_free,
    acquire_ours,
    queue_anew,
    poll_that_is_granted,
    poll_that_grants_another,
    release_to_nobody,
    release_to_the_next,
    cancel,
    requeue_alone,
    requeue_behind_another,
]


def cut_behind(lock: Lock, allowed: int) -> Lock:
    prelude = CUT.format(allowed=allowed)
    scripts = {
        name: replace(script, text=prelude + script.text) for name, script in lock.scripts.items()
    }
    return Lock(scripts, lock.connection, lock.key)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_every_prefix_is_safe_and_heals(
    lock: Lock,
    connection: Connection,
    listen: Listen,
    scenario: Scenario,
) -> None:
    completed = False
    for allowed in range(20):
        connection.call("FLUSHALL")
        waiter = listen(B)
        run = scenario(lock)
        token = lock.last_token()
        try:
            run(cut_behind(lock, allowed))
            completed = True
        except ServerError as error:
            if "cut off" not in str(error):
                raise
        assert lock.last_token() >= token
        check_message_is_true(lock, waiter)
        check_heals(lock)
        if completed:
            break
    assert completed


def check_message_is_true(lock: Lock, waiter: Connection) -> None:
    """Who is told of a grant finds the key its own, with tokens that nobody else is given."""
    lock.connection.call("PUBLISH", f"lockc:wake:{client_of(B)}", "end")
    while (payload := waiter.message()) != b"end":
        message = Message.parse(payload)
        assert lock.holder() == message.owner
        assert lock.last_token() == message.first + message.n - 1


def check_heals(lock: Lock) -> None:
    """The others give back what they asked for, and B is served with a token above all told."""
    told = lock.last_token()
    for value in (A, NEXT, C):
        lock.release(value)
    status, first, _ = lock.acquire(B)
    assert status == 1
    assert int(first) > told
    assert lock.release(B)[0] == 1
    assert lock.holder() is None
    assert all(expiry > 0 for expiry in lock.expiries().values())
