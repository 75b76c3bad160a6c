"""A JSON file that run.py wrote, for those who show it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from .report import Summary


class Results:
    def __init__(self, path: Path) -> None:
        document = json.loads(path.read_text())
        self.machine: dict[str, Any] = document["machine"]
        self.workloads: dict[str, dict[str, Any]] = {w["name"]: w for w in document["workloads"]}

    def targets(self, *workloads: str, rivals: bool | None = None) -> list[str]:
        """Those measured in any of the workloads, in their order."""
        names = {
            name: None
            for workload in workloads
            for name, target in self._targets(workload).items()
            if rivals in (None, target["rival"])
        }
        return list(names)

    def summary(self, workload: str, target: str, figure: str) -> Summary | None:
        found = self._targets(workload).get(target, {}).get("summary", {}).get(figure)
        return (
            Summary(**{k: math.inf if v is None else v for k, v in found.items()})
            if found
            else None
        )

    def figures(self, workload: str, target: str) -> list[str]:
        return list(self._targets(workload)[target]["summary"])

    def versions(self) -> dict[str, str]:
        return {
            name: target["version"]
            for workload in self.workloads
            for name, target in self._targets(workload).items()
            if target["rival"]
        }

    def reasons(self, kind: str) -> dict[str, str]:
        """Why something is missing: kind is "unavailable" or "missing"."""
        return {k: v for w in self.workloads.values() for k, v in w[kind].items()}

    def total(self, figure: str, *, rivals: bool) -> float:
        return sum(row.get(figure, 0) for row in self._rows(rivals))

    def rounds(self) -> int:
        return max(len(t["rounds"]) for w in self.workloads for t in self._targets(w).values())

    def noise(self) -> float:
        return max(row["foreign_cpu"] for both in (False, True) for row in self._rows(both))

    def _targets(self, workload: str) -> dict[str, dict[str, Any]]:
        return self.workloads.get(workload, {}).get("targets", {})

    def _rows(self, rivals: bool) -> list[dict[str, float]]:
        return [
            row
            for workload in self.workloads
            for target in self._targets(workload).values()
            if target["rival"] == rivals
            for row in target["rounds"]
        ]
