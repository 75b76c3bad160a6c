"""One program under load: started, made ready, begun, watched and ended."""

from __future__ import annotations

import ctypes
import os
import select
import subprocess
import time
from array import array
from pathlib import Path
from typing import NamedTuple

START_SECONDS = 60.0
PR_SET_TIMERSLACK = 29


def refine_timers(fine: bool) -> None:
    """Of this thread and the runners it starts: the kernel's 50 us would swamp a hold of 1 ms.

    Where nobody pauses they are the kernel's, as users have them. By fine ones Go's scheduler looks
    after a goroutine in C three times as often, and on one core each look costs a thread switch.
    """
    slack_ns = 1000 if fine else 0  # 0: the default
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, slack_ns, 0, 0, 0)


class RunnerFailed(Exception):
    """A runner ended early or never answered."""


class Acquisition(NamedTuple):
    """One record of a log; times are CLOCK_MONOTONIC nanoseconds (see load.h)."""

    worker: int
    asked: int
    granted: int
    releasing: int
    released: int


class Runner:
    def __init__(
        self,
        command: list[str],
        arguments: dict[str, object],
        log: Path,
        environment: dict[str, str],
    ) -> None:
        words = [f"{name}={value}" for name, value in arguments.items()]
        log.unlink(missing_ok=True)  # that of an earlier run
        self._log = log
        self._errors = log.with_suffix(".errors")
        self._process = subprocess.Popen(
            [*command, *words, f"log={log}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors.open("wb"),
            bufsize=0,
            env={**os.environ, **environment},
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_for(self, word: str, seconds: float = START_SECONDS) -> None:
        assert self._process.stdout
        readable, _, _ = select.select([self._process.stdout], [], [], seconds)
        line = self._process.stdout.readline().decode().strip() if readable else "nothing"
        if line != word:
            raise RunnerFailed(f"{self._complaint() or f'{line!r} for {word!r}'}")

    def begin(self, at_ns: int) -> None:
        assert self._process.stdin
        self._process.stdin.write(b"%d\n" % at_ns)

    def end(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        try:
            status = self._process.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise RunnerFailed("does not end") from None
        self._process.stdout.close()
        if status != 0:
            raise RunnerFailed(f"exit status {status}: {self._complaint()}")

    def _complaint(self) -> str:
        """What it said last on its standard error."""
        lines = self._errors.read_text(errors="replace").splitlines()
        return lines[-1] if lines else ""

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def cpu(self) -> float:
        """Seconds, dead threads included."""
        clock = ctypes.c_int()
        error = ctypes.CDLL(None).clock_getcpuclockid(self.pid, ctypes.byref(clock))
        if error:
            raise RunnerFailed(f"its CPU clock can't be read: {os.strerror(error)}")
        return time.clock_gettime(clock.value)

    def resident_bytes(self) -> int:
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def acquisitions(self) -> list[Acquisition]:
        values = array("q")
        values.frombytes(self._log.read_bytes())
        return [Acquisition(*values[i : i + 5]) for i in range(0, len(values), 5)]


def begin_together(runners: list[Runner], ahead_ms: int = 5) -> None:
    at_ns = time.monotonic_ns() + ahead_ms * 1_000_000
    for runner in runners:
        runner.begin(at_ns)
