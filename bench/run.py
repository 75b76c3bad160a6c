#!/usr/bin/env python3
"""Measures lockc against what the machine allows, on a private server, round by round.

docs/benchmarks.md says what the workloads and figures mean. Ratios are taken within a round; the
median of the rounds is told. Fails if a target can't be measured, or if two holders overlapped.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from harness.cores import PLACEMENTS
from harness.figures import Figures
from harness.measure import measure
from harness.plan import Target, Workload, read_targets, read_workloads
from harness.report import Result, machine, write_json
from harness.runner import RunnerFailed
from harness.server import Server

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
QUIET = 0.1  # cores that others may use; a noisier run is repeated
REPEATS = 2


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="fewer and shorter runs: under two minutes"
    )
    parser.add_argument("--rounds", type=int, help="default 5, quick 3")
    parser.add_argument("--workloads", help="comma separated; default all")
    parser.add_argument("--targets", help="comma separated; default those of each workload")
    parser.add_argument(
        "--more", type=Path, action="append", default=[], help="a file with more targets"
    )
    parser.add_argument("--cores", choices=PLACEMENTS, help="default: as each workload says")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="the build folder")
    parser.add_argument("--server", default=os.environ.get("LOCKC_REDIS_SERVER", "redis-server"))
    parser.add_argument("--out", type=Path, help="the JSON file; default in the build folder")
    return parser.parse_args()


def build_go_runner(build: Path) -> str | None:
    """Why there is no Go runner, or None."""
    go = shutil.which("go") or shutil.which("go", path="/usr/lib/go/bin")
    if not go:
        return "go is not installed"
    done = subprocess.run(
        [go, "build", "-o", build / "bench/runner_go", "."],
        cwd=BENCH / "runner_go",
        env={
            **os.environ,
            "PKG_CONFIG_PATH": f"{build}/pkgconfig:{os.environ.get('PKG_CONFIG_PATH', '')}",
        },
        stderr=subprocess.PIPE,
        text=True,
    )
    return done.stderr.strip() or "go build failed" if done.returncode else None


def measure_quietly(
    server: Server, workload: Workload, target: Target, folder: Path, repeats: int
) -> Figures:
    """The least disturbed of a few tries."""
    tries: list[Figures] = []
    while not tries or (tries[-1]["foreign_cpu"] > QUIET and len(tries) <= repeats):
        tries.append(measure(server, workload, target, folder))
    return min(tries, key=lambda figures: figures["foreign_cpu"])


def play(
    server: Server, workload: Workload, targets: list[Target], rounds: int, repeats: int
) -> Result:
    result = Result(workload)
    with tempfile.TemporaryDirectory(prefix="lockc-bench-") as folder:
        for _ in range(workload.rounds or rounds):
            for target in targets:
                if target.name in result.missing:
                    continue
                try:
                    figures = measure_quietly(server, workload, target, Path(folder), repeats)
                except (RunnerFailed, OSError) as error:
                    result.missing[target.name] = str(error)
                    result.rounds.pop(target.name, None)
                    continue
                result.rounds.setdefault(target.name, []).append(figures)
    return result


def chosen_targets(workload: Workload, given: str | None) -> list[str]:
    """Those of the workload, or the given ones behind what they are compared with."""
    if not given:
        return workload.targets
    return list(dict.fromkeys([*workload.ratios.values(), *given.split(",")]))


def play_all(server: Server, given: argparse.Namespace, about: dict[str, object]) -> list[Result]:
    build = given.build.resolve()
    scripts = ROOT / "core/lock/scripts"
    places = {
        "bench": str(BENCH),
        "build": str(build / "bench"),
        "library": str(build),
        "python": sys.executable,
        "acquire": server.load_script(scripts / "acquire.lua"),
        "release": server.load_script(scripts / "release.lua"),
    }
    targets = read_targets([BENCH / "targets.json", *given.more], places)
    workloads = read_workloads(BENCH / "workloads.json")
    names = given.workloads.split(",") if given.workloads else workloads
    results = []
    for name in names:
        workload = workloads[name]
        if given.quick and workload.quick is None:
            continue
        if given.quick:
            workload = workload.shortened()
        if given.cores:
            workload = replace(workload, cores=given.cores)
        result = play(
            server,
            workload,
            [targets[name] for name in chosen_targets(workload, given.targets)],
            given.rounds or (3 if given.quick else 5),
            0 if given.quick else REPEATS,
        )
        print(result.table(), flush=True)
        results.append(result)
    out = given.out or build / "bench" / ("quick.json" if given.quick else "full.json")
    write_json(out, about, results)
    return results


def main() -> int:
    given = arguments()
    began = time.monotonic()
    no_go = build_go_runner(given.build.resolve())
    if no_go:
        print(f"lockc-go: {no_go}", file=sys.stderr)
    server = Server(given.server)
    try:
        about = machine(server.version)
        print(" ".join(f"{name}={value}" for name, value in about.items()), end="\n\n")
        results = play_all(server, given, about)
    finally:
        server.stop()
    return conclude(results, time.monotonic() - began)


def conclude(results: list[Result], seconds: float) -> int:
    for result in results:
        print("\n".join(result.lines()))
    rows = [row for result in results for rounds in result.rounds.values() for row in rounds]
    locking = [row for row in rows if "overlaps" in row]
    overlaps = sum(row["overlaps"] for row in locking)
    noise = max((row["foreign_cpu"] for row in rows), default=0.0)
    acquisitions = sum(row["acquisitions"] for row in locking)
    print(f"{overlaps:.0f} overlapping holders in {acquisitions:.0f} acquisitions")
    print(f"{len(rows)} runs in {seconds:.0f} s; others used up to {noise:.2f} cores meanwhile")
    missing = [
        (result.workload.name, *item) for result in results for item in result.missing.items()
    ]
    for workload, target, reason in missing:
        print(f"not measured: {workload}.{target}: {reason}", file=sys.stderr)
    return 1 if overlaps or missing or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
