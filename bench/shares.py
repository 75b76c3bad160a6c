#!/usr/bin/env python3
"""Where the time of a workload goes, in the client and in the server, as a table of Markdown.

bench/shares.py [WORKLOAD...] plays each three times: for CPU time and scripts, for system calls,
and for samples of what both do. The latter two are by perf, which must be allowed to see the
kernel's stacks. docs/benchmarks.md has what came out.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.cores import Cores, pin
from harness.plan import Workload, read_workloads
from harness.runner import Runner, begin_together
from harness.server import Server
from run import BENCH, ROOT

SECONDS = 3.0
ATTACHED = 1.2  # seconds that perf takes to begin
CALLS = {"client": ("sendto", "recvfrom", "futex"), "server": ("read", "write", "epoll_wait")}
SWITCHES = "context-switches"
ENTER = "syscalls:sys_enter_"
IN_SLEEP = {"schedule", "__schedule"}
IN_WAKE = {"sock_def_readable", "ep_poll_callback", "try_to_wake_up", "futex_wake", "wake_up_q"}
FRAME = re.compile(r"^\s*[0-9a-f]+ (.*) \((.*)\)$", re.MULTILINE)
SHARES = (
    "sleeping and switching",
    "waking",
    "other system calls",
    "code of its own",
    "C libraries",
)


@dataclass
class Played:
    pairs: int
    cpu: dict[str, float]  # microseconds per pair, by side
    scripts: float  # microseconds per pair


@contextmanager
def perf(*arguments: str) -> Iterator[None]:
    process = subprocess.Popen(["perf", *arguments], stderr=subprocess.DEVNULL)
    time.sleep(ATTACHED)
    yield
    process.send_signal(signal.SIGINT)
    process.wait()


class Stage:
    """A server and a runner that is ready, where the workload wants them."""

    def __init__(self, workload: Workload, folder: Path) -> None:
        threads = int(workload.load["threads"])
        self.server = Server()
        load = {
            **workload.load,
            "seconds": SECONDS,
            "pairs": 1_000_000 // threads,
            "process": 0,
            "address": self.server.address,
        }
        command = [str(ROOT / "build/bench/runner_c")]
        self.runner = Runner(command, load, folder / "log", {})
        self.runner.wait_for("ready")
        cores = Cores.of(workload.cores)
        pin(self.server.pid, cores.server)
        pin(self.runner.pid, cores.clients)
        self.pids = {"client": self.runner.pid, "server": self.server.pid}

    def play(self) -> Played:
        """Once; nothing is left behind."""
        try:
            return self._play()
        finally:
            self.runner.kill()
            self.server.stop()

    def _play(self) -> Played:
        self.server.call("CONFIG", "RESETSTAT")
        client, server = self.runner.cpu(), self.server.sample().cpu
        begin_together([self.runner])
        self.runner.wait_for("done", SECONDS + 30)
        client, server = self.runner.cpu() - client, self.server.sample().cpu - server
        statistics = self.server.call("INFO", "commandstats")
        scripts = sum(map(int, re.findall(r"cmdstat_evalsha:calls=\d+,usec=(\d+)", statistics)))
        self.runner.end()
        pairs = len(self.runner.acquisitions())
        cpu = {"client": client * 1e6 / pairs, "server": server * 1e6 / pairs}
        return Played(pairs, cpu, scripts / pairs)


def count_calls(workload: Workload, folder: Path) -> dict[str, dict[str, float]]:
    """System calls and context switches per pair."""
    stage = Stage(workload, folder)

    def watch(side: str) -> list[str]:
        events = [*(f"{ENTER}{name}" for name in CALLS[side]), SWITCHES]
        file = str(folder / side)
        return ["stat", "-x,", "-e", ",".join(events), "-p", str(stage.pids[side]), "-o", file]

    with perf(*watch("client")), perf(*watch("server")):
        pairs = stage.play().pairs
    counts: dict[str, dict[str, float]] = {side: {} for side in CALLS}
    for side, counted in counts.items():
        for line in (folder / side).read_text().splitlines():
            number, _, event, *_ = [*line.split(","), "", ""]
            if number.isdigit():
                counted[event.removeprefix(ENTER)] = int(number) / pairs
    return counts


def sample_shares(workload: Workload, folder: Path) -> dict[str, Counter[str]]:
    stage = Stage(workload, folder)
    data, pids = str(folder / "perf.data"), ",".join(map(str, stage.pids.values()))
    with perf("record", "-q", "-e", "cpu-clock", "-F", "2500", "-g", "-p", pids, "-o", data):
        stage.play()
    command = ["perf", "script", "-i", data, "-F", "pid,ip,sym,dso"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    samples: dict[str, Counter[str]] = {side: Counter() for side in CALLS}
    for block in text.split("\n\n"):
        frames = FRAME.findall(block)
        if frames:
            side = "server" if int(block.split()[0]) == stage.pids["server"] else "client"
            samples[side][kind_of(frames)] += 1
    return samples


def kind_of(frames: list[tuple[str, str]]) -> str:
    """What a stack is doing: one of SHARES."""
    names, where = {name for name, _ in frames}, frames[0][1]
    if "kernel" in where:
        if names & IN_SLEEP:
            return SHARES[0]
        return SHARES[1] if names & IN_WAKE else SHARES[2]
    own = "liblockc" in where or "runner_c" in where or "redis" in where
    return SHARES[3] if own else SHARES[4]


def column(workload: Workload) -> dict[str, str]:
    with tempfile.TemporaryDirectory(prefix="lockc-bench-") as name:
        folder = Path(name)
        played = Stage(workload, folder).play()
        calls = count_calls(workload, folder)
        shares = sample_shares(workload, folder)
    cells = {"pairs per second": f"{played.pairs / SECONDS:,.0f}"}
    for side in CALLS:
        cells[f"{side}: CPU per pair, µs"] = f"{played.cpu[side]:.1f}"
        if side == "server":
            cells["server: of that in scripts, µs"] = f"{played.scripts:.1f}"
        for call in (*CALLS[side], SWITCHES):
            cells[f"{side}: {call} per pair"] = f"{calls[side].get(call, 0):.2f}"
        for share in SHARES:
            percent = 100 * shares[side][share] / shares[side].total()
            cells[f"{side}: {share}, %"] = f"{percent:.0f}"
    return cells


def main() -> None:
    if not shutil.which("perf"):
        sys.exit("shares: perf is missing; in Debian it is in the package linux-perf")
    workloads = read_workloads(BENCH / "workloads.json")
    names = sys.argv[1:] or ["pair", "pair-shared", "scale4", "scale64"]
    columns = [column(workloads[name]) for name in names]
    print("| | " + " | ".join(f"`{name}`" for name in names) + " |")
    print("|---" + "|---:" * len(names) + "|")
    for row in columns[0]:
        print(f"| {row} | " + " | ".join(cells[row] for cells in columns) + " |")


if __name__ == "__main__":
    main()
