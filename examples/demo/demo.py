"""The demo: workers in four languages, one lock, one counter that nothing else protects.

demo.py PROGRAMS   (the folder of the compiled workers)

LOCKC_URL names the server, DEMO_SECONDS says how long to run.

Holders are killed in the middle of their critical sections, and replaced. The last line tells
whether an update was lost, two sections overlapped, or a token was smaller than an earlier one.
"""

from __future__ import annotations

import collections
import os
import random
import secrets
import signal
import sys
import tempfile
import time
from pathlib import Path

import check
import workers

TTL = 1.0  # seconds, that of all workers: how long a killed holder blocks the others
TICK = 0.002


class Progress:
    """What one sees while it runs: a line that changes on a terminal, else a line a second."""

    def __init__(self) -> None:
        self.terminal = sys.stdout.isatty()
        self.started = time.monotonic()
        self.next = self.started

    def show(self, log: check.Log, killed: int) -> None:
        now = time.monotonic()
        if now < self.next:
            return
        self.next = now + (0.1 if self.terminal else 1.0)
        counts = collections.Counter(section.language for section in log.sections)
        shown = "  ".join(f"{language} {counts[language]:5}" for language in check.LANGUAGES)
        line = f"{now - self.started:5.1f} s  {shown}  killed {killed}"
        print(f"\r{line}" if self.terminal else line, end="" if self.terminal else "\n", flush=True)

    def end(self) -> None:
        if self.terminal:
            print()


class Demo:
    """One run."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.folder = folder
        (folder / "counter").write_text("0\n")
        (folder / "log").touch()
        self.log = check.Log()
        self.killed: collections.Counter[str] = collections.Counter()
        self.complaints: list[str] = []
        self.log_file = (folder / "log").open()
        self.part_of_line = ""
        self.progress = Progress()
        self.slots = workers.start_all(
            programs, sys.executable, f"lockc-demo:{secrets.token_hex(8)}", folder
        )

    def run(self, seconds: float) -> check.Verdict:
        """Lets the workers run, kills some, and judges what they did."""
        try:
            self.watch(time.monotonic() + seconds)
            self.stop()
        finally:
            for slot in self.slots:
                if slot.process.poll() is None:
                    slot.kill()
        self.progress.end()
        counter = int((self.folder / "counter").read_text())
        verdict = check.judge(self.log, counter, sum(self.killed.values()))
        verdict.complaints += self.complaints
        return verdict

    def watch(self, end: float) -> None:
        victims = random.sample(check.LANGUAGES, len(check.LANGUAGES))
        next_kill = time.monotonic() + 0.5
        while (now := time.monotonic()) < end and not self.complaints:
            self.read_log()
            self.progress.show(self.log, sum(self.killed.values()))
            self.look_for_ended()
            if now >= next_kill and self.kill_holder(victims[0]):
                victims.append(victims.pop(0))
                next_kill = now + TTL + random.uniform(0.3, 0.8)
            time.sleep(TICK)

    def read_log(self) -> None:
        lines = (self.part_of_line + self.log_file.read()).split("\n")
        self.part_of_line = lines.pop()
        for line in lines:
            self.log.add(line)

    def kill_holder(self, language: str) -> bool:
        """Kills who is in a critical section just now, if he is of this language."""
        for slot in self.slots:
            if slot.language != language or slot.name not in self.log.open:
                continue
            dead_ns = slot.kill()
            self.read_log()
            inside = self.log.killed(slot.name, dead_ns)
            self.killed[language] += inside
            slot.start()
            return inside
        return False

    def look_for_ended(self) -> None:
        for slot in self.slots:
            if (code := slot.process.poll()) is not None:
                self.complaints.append(f"{slot.name} ended by itself with {code}")

    def stop(self) -> None:
        for slot in self.slots:
            slot.ask_to_stop()
        for slot in self.slots:
            if (code := slot.wait()) and not self.complaints:
                self.complaints.append(f"{slot.name} ended with {code} when asked to stop")
        self.read_log()


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    seconds = float(os.environ.get("DEMO_SECONDS", "10"))
    with tempfile.TemporaryDirectory(prefix="lockc-demo-") as folder:
        demo = Demo(Path(sys.argv[1]), Path(folder))
        verdict = demo.run(seconds)
        stderr = (Path(folder) / "stderr").read_text(errors="replace")
    print(f"\n{check.table(demo.log, demo.killed)}\n")
    if not verdict.ok:
        print(stderr[-4000:], end="")
    for complaint in verdict.complaints:
        print(f"demo: {complaint}")
    print(verdict)
    return 0 if verdict.ok else 1


if __name__ == "__main__":
    sys.exit(main())
