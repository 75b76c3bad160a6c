"""A real server for tests: own port, own folder, nothing persisted, stopped by its process id.

As a program it gives one to any command, and answers with the command's exit code:

    python3 tests/support/redis_server.py run [--option value ...] -- command ...

The command finds it by LOCKC_URL, LOCKC_TEST_PORT and LOCKC_TEST_SOCKET. LOCKC_REDIS_SERVER names
another server binary than redis-server, of Valkey for example.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from resp import Connection
from running import Running

READY = "Ready to accept connections"
READY_WITHIN = 20.0
PORT_ATTEMPTS = 5


def free_port() -> int:
    """A port that was free a moment ago; whoever binds it next may find it taken."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class RedisServer(Running):
    """One server process. Options are those of redis.conf, with _ for -."""

    def __init__(self, options: dict[str, str | int] | None = None, port: int = 0) -> None:
        self.binary = os.environ.get("LOCKC_REDIS_SERVER", "redis-server")
        self.options = {name.replace("_", "-"): value for name, value in (options or {}).items()}
        self.directory = Path(tempfile.mkdtemp(prefix="lockc-redis-"))
        self.socket_path = str(self.directory / "redis.sock")
        self.port = port
        self._fixed_port = port != 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "the server isn't running"
        return self._process.pid

    @property
    def log(self) -> str:
        path = self.directory / "redis.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def start(self) -> RedisServer:
        """Starts the process and waits until it answers; the port stays that of the first start."""
        for _ in range(1 if self._fixed_port else PORT_ATTEMPTS):
            if not self._fixed_port:
                self.port = free_port()
            begin = len(self.log)
            self._process = subprocess.Popen(self._command(), stdin=subprocess.DEVNULL)
            if self._wait_ready(begin):
                self._fixed_port = True
                return self
            self.stop()
        raise RuntimeError(f"{self.binary} doesn't start:\n{self.log}")

    def stop(self) -> None:
        """Ends the process and waits for it; can be started again, empty."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the process as a crash would."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        self.stop()
        self.start()

    def suspend(self) -> None:
        """Stops the process where it is: connections stay, nothing is answered."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def connect(self, **options: str | float | None) -> Connection:
        return Connection(self.port, **options)  # type: ignore[arg-type]

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _command(self) -> list[str]:
        options: dict[str, str | int] = {
            "bind": "127.0.0.1",
            "port": self.port,
            "unixsocket": self.socket_path,
            "dir": str(self.directory),
            "logfile": str(self.directory / "redis.log"),
            "save": "",
            "appendonly": "no",
            "daemonize": "no",
            **self.options,
        }
        command = [self.binary]
        for name, value in options.items():
            command += [f"--{name}", *(str(value).split() or [""])]
        return command

    def _wait_ready(self, begin: int) -> bool:
        """Whether the log says so, behind what stood there before this start."""
        assert self._process is not None
        deadline = time.monotonic() + READY_WITHIN
        while time.monotonic() < deadline and self._process.poll() is None:
            if READY in self.log[begin:]:
                return True
            time.sleep(0.01)
        return False

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        process.send_signal(signal.SIGCONT)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def run(arguments: list[str]) -> int:
    """Runs the command behind "--" with a server of its own and returns its exit code."""
    split = arguments.index("--")
    names, command = arguments[:split], arguments[split + 1 :]
    options: dict[str, str | int] = {
        name.removeprefix("--"): value for name, value in zip(names[::2], names[1::2], strict=True)
    }
    with RedisServer(options) as server:
        environment = {
            **os.environ,
            "LOCKC_URL": server.url,
            "LOCKC_TEST_PORT": str(server.port),
            "LOCKC_TEST_SOCKET": server.socket_path,
        }
        code = subprocess.call(command, env=environment)
        return code if code >= 0 else 128 - code


def main() -> int:
    arguments = sys.argv[1:]
    if len(arguments) < 3 or arguments[0] != "run" or "--" not in arguments[:-1]:
        print(__doc__, file=sys.stderr)
        return 2
    # An interrupt ends the command, and then the server in the ordinary way.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    return run(arguments[1:])


if __name__ == "__main__":
    sys.exit(main())
