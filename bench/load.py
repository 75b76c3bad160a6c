"""The shape that the Python load programs share: arguments, workers, records, and the talk with the
driver. The same as load.h, whose records it writes."""

from __future__ import annotations

import array
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

PROCESS_STRIDE = 100_000
GRACE = 10.0  # who waits when the time is over still gets its turn
now = time.monotonic_ns


class Lock(Protocol):
    def acquire(self, *, timeout: float) -> object:
        """False when the seconds are over."""

    def release(self) -> object: ...


@dataclass
class Load:
    address: str
    process: int = 0
    threads: int = 1
    pairs: int = 1000
    seconds: float = 10.0
    hold_us: int = 0
    think_us: int = 0
    ttl_ms: int = 30000
    keys: str = "own"
    mode: str = "sync"
    log: str = "/dev/null"
    deadline: int = field(default=0, init=False)

    @classmethod
    def from_arguments(cls) -> Load:
        types = {name: type(default) for name, default in vars(cls("")).items()}
        given = dict(word.split("=", 1) for word in sys.argv[1:])
        return cls(**{name: types[name](text) for name, text in given.items() if name in types})

    def key(self, index: int) -> str:
        return "bench:one" if self.keys == "one" else f"bench:{self.process}:{index}"

    def begin(self) -> None:
        print("ready", flush=True)
        begin = int(sys.stdin.readline())
        time.sleep(max(0, begin - now()) / 1e9)
        self.deadline = now() + int(self.seconds * 1e9)

    def end(self, logs: list[array.array]) -> None:
        with open(self.log, "wb") as file:
            for log in logs:
                log.tofile(file)
        print("done", flush=True)
        sys.stdin.read()

    def run_threads(self, lock_of: Callable[[str], Lock]) -> None:
        """One thread for each worker, each with a lock object of its own."""
        logs = [array.array("q") for _ in range(self.threads)]
        locks = [lock_of(self.key(index)) for index in range(self.threads)]
        self.begin()
        threads = [
            threading.Thread(target=self._work, args=(index, locks[index], log))
            for index, log in enumerate(logs)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.end(logs)

    def _work(self, index: int, lock: Lock, log: array.array) -> None:
        worker = self.process * PROCESS_STRIDE + index
        hold, think, deadline = self.hold_us / 1e6, self.think_us / 1e6, self.deadline
        for _ in range(self.pairs):
            asked = now()
            if asked >= deadline:
                break
            if not lock.acquire(timeout=(deadline - asked) / 1e9 + GRACE):
                raise TimeoutError(self.key(index))
            granted = now()
            if hold:
                time.sleep(hold)
            releasing = now()
            lock.release()
            log.extend((worker, asked, granted, releasing, now()))
            if think:
                time.sleep(think)
