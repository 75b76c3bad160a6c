"""The processes of the demo: each slot is one worker, replaced by the next when it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).parent
ENDS_WITHIN = 10.0  # seconds, when asked to


class Worker:
    """One slot: a language, and a process that is running most of the time."""

    def __init__(
        self, language: str, number: int, program: list[str], key: str, folder: Path
    ) -> None:
        self.language = language
        self.number = number
        self.program = program
        self.key = key
        self.folder = folder
        self.generation = 0
        self.start()

    @property
    def name(self) -> str:
        return f"{self.language}-{self.number}.{self.generation}"

    def start(self) -> None:
        """Starts the next process of this slot, under a name of its own."""
        self.generation += 1
        with (self.folder / "stderr").open("ab") as stderr:
            self.process = subprocess.Popen(
                [*self.program, self.name, self.key, str(self.folder)],
                stdin=subprocess.DEVNULL,
                stdout=stderr,
                stderr=stderr,
                start_new_session=True,
            )

    def kill(self) -> int:
        """Kills the process with its group and answers when it was dead."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        return time.monotonic_ns()

    def ask_to_stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def wait(self) -> int:
        """Waits for the end that was asked for; a worker that doesn't end is killed."""
        try:
            return self.process.wait(ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            self.kill()
            return -signal.SIGKILL


def start_all(programs: Path, python: str, key: str, folder: Path) -> list[Worker]:
    """Two workers for each language."""
    programs_of = {
        "c": [str(programs / "worker-c")],
        "python": [python, str(HERE / "worker.py")],
        "go": [str(programs / "worker-go")],
        "shell": [str(HERE / "worker.sh")],
    }
    return [
        Worker(language, number, program, key, folder)
        for number in (1, 2)
        for language, program in programs_of.items()
    ]
