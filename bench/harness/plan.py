"""What is measured: workloads.json and targets.json, read and checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

NOT_SET_UP = {"unavailable": "not set up: bench/rivals/setup.py does it"}


@dataclass(frozen=True)
class Target:
    """A program that plays a workload."""

    name: str
    command: list[str]
    uncounted: frozenset[str]  # commands that open connections, or that its scripts call
    environment: dict[str, str]
    rival: bool = False  # measured beside lockc, not what it is judged by
    version: str = ""
    unavailable: str = ""  # why it can't be had on this machine


@dataclass(frozen=True)
class Workload:
    name: str
    kind: str  # latency, contention, renewal, idle or memory: which figures there are
    compare: str  # the figure whose ratio is taken
    ratios: dict[str, str]  # name of a ratio -> the target it is to
    report: list[str]  # figures in the table and in the lines
    targets: list[str]
    load: dict[str, Any]  # arguments of the runner
    processes: int = 1
    cores: str = "apart"  # one of harness.cores.PLACEMENTS
    rounds: int | None = None  # fewer than asked for, where noise is no matter
    rivals: bool = False  # beside the targets, all rivals, unless the run is quick
    quick: dict[str, Any] | None = field(default_factory=dict)  # what is otherwise; None: left out

    def shortened(self) -> Workload:
        other = dict(self.quick or {})
        other["load"] = self.load | other.get("load", {})
        other["rivals"] = False
        return replace(self, **other)


def read_workloads(path: Path) -> dict[str, Workload]:
    return {name: Workload(name, **entry) for name, entry in json.loads(path.read_text()).items()}


def read_targets(paths: list[Path], places: Mapping[str, str]) -> dict[str, Target]:
    """Later files add to earlier ones; {name} in them stands for a place.

    A file of rivals names the file that says which of them are there: the "status" that
    rivals/setup.py writes.
    """
    targets: dict[str, Target] = {}
    uncounted: dict[str, list[str]] = {}
    for path in paths:
        document = json.loads(path.read_text())
        uncounted |= document.get("uncounted", {})
        rivals = "status" in document
        status = _read_status(Path(document["status"].format_map(places))) if rivals else {}
        for name, entry in document["targets"].items():
            targets[name] = Target(
                name,
                [word.format_map(places) for word in entry["command"]],
                frozenset(uncounted["all"] + uncounted[entry["uncounted"]]),
                {
                    key: text.format_map(places)
                    for key, text in entry.get("environment", {}).items()
                },
                rivals,
                **(status.get(name, NOT_SET_UP) if rivals else {}),
            )
    return targets


def _read_status(path: Path) -> dict[str, dict[str, str]]:
    return json.loads(path.read_text()) if path.exists() else {}
