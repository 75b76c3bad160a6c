"""Starts worker.py in processes of their own and follows what they print."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

from timing import within

TESTS = Path(__file__).resolve().parents[1]
LIMIT = 30.0  # no worker is silent for so long


class News(NamedTuple):
    word: str
    value: str
    at: int  # ns of the clock that all processes share


class Worker:
    """One process of worker.py; ready when made, told to begin by begin()."""

    def __init__(self, url: str, key: str, **plan: Any) -> None:  # noqa: ANN401 - JSON
        path = os.pathsep.join([str(TESTS / "integration"), str(TESTS / "support")])
        self.process = subprocess.Popen(
            [sys.executable, str(TESTS / "contention/worker.py"), url, key, json.dumps(plan)],
            env=os.environ | {"PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self.seen: list[News] = []
        self._news: queue.Queue[News | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self.wait_for("ready")

    def begin(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")

    def next(self, limit: float = LIMIT) -> News | None:
        """Its next line; None when none comes in time."""
        try:
            news = self._news.get(timeout=limit)
        except queue.Empty:
            return None
        assert news is not None, "the worker has ended"
        self.seen.append(news)
        return news

    def wait_for(self, word: str, limit: float = LIMIT) -> News:
        """Its next line that begins with the word; a limit holds for each line before it."""
        while news := self.next(limit):
            if news.word == word:
                return news
        raise AssertionError(f"no {word!r} in time: {self.seen}")

    def finish(self, limit: float = LIMIT) -> list[News]:
        """Waits until all its threads have ended; all it printed."""
        self.wait_for("done", limit)
        return self.seen

    def end_and_read(self) -> list[News]:
        """Kills it; all it printed."""
        self.end()
        while (news := self._news.get(timeout=LIMIT)) is not None:
            self.seen.append(news)
        return self.seen

    def freeze(self) -> None:
        """Stops all its threads; returns when they stand still."""
        self.process.send_signal(signal.SIGSTOP)
        assert within(LIMIT, lambda: set(self._thread_states()) == {"T"})

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def _thread_states(self) -> list[str]:
        stats = Path(f"/proc/{self.process.pid}/task").glob("*/stat")
        return [stat.read_text().rsplit(") ", 1)[1][0] for stat in stats]

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            word, *rest = line.split()
            self._news.put(News(word, rest[0] if len(rest) == 2 else "", int(rest[-1])))
        self._news.put(None)


def grants(*lists: list[News]) -> list[News]:
    """The grants of several workers in the order of their times."""
    return sorted((n for one in lists for n in one if n.word == "held"), key=lambda n: n.at)


def assert_exclusive(*lists: list[News]) -> None:
    """Nobody held while another did, and tokens increased from grant to grant."""
    news = sorted(
        (n for one in lists for n in one if n.word in ("held", "freed")),
        # A release may be told at the very time of the next grant.
        key=lambda n: n.at,
    )
    held: list[str] = []
    last = 0
    for one in news:
        if one.word == "held":
            assert not held, f"{one.value} was granted while {held} held"
            assert int(one.value) > last
            last = int(one.value)
            held.append(one.value)
        else:
            held.remove(one.value)
