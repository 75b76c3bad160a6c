"""Signals and terminals: the command and lockc are one job, as with other commands of this kind."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator

import processes
import pytest
from conftest import COMMAND, WITHIN, Connection, Lockc, until

PASSED_ON = ["INT", "TERM", "HUP", "QUIT", "USR1", "USR2"]
REPORT = "; ".join(f"trap 'echo {name}' {name}" for name in PASSED_ON)
# Reports each signal, and ends at the last one.
REPORTING = f"{REPORT}; trap 'echo USR2; exit 3' USR2; echo $$; while :; do sleep 0.01; done"

# Counts signals of number $1, for $2 seconds from the first one on; a shell might take two for one.
COUNTING = """
import os, select, signal, sys, time
told, tell = os.pipe()
os.set_blocking(tell, False)
signal.set_wakeup_fd(tell)
signal.signal(int(sys.argv[1]), lambda *_: None)
print("up", flush=True)
select.select([told], [], [], float(sys.argv[2]))
time.sleep(float(sys.argv[2]))
os.set_blocking(told, False)
try:
    print("counted", len(os.read(told, 100)), flush=True)
except BlockingIOError:
    print("counted", 0, flush=True)
"""


def test_signals_are_passed_on(lockc: Lockc, key: str) -> None:
    holder = lockc.start("run", "--key", key, "sh", "-c", REPORTING)
    assert int(holder.line()) > 0
    for name in PASSED_ON:
        holder.send(signal.Signals[f"SIG{name}"])
        assert holder.line() == name
    assert holder.end() == (3, "", "")


def test_ignored_signals_stay_ignored(lockc: Lockc, key: str) -> None:
    python = (sys.executable, "-c", COUNTING, str(int(signal.SIGHUP)), "0.3")
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        holder = lockc.start("run", "--key", key, *python)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert holder.line() == "up"
    holder.send(signal.SIGHUP)
    assert holder.end() == (0, "counted 0", "")


def test_blocked_signals_of_lockc_are_not_inherited(lockc: Lockc, key: str) -> None:
    code, out, _ = lockc("run", "--key", key, "grep", "SigBlk", "/proc/self/status")
    assert (code, int(out.split()[1], 16)) == (0, 0)


@pytest.mark.parametrize("name", PASSED_ON)
def test_signal_ends_the_wait(lockc: Lockc, raw: Connection, key: str, name: str) -> None:
    raw.call("SET", key, "another", "PX", 60_000)
    queue = f"lockc:{{{key}}}:queue:{key}"
    waiter = lockc.start("run", "--key", key, "echo", "never")
    until(lambda: raw.call("ZCARD", queue) == 1)
    number = signal.Signals[f"SIG{name}"]
    waiter.send(number)
    assert waiter.end() == (128 + number, "", "")
    assert raw.call("ZCARD", queue) == 0
    assert raw.call("GET", key) == b"another"


def test_signal_at_the_moment_of_the_grant_leaves_nothing(
    lockc: Lockc, raw: Connection, key: str
) -> None:
    queue = f"lockc:{{{key}}}:queue:{key}"
    for _ in range(20):
        raw.call("SET", key, "another", "PX", 60_000)
        waiter = lockc.start("run", "--key", key, "sleep", "60")
        until(lambda: raw.call("ZCARD", queue) == 1)
        raw.call("DEL", key)
        waiter.send(signal.SIGTERM)
        assert waiter.end()[0] == 128 + signal.SIGTERM
        assert raw.call("EXISTS", key, queue) == 0


class Terminal:
    """A program in the foreground of a terminal of its own."""

    def __init__(self, words: tuple[str, ...], environment: dict[str, str]) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(words[0], words, environment)
        self.text = ""

    def read_until(self, text: str) -> None:
        deadline = time.monotonic() + WITHIN
        while text not in self.text:
            assert time.monotonic() < deadline, self.text
            if select.select([self.fd], [], [], 0.1)[0]:
                self.text += os.read(self.fd, 4096).decode()

    def type(self, keys: bytes) -> None:
        os.write(self.fd, keys)

    def end(self) -> int:
        while True:
            try:
                data = os.read(self.fd, 4096)
            except OSError:
                break
            if not data:
                break
            self.text += data.decode()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def close(self) -> None:
        os.close(self.fd)


@pytest.fixture
def on_terminal(lockc: Lockc) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def start(*words: str) -> Terminal:
        opened.append(Terminal(words, lockc.environment))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def test_ctrl_c_reaches_the_command_once(on_terminal: Callable[..., Terminal], key: str) -> None:
    python = (sys.executable, "-c", COUNTING, str(int(signal.SIGINT)), "0.3")
    terminal = on_terminal(COMMAND, "run", "--key", key, *python)
    terminal.read_until("up")
    terminal.type(b"\x03")
    terminal.read_until("counted 1")
    assert terminal.end() == 0


def test_ctrl_c_ends_the_wait(
    on_terminal: Callable[..., Terminal], raw: Connection, key: str
) -> None:
    raw.call("SET", key, "another", "PX", 60_000)
    terminal = on_terminal(COMMAND, "run", "--key", key, "echo", "never")
    until(lambda: raw.call("ZCARD", f"lockc:{{{key}}}:queue:{key}") == 1)
    terminal.type(b"\x03")
    assert terminal.end() == 130
    assert "never" not in terminal.text


def test_command_reads_from_the_terminal(on_terminal: Callable[..., Terminal], key: str) -> None:
    terminal = on_terminal(
        COMMAND, "run", "--key", key, "sh", "-c", "echo up; read word; echo got $word"
    )
    terminal.read_until("up")
    terminal.type(b"hello\n")
    terminal.read_until("got hello")
    assert terminal.end() == 0


def test_ctrl_z_and_fg(on_terminal: Callable[..., Terminal], key: str) -> None:
    waiting = "echo up; read word; echo got $word; exit 5"
    shell = f"set -m; {COMMAND} run --key {key} sh -c '{waiting}'; echo stopped $?; fg; echo end $?"
    terminal = on_terminal("bash", "-c", shell)
    terminal.read_until("up")
    terminal.type(b"\x1a")
    terminal.read_until(f"stopped {128 + signal.SIGTSTP}")
    terminal.type(b"hello\n")
    terminal.read_until("got hello")
    terminal.read_until("end 5")
    assert terminal.end() == 0


def test_lease_ends_while_stopped_by_ctrl_z(on_terminal: Callable[..., Terminal], key: str) -> None:
    run = f"{COMMAND} run --key {key} --ttl 1"
    shell = f"set -m; {run} sh -c 'echo pid $$ pid; read word'; read word; fg; echo end $?"
    terminal = on_terminal("bash", "-c", shell)
    terminal.read_until(" pid")
    command = int(terminal.text.split()[1])
    terminal.type(b"\x1a")
    until(lambda: not processes.alive(command))
    terminal.type(b"on\n")
    terminal.read_until("end 73")
    assert terminal.end() == 0
