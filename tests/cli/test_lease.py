"""The command, with all that it started, never outlives the proven lease."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import processes
import pytest
from conftest import Connection, Lockc, RedisServer, until

TTL = 1.5  # seconds; renewed every 0.5
OPTIONS = ("--ttl", f"{TTL}")

# Tells by a line when it runs, and by another one when it is asked to stop; then stops.
POLITE = "trap 'echo asked; exit 0' TERM; echo running; while :; do sleep 0.01; done"


@pytest.fixture
def word(key: str) -> Iterator[str]:
    """A word for the processes of a test, none of which is left behind."""
    yield f"family:{key}"
    processes.end_all(f"family:{key}")


def test_deleted_key_stops_the_command(lockc: Lockc, raw: Connection, key: str) -> None:
    holder = lockc.start("run", "--key", key, "--ttl", "4", "sh", "-c", POLITE)
    assert holder.line() == "running"
    raw.call("DEL", key)
    assert holder.line() == "asked"
    code, _, err = holder.end()
    assert code == 73
    assert f'lockc: lost "{key}": the key was deleted or belongs to another owner\n' in err


def test_another_owner_stops_the_command(lockc: Lockc, raw: Connection, key: str) -> None:
    holder = lockc.start("run", "--key", key, *OPTIONS, "sh", "-c", POLITE)
    assert holder.line() == "running"
    raw.call("SET", key, "another", "PX", 60_000)
    assert holder.line() == "asked"
    assert holder.end()[0] == 73
    assert raw.call("GET", key) == b"another"


def test_loss_that_shows_at_the_release_is_told(lockc: Lockc, raw: Connection, key: str) -> None:
    holder = lockc.start("run", "--key", key, "sh", "-c", "echo running; sleep 0.3")
    assert holder.line() == "running"
    raw.call("DEL", key)
    code, _, err = holder.end()
    assert code == 73
    assert f'lost "{key}"' in err


def test_command_that_does_not_stop_is_killed(
    lockc: Lockc, raw: Connection, key: str, word: str
) -> None:
    holder = lockc.start("run", "--key", key, *OPTIONS, "sh", "-c", processes.STUBBORN, word)
    assert holder.line()
    until(lambda: len(processes.find(word)) == 3)
    raw.call("DEL", key)
    deleted = time.monotonic()
    code, _, err = holder.end()
    assert code == 73
    assert "did not stop in time: killing it" in err
    assert time.monotonic() - deleted < TTL + 0.5
    assert processes.find(word) == []


def test_patience_ends_after_five_seconds(lockc: Lockc, key: str) -> None:
    stubborn = "trap 'echo asked' TERM; echo running; while :; do sleep 0.01; done"
    holder = lockc.start("run", "--key", key, "--max-hold", "0.1", "sh", "-c", stubborn)
    assert holder.line() == "running"
    assert holder.line() == "asked"
    asked = time.monotonic()
    assert holder.end()[0] == 73
    assert 4.5 < time.monotonic() - asked < 7


def test_silent_server_stops_the_command_in_time(
    own_lockc: Lockc, own_server: RedisServer, key: str
) -> None:
    holder = own_lockc.start("run", "--key", key, *OPTIONS, "sh", "-c", POLITE)
    assert holder.line() == "running"
    own_server.suspend()
    suspended = time.monotonic()
    assert holder.line() == "asked"
    # Proven were at most ttl, of which a third was left when the command was asked.
    assert time.monotonic() - suspended < TTL * 2 / 3 + 0.25
    code, _, err = holder.end()
    assert code == 73
    assert "the lease could not be renewed in time: stopping the command" in err


def test_silent_server_ends_all_before_the_lease_can_end(
    own_lockc: Lockc, own_server: RedisServer, key: str, word: str
) -> None:
    holder = own_lockc.start("run", "--key", key, *OPTIONS, "sh", "-c", processes.STUBBORN, word)
    assert holder.line()
    until(lambda: len(processes.find(word)) == 3)
    own_server.suspend()
    suspended = time.monotonic()
    until(lambda: processes.find(word) == [])
    assert time.monotonic() - suspended < TTL
    assert holder.end()[0] == 73


def test_short_silence_does_no_harm(own_lockc: Lockc, own_server: RedisServer, key: str) -> None:
    holder = own_lockc.start(
        "run", "--key", key, "--ttl", "3", "sh", "-c", "echo running; sleep 3.5"
    )
    assert holder.line() == "running"
    for _ in range(3):
        own_server.suspend()
        time.sleep(0.4)
        own_server.resume()
        time.sleep(0.6)
    assert holder.end() == (0, "", "")


def test_silent_server_at_the_end_keeps_the_exit_code(
    own_lockc: Lockc, own_server: RedisServer, key: str
) -> None:
    holder = own_lockc.start("run", "--key", key, "sh", "-c", "echo running; sleep 0.3; exit 4")
    assert holder.line() == "running"
    own_server.suspend()
    code, _, err = holder.end()
    assert code == 4
    assert "the lock could not be given back" in err


def test_killed_lockc_takes_all_with_it(lockc: Lockc, raw: Connection, key: str, word: str) -> None:
    holder = lockc.start("run", "--key", key, *OPTIONS, "sh", "-c", processes.STUBBORN, word)
    assert holder.line()
    until(lambda: len(processes.find(word)) == 3)
    holder.send(signal.SIGKILL)
    until(lambda: processes.find(word) == [], within=1)
    assert holder.end()[0] == -signal.SIGKILL
    assert raw.call("EXISTS", key) == 1
    until(lambda: raw.call("EXISTS", key) == 0, within=TTL + 0.5)


def test_killed_process_group_takes_all_with_it(lockc: Lockc, key: str, word: str) -> None:
    holder = lockc.start("run", "--key", key, *OPTIONS, "sh", "-c", processes.STUBBORN, word)
    assert holder.line()
    until(lambda: len(processes.find(word)) == 3)
    os.killpg(holder.pid, signal.SIGKILL)
    until(lambda: processes.find(word) == [], within=1)


def test_command_ends_while_lockc_is_stopped(lockc: Lockc, key: str, word: str) -> None:
    holder = lockc.start("run", "--key", key, *OPTIONS, "sh", "-c", processes.STUBBORN, word)
    assert holder.line()
    until(lambda: len(processes.find(word)) == 3)
    holder.send(signal.SIGSTOP)
    halted = time.monotonic()
    until(lambda: processes.find(word) == [])
    assert time.monotonic() - halted < TTL
    holder.send(signal.SIGCONT)
    assert holder.end()[0] == 73


def test_stopped_group_ends_with_its_lease(lockc: Lockc, key: str, word: str) -> None:
    holder = lockc.start("run", "--key", key, *OPTIONS, "sh", "-c", processes.STUBBORN, word)
    assert holder.line()
    until(lambda: len(processes.find(word)) == 3)
    os.killpg(holder.pid, signal.SIGSTOP)
    until(lambda: processes.find(word) == [], within=TTL + 0.5)
    os.killpg(holder.pid, signal.SIGCONT)
    assert holder.end()[0] == 73


def test_killed_guard_takes_all_with_it(lockc: Lockc, raw: Connection, key: str, word: str) -> None:
    holder = lockc.start("run", "--key", key, "sh", "-c", processes.STUBBORN, word)
    guard = processes.parent_of(int(holder.line()))
    assert processes.parent_of(guard) == holder.pid
    until(lambda: len(processes.find(word)) == 3)
    os.kill(guard, signal.SIGKILL)
    code, _, err = holder.end()
    assert code == 70
    assert "the guard process was killed" in err
    assert processes.find(word) == []
    assert raw.call("EXISTS", key) == 0


def test_stopped_guard_is_replaced_by_lockc(
    own_lockc: Lockc, own_server: RedisServer, key: str, word: str
) -> None:
    holder = own_lockc.start("run", "--key", key, *OPTIONS, "sh", "-c", processes.STUBBORN, word)
    guard = processes.parent_of(int(holder.line()))
    os.kill(guard, signal.SIGSTOP)
    own_server.suspend()
    assert holder.end()[0] == 73
    assert processes.find(word) == []


def test_max_hold_stops_the_command(lockc: Lockc, raw: Connection, key: str) -> None:
    holder = lockc.start("run", "--key", key, "--max-hold", "0.7", "sh", "-c", POLITE)
    assert holder.line() == "running"
    granted = time.monotonic()
    assert holder.line() == "asked"
    assert 0.6 < time.monotonic() - granted < 1.5
    code, _, err = holder.end()
    assert code == 73
    assert f'lost "{key}": it was held for as long as --max-hold allows' in err
    assert raw.call("EXISTS", key) == 0
