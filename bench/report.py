#!/usr/bin/env python3
"""Prints the results of run.py as Markdown, or puts them into a page between its two marks.

bench/report.py build/bench/full.json
bench/report.py build/bench/full.json --into docs/benchmarks.md
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

from harness.play import QUIET
from harness.report import Summary, number
from harness.results import Results

BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"

# Of the side-by-side table: heading, workload, figure.
COLUMNS = [
    ("pair µs", "pair", "p50_us"),
    ("to `limit`", "pair", "ratio"),
    ("commands", "pair", "commands"),
    ("one core, to `limit`", "pair-shared", "ratio"),
    ("queue /s", "queue", "acquisitions_per_s"),
    ("to `grant`", "queue", "ratio"),
    ("commands", "queue", "commands"),
    ("p99 wait ms", "queue", "wait_p99_us"),
    ("max/min", "queue", "fairness"),
    ("starved", "queue", "starved"),
    ("contended /s", "contended", "acquisitions_per_s"),
    ("starved", "contended", "starved"),
    ("hand-over µs", "handover", "cross_us"),
    ("to `grant`", "handover", "ratio"),
    ("handed over %", "handover", "cross_share"),
]
SCALE = {"wait_p99_us": 1e-3, "cross_share": 100}

# Of the list of figures: ratios, and these, where they are what a workload is for.
COUNTS = {"commands", "fairness", "starved", "requests_per_10000", "bytes_per_held"}
COUNTS |= {"bytes_per_waiter", "server_us_per_key"}


def cell(summary: Summary | None, scale: float = 1) -> str:
    """The median; three digits are as many as it has."""
    if summary is None:
        return ""
    value = summary.median * scale
    if not math.isfinite(value):
        return "∞"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def side_by_side(results: Results) -> list[str]:
    workloads = list(dict.fromkeys(workload for _, workload, _ in COLUMNS))
    lines = [
        row(["target", *(heading for heading, _, _ in COLUMNS)]),
        "|---" + "|---:" * len(COLUMNS) + "|",
    ]
    for rivals in (False, True):
        for target in results.targets(*workloads, rivals=rivals):
            cells = [
                cell(results.summary(workload, target, figure), SCALE.get(figure, 1))
                for _, workload, figure in COLUMNS
            ]
            lines.append(row([f"`{target}`", *cells]))
    return lines


def figures(results: Results) -> list[str]:
    lines = ["| figure | median | range over the rounds |", "|---|---:|---:|"]
    for workload in results.workloads:
        for target in results.targets(workload, rivals=False):
            for figure in results.figures(workload, target):
                summary = results.summary(workload, target, figure)
                told = figure.endswith("ratio") or figure in COUNTS or workload == "scale64"
                if summary and told and target.startswith(("lockc", "hand")):
                    name = f"`{workload}.{target}.{figure}`"
                    low, high = number(summary.low), number(summary.high)
                    span = f"{low}..{high}" if low != high else ""
                    lines.append(row([name, number(summary.median), span]))
    return lines


def heading(results: Results) -> str:
    machine = results.machine
    warning = "**So the machine was busy: judge times by their ranges.**\n"
    return (
        f"{machine['date']}, {machine['cores']} cores, {machine['cpu']}, "
        f"Linux {machine['kernel']}, redis-server {machine['server']}; "
        f"rounds: {results.rounds()}; others used at most {results.noise():.2f} cores.\n"
        f"{warning if results.noise() > QUIET else ''}"
        "Medians. ∞ in *max/min*: a worker got none. *Handed over*: the share of grants that went\n"
        "to the other process."
    )


def overlaps(results: Results) -> str:
    def told(rivals: bool) -> tuple[str, str]:
        overlapping = results.total("overlaps", rivals=rivals)
        return f"{overlapping:.0f}", f"{results.total('acquisitions', rivals=rivals):,.0f}"

    (ours, of_ours), (theirs, of_theirs) = told(False), told(True)
    return (
        f"{ours} overlapping holders in {of_ours} acquisitions, "
        f"{theirs} in {of_theirs} of other libraries."
    )


def report(results: Results) -> str:
    about = results.versions()
    about |= {name: f"unavailable: {why}" for name, why in results.reasons("unavailable").items()}
    about |= {name: f"not measured: {why}" for name, why in results.reasons("missing").items()}
    lines = [heading(results), "", *side_by_side(results), "", overlaps(results), ""]
    lines += [f"- `{name}`: {text}" for name, text in about.items()]
    return "\n".join([*lines, "", *figures(results)])


def put(text: str, page: Path) -> None:
    before, _, rest = page.read_text().partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        sys.exit(f"{page}: {BEGIN.strip()} and {END.strip()} are missing")
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--into", type=Path, metavar="PAGE")
    given = parser.parse_args()
    text = report(Results(given.results))
    if given.into:
        put(text, given.into)
    else:
        print(text)


if __name__ == "__main__":
    main()
