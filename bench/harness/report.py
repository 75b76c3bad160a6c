"""Rounds to medians and ratios; table, lines and JSON."""

from __future__ import annotations

import json
import math
import os
import platform
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

from .figures import Figures
from .plan import Target, Workload


@dataclass(frozen=True)
class Summary:
    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: list[float]) -> Summary:
        return cls(statistics.median(values), min(values), max(values))

    def __str__(self) -> str:
        if self.low == self.high:
            return number(self.median)
        return f"{number(self.median)} ({number(self.low)}..{number(self.high)})"


def number(value: float) -> str:
    """Three digits behind the point where they tell something."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3f}".rstrip("0").rstrip(".")


@dataclass
class Result:
    """All rounds of one workload. A target that failed has a reason instead of rounds."""

    workload: Workload
    targets: dict[str, Target]
    rounds: dict[str, list[Figures]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def unavailable(self) -> list[Target]:
        return [target for target in self.targets.values() if target.unavailable]

    def overlaps(self, *, rivals: bool) -> float:
        return sum(
            row.get("overlaps", 0)
            for name, rows in self.rounds.items()
            for row in rows
            if self.targets[name].rival == rivals
        )

    def summary(self, target: str) -> dict[str, Summary]:
        """Medians of the reported figures; ratios are taken within a round."""
        rows = self.rounds[target]
        found: dict[str, Summary] = {}
        for name, reference in self.workload.ratios.items():
            others = self.rounds.get(reference)
            if others and reference != target:
                compare = self.workload.compare
                found[name] = Summary.of(
                    [mine[compare] / its[compare] for mine, its in zip(rows, others, strict=True)]
                )
        for name in self.workload.report:
            found[name] = Summary.of([row[name] for row in rows])
        return found

    def table(self) -> str:
        load = " ".join(f"{name}={value}" for name, value in self.workload.load.items())
        columns = [*self.workload.ratios, *self.workload.report]
        lines = [
            f"{self.workload.name}: processes={self.workload.processes} {load}",
            "",
            "| target | " + " | ".join(columns) + " |",
            "|---" + "|---:" * len(columns) + "|",
        ]
        for target in self.rounds:
            summary = self.summary(target)
            cells = [str(summary[name]) if name in summary else "" for name in columns]
            lines.append(f"| {target} | " + " | ".join(cells) + " |")
        return "\n".join([*lines, ""])

    def lines(self) -> list[str]:
        return [
            f"bench: {self.workload.name}.{target}.{name} {number(summary.median)}"
            for target in self.rounds
            for name, summary in self.summary(target).items()
        ]


def machine(server_version: str) -> dict[str, object]:
    models = [
        line.split(":")[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if "model name" in line
    ]
    return {
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "cpu": models[0] if models else platform.machine(),
        "cores": os.cpu_count(),
        "kernel": ".".join(platform.release().split(".")[:2]),
        "server": server_version,
        "load_average": round(os.getloadavg()[0], 2),
    }


def write_json(
    path: Path, about: dict[str, object], results: list[Result], *, keep: bool = False
) -> None:
    """With keep, other workloads that the file has stay in it."""
    earlier = json.loads(path.read_text())["workloads"] if keep and path.exists() else []
    workloads = {one["name"]: one for one in [*earlier, *map(_document, results)]}
    document = {"machine": about, "workloads": list(workloads.values())}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(_finite(document), indent=1, allow_nan=False) + "\n")


def _document(result: Result) -> dict[str, object]:
    return {
        "name": result.workload.name,
        "processes": result.workload.processes,
        "cores": result.workload.cores,
        "load": result.workload.load,
        "ratios": result.workload.ratios,
        "targets": {
            name: {
                "rival": result.targets[name].rival,
                "version": result.targets[name].version,
                "summary": {key: vars(value) for key, value in result.summary(name).items()},
                "rounds": rows,
            }
            for name, rows in result.rounds.items()
        },
        "missing": result.missing,
        "unavailable": {target.name: target.unavailable for target in result.unavailable},
    }


def _finite(value: object) -> object:
    """JSON has no infinity: how much fairer than one that got none is null."""
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
