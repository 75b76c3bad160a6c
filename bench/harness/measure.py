"""One run: one target, one workload, one round."""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path

from . import figures
from .cores import Cores, pin
from .figures import Figures
from .plan import Target, Workload
from .runner import Acquisition, Runner, RunnerFailed, begin_together, refine_timers
from .server import Server, ServerSample, foreign_cpu


@dataclass(frozen=True)
class Run:
    """What was seen between "begin" and "done"; set-up and clean-up of the runners are left out."""

    acquisitions: list[Acquisition]
    before: ServerSample
    after: ServerSample
    seconds: float
    cpu: float  # seconds, of the runners
    switches: int  # context switches of the runners, from their start on
    grown: int  # bytes of resident memory, of the runners
    foreign_cpu: float  # cores that others kept busy

    @property
    def server_us(self) -> float:
        return (self.after.cpu - self.before.cpu) * 1e6

    def requests(self, target: Target) -> int:
        calls = self.after.calls_since(self.before).items()
        return sum(n for name, n in calls if name not in target.uncounted)


def measure(server: Server, workload: Workload, target: Target, folder: Path) -> Figures:
    if workload.kind == "memory":
        held = _play(server, workload, target, folder, work="held", keys="own")
        waiting = _play(server, workload, target, folder, work="waiting", keys="one")
        number = int(workload.load["threads"])
        return {
            "foreign_cpu": held.foreign_cpu,
            "bytes_per_held": held.grown / number,
            "bytes_per_waiter": waiting.grown / number,
        }
    run = _play(server, workload, target, folder)
    found = {"foreign_cpu": run.foreign_cpu}
    if workload.kind == "idle":
        return found | {"cpu_percent": run.cpu / run.seconds * 100}
    return found | (
        _renewal(run, target) if workload.kind == "renewal" else _locking(run, workload, target)
    )


def _play(server: Server, workload: Workload, target: Target, folder: Path, **more: object) -> Run:
    server.flush()
    load = {**workload.load, **more, "address": server.address}
    cores = Cores.of(workload.cores)
    pin(server.pid, cores.server)
    pin(os.getpid(), cores.clients)  # the runners inherit it, and the timers
    refine_timers("hold_us" in load)
    load["pairs"] = max(1, int(load["pairs"]) // int(load["threads"]))
    runners: list[Runner] = []
    switches = _switches()
    try:
        for n in range(workload.processes):
            words = {**load, "process": n}
            log = folder / f"{n}.log"
            runners.append(Runner(target.command, words, log, target.environment))
        for runner in runners:
            runner.wait_for("ready")
        resident = sum(runner.resident_bytes() for runner in runners)
        cpu = sum(runner.cpu() for runner in runners)
        ours = {os.getpid(), os.getppid(), server.pid, *(runner.pid for runner in runners)}
        foreign, began = foreign_cpu(ours), time.monotonic()
        before = server.sample()
        begin_together(runners)
        for runner in runners:
            runner.wait_for("done", float(load["seconds"]) + 30)
        after = server.sample()
        seconds = time.monotonic() - began
        foreign = (foreign_cpu(ours) - foreign) / seconds
        grown = sum(runner.resident_bytes() for runner in runners) - resident
        cpu = sum(runner.cpu() for runner in runners) - cpu
        for runner in runners:
            runner.end()
    finally:
        for runner in runners:
            runner.kill()
    acquisitions = [one for runner in runners for one in runner.acquisitions()]
    return Run(
        acquisitions,
        before,
        after,
        seconds,
        cpu,
        _switches() - switches,
        grown,
        max(0.0, foreign),
    )


def _switches() -> int:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_nvcsw + usage.ru_nivcsw


def _locking(run: Run, workload: Workload, target: Target) -> Figures:
    number = len(run.acquisitions)
    if number == 0:
        raise RunnerFailed("nothing was acquired")
    found: Figures = {
        "acquisitions": number,
        "overlaps": figures.overlaps(run.acquisitions, workload.load["keys"] == "one"),
        "commands": run.requests(target) / number,
        "server_us": run.server_us / number,
        "client_us": run.cpu * 1e6 / number,
        "client_switches": run.switches / number,
    }
    if workload.kind == "latency":
        return found | figures.latency(run.acquisitions)
    workers = workload.processes * int(workload.load["threads"])
    seconds = float(workload.load["seconds"])
    return found | figures.contention(run.acquisitions, workers, workload.processes, seconds)


def _renewal(run: Run, target: Target) -> Figures:
    renewed = run.after.calls_since(run.before).get("pexpire", 0)
    if renewed == 0:
        raise RunnerFailed("nothing was renewed")
    return {
        "renewed": renewed,
        "server_us_per_key": run.server_us / renewed,
        "requests_per_10000": run.requests(target) * 1e4 / renewed,
    }
