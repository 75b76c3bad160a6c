"""A PostgreSQL of a test's own: in a temporary folder, on a Unix socket and no port."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from running import Running

READY_WITHIN = 60.0
SUPERUSER = "lockc"


def programs() -> Path | None:
    """The folder of the newest server's programs, which Debian keeps out of PATH."""
    found = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    newest = max(found, key=lambda path: int(path.parts[-3]), default=None)
    initdb = newest or shutil.which("initdb")
    return Path(initdb).resolve().parent if initdb else None


def as_nobody_special() -> dict[str, Any]:
    """The server refuses to run as root, so then it runs as the user that its package made."""
    if os.geteuid() != 0:
        return {}
    return {"user": "postgres", "group": "postgres", "extra_groups": []}


class PostgresServer(Running):
    def __init__(self) -> None:
        folder = programs()
        assert folder is not None, "PostgreSQL is not installed"
        self.programs = folder
        self.directory = Path(tempfile.mkdtemp(prefix="lockc-postgres-"))
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> PostgresServer:
        if os.geteuid() == 0:
            shutil.chown(self.directory, "postgres", "postgres")
        data = self.directory / "data"
        subprocess.run(
            [self.programs / "initdb", "--no-sync", "--auth=trust", "--encoding=UTF8",
             "--locale=C", f"--username={SUPERUSER}", data],
            check=True, stdout=subprocess.DEVNULL, cwd=self.directory, **as_nobody_special(),
        )  # fmt: skip
        with (self.directory / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [self.programs / "postgres", "-D", data, "-k", self.directory, "-F",
                 "-c", "listen_addresses="],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.directory,
                **as_nobody_special(),
            )  # fmt: skip
        self._wait_ready()
        return self

    def close(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)  # ends sessions and saves nothing more
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def connect(self) -> PostgresSession:
        return PostgresSession(self.directory)

    def _wait_ready(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + READY_WITHIN
        ask = [self.programs / "pg_isready", "--quiet", "--host", self.directory]
        while subprocess.run(ask, check=False).returncode != 0:
            log = (self.directory / "log").read_text()
            assert self._process.poll() is None, f"PostgreSQL ended:\n{log}"
            assert time.monotonic() < deadline, f"PostgreSQL doesn't start:\n{log}"
            time.sleep(0.05)


class PostgresSession(Running):
    """One connection, by psql; what a statement answers are its rows and its tag, "UPDATE 1"."""

    _END = "-- end of the answer --"

    def __init__(self, socket_directory: Path) -> None:
        self._psql = subprocess.Popen(
            ["psql", "-X", "-A", "-t", "-h", socket_directory, "-U", SUPERUSER, "postgres"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            bufsize=1,
        )

    def execute(self, statement: str) -> list[str]:
        self.send(statement)
        return self.answer()

    def send(self, statement: str) -> None:
        """Begins a statement that may have to wait for another connection."""
        assert self._psql.stdin is not None
        self._psql.stdin.write(f"{statement};\n\\echo {self._END}\n")

    def answer(self) -> list[str]:
        assert self._psql.stdout is not None
        return [line.rstrip("\n") for line in iter(self._psql.stdout.readline, f"{self._END}\n")]

    def close(self) -> None:
        self._psql.communicate("\\q\n")
