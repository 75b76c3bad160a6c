#!/usr/bin/env python3
"""Measures lockc against what the machine allows, and beside other libraries, round by round.

docs/benchmarks.md says what the workloads and figures mean. Ratios are taken within a round; the
median of the rounds is told. Fails if a target of the project's own can't be measured, or if two
holders of one key overlapped in it. What other libraries can't do is told.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from harness.cores import PLACEMENTS
from harness.plan import Target, Workload, read_targets, read_workloads
from harness.play import play
from harness.report import Result, machine, write_json
from harness.server import Server

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="fewer and shorter runs: under two minutes"
    )
    parser.add_argument("--rounds", type=int, help="default 5, quick 3")
    parser.add_argument("--repeats", type=int, help="of disturbed runs; default 2, quick 0")
    parser.add_argument("--workloads", help="comma separated; default all")
    parser.add_argument("--targets", help="comma separated; default those of each workload")
    parser.add_argument(
        "--more", type=Path, action="append", default=[], help="a file with more targets"
    )
    parser.add_argument("--cores", choices=PLACEMENTS, help="default: as each workload says")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="the build folder")
    parser.add_argument("--server", default=os.environ.get("LOCKC_REDIS_SERVER", "redis-server"))
    parser.add_argument("--out", type=Path, help="the JSON file; default in the build folder")
    parser.add_argument(
        "--keep", action="store_true", help="keep what the JSON file has of other workloads"
    )
    given = parser.parse_args()
    rounds, repeats = (3, 0) if given.quick else (5, 2)
    given.rounds = rounds if given.rounds is None else given.rounds
    given.repeats = repeats if given.repeats is None else given.repeats
    return given


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


def all_targets(server: Server, build: Path, more: list[Path]) -> dict[str, Target]:
    scripts = ROOT / "core/lock/scripts"
    places = {
        "bench": str(BENCH),
        "build": str(build / "bench"),
        "library": str(build),
        "python": sys.executable,
        "rivals": str(build / "bench/rivals"),
        "acquire": server.load_script(scripts / "acquire.lua"),
        "release": server.load_script(scripts / "release.lua"),
    }
    return read_targets([BENCH / "targets.json", BENCH / "rivals/targets.json", *more], places)


def chosen_targets(
    workload: Workload, given: str | None, targets: dict[str, Target]
) -> list[Target]:
    """Those of the workload, or the given ones behind what they are compared with."""
    if given:
        names = [*workload.ratios.values(), *given.split(",")]
    else:
        rivals = [name for name, target in targets.items() if target.rival and workload.rivals]
        names = [*workload.targets, *rivals]
    return [targets[name] for name in dict.fromkeys(names)]


def play_all(
    server: Server, given: argparse.Namespace, about: dict[str, object], out: Path
) -> list[Result]:
    targets = all_targets(server, given.build.resolve(), given.more)
    workloads = read_workloads(BENCH / "workloads.json")
    results = []
    for name in given.workloads.split(",") if given.workloads else workloads:
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
            chosen_targets(workload, given.targets, targets),
            given.rounds,
            given.repeats,
        )
        print(result.table(), flush=True)
        results.append(result)
        write_json(out, about, results, keep=given.keep)
    return results


def conclude(results: list[Result], seconds: float) -> int:
    for result in results:
        print("\n".join(result.lines()))
    own = sum(result.overlaps(rivals=False) for result in results)
    theirs = sum(result.overlaps(rivals=True) for result in results)
    rows = [row for result in results for rounds in result.rounds.values() for row in rounds]
    acquisitions = sum(row.get("acquisitions", 0) for row in rows)
    noise = max((row["foreign_cpu"] for row in rows), default=0.0)
    print(f"{own:.0f} overlapping holders in {acquisitions:.0f} acquisitions", end="")
    print(f", and {theirs:.0f} with other libraries" if theirs else "")
    print(f"{len(rows)} runs in {seconds:.0f} s; others used up to {noise:.2f} cores meanwhile")
    unavailable = {target.name: target.unavailable for r in results for target in r.unavailable}
    for name, reason in unavailable.items():
        print(f"bench: unavailable {name}: {reason}")
    failed = 0
    for result in results:
        for name, reason in result.missing.items():
            print(f"bench: not measured {result.workload.name}.{name}: {reason}")
            failed += not result.targets[name].rival
    return 1 if own or failed or not rows else 0


def main() -> int:
    given = arguments()
    began = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # and the server with it
    build = given.build.resolve()
    out = given.out or build / "bench" / ("quick.json" if given.quick else "full.json")
    no_go = build_go_runner(build)
    if no_go:
        print(f"lockc-go: {no_go}", file=sys.stderr)
    server = Server(given.server)
    try:
        about = machine(server.version)
        print(" ".join(f"{name}={value}" for name, value in about.items()), end="\n\n")
        results = play_all(server, given, about, out)
    finally:
        server.stop()
    return conclude(results, time.monotonic() - began)


if __name__ == "__main__":
    sys.exit(main())
