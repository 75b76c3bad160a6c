"""A redis-server of the benchmark's own, and what it says about itself."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

INCLUDE = re.compile(r"^-- include (\S+)\n", re.MULTILINE)


@dataclass(frozen=True)
class ServerSample:
    calls: dict[str, int]  # of every command, by INFO commandstats
    cpu: float  # seconds

    def calls_since(self, earlier: ServerSample) -> dict[str, int]:
        return {name: n - earlier.calls.get(name, 0) for name, n in self.calls.items()}


class Server:
    """Starts on a free port in a temporary folder, without persistence; stop() ends it by pid."""

    def __init__(self, binary: str = "redis-server") -> None:
        self._folder = tempfile.mkdtemp(prefix="lockc-bench-")
        self.port = _free_port()
        self.address = f"127.0.0.1:{self.port}"
        command = f"{binary} --port {self.port} --bind 127.0.0.1 --appendonly no --maxclients 2000"
        self._process = subprocess.Popen(
            [*command.split(), "--save", "", "--dir", self._folder], stdout=subprocess.DEVNULL
        )
        self._socket = self._connect()
        self._replies = self._socket.makefile("rb")
        self.version = self._info("server")["redis_version"]

    @property
    def pid(self) -> int:
        return self._process.pid

    def _connect(self) -> socket.socket:
        give_up = time.monotonic() + 5
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port))
            except OSError:
                if self._process.poll() is not None or time.monotonic() > give_up:
                    self.stop()
                    raise
                time.sleep(0.01)

    def call(self, *words: str) -> str:
        encoded = [word.encode() for word in words]
        request = b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded)
        self._socket.sendall(b"*%d\r\n%s" % (len(encoded), request))
        line = self._replies.readline().decode()
        if line.startswith("-"):
            raise RuntimeError(line.strip())
        if line.startswith("$"):
            return self._replies.read(int(line[1:]) + 2)[:-2].decode()
        return line[1:].strip()

    def load_script(self, path: Path) -> str:
        """The SHA1 under which the script runs, its includes resolved."""
        text, included = path.read_text(), 1
        while included:
            text, included = INCLUDE.subn(lambda name: (path.parent / name[1]).read_text(), text)
        return self.call("SCRIPT", "LOAD", text)

    def _info(self, section: str) -> dict[str, str]:
        lines = self.call("INFO", section).splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def sample(self) -> ServerSample:
        prefix = "cmdstat_"
        calls = {
            name.removeprefix(prefix): int(text.split("calls=")[1].split(",")[0])
            for name, text in self._info("commandstats").items()
        }
        cpu = self._info("cpu")
        return ServerSample(calls, float(cpu["used_cpu_sys"]) + float(cpu["used_cpu_user"]))

    def flush(self) -> None:
        self.call("FLUSHALL")

    def stop(self) -> None:
        if hasattr(self, "_socket"):
            self._replies.close()
            self._socket.close()
        self._process.terminate()
        self._process.wait()
        shutil.rmtree(self._folder)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def foreign_cpu(ours: set[int]) -> float:
    """CPU seconds used so far by processes that are not ours, dead children included."""
    ticks = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) in ours:
            continue
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")
