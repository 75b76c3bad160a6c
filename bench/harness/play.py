"""A workload: all its targets, round by round."""

from __future__ import annotations

import tempfile
from pathlib import Path

from .figures import Figures
from .measure import measure
from .plan import Target, Workload
from .report import Result
from .runner import RunnerFailed
from .server import Server

QUIET = 0.1  # cores that others may use; a noisier run is repeated


def play(
    server: Server, workload: Workload, targets: list[Target], rounds: int, repeats: int
) -> Result:
    result = Result(workload, {target.name: target for target in targets})
    with tempfile.TemporaryDirectory(prefix="lockc-bench-") as folder:
        for _ in range(workload.rounds or rounds):
            for target in targets:
                if target.unavailable or target.name in result.missing:
                    continue
                try:
                    figures = _measure_quietly(server, workload, target, Path(folder), repeats)
                except (RunnerFailed, OSError) as error:
                    result.missing[target.name] = str(error)
                    result.rounds.pop(target.name, None)
                    continue
                result.rounds.setdefault(target.name, []).append(figures)
    return result


def _measure_quietly(
    server: Server, workload: Workload, target: Target, folder: Path, repeats: int
) -> Figures:
    """The least disturbed of a few tries."""
    tries: list[Figures] = []
    while not tries or (tries[-1]["foreign_cpu"] > QUIET and len(tries) <= repeats):
        tries.append(measure(server, workload, target, folder))
    return min(tries, key=lambda figures: figures["foreign_cpu"])
