#!/usr/bin/env python3
"""Draws the results of run.py as SVG files, the same bytes for the same results.

bench/plot.py build/bench/full.json docs/plots
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from harness.report import Summary
from harness.results import Results
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

matplotlib.rcParams.update(
    {
        "svg.hashsalt": "lockc",  # else the identifiers in the file are random
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.grid.axis": "x",
        "axes.axisbelow": True,
        "grid.color": "#dddddd",
    }
)
OWN, BOUND, OTHER = "#1f6f8b", "#9a9a9a", "#d98e4a"
WIDTH, ROW_HEIGHT, MARGIN = 8.0, 0.27, 1.0  # inches


def colour(target: str, results: Results) -> str:
    if target.startswith("lockc"):
        return OWN
    return OTHER if target in results.versions() else BOUND


def bars(
    axes: Axes, results: Results, workload: str, figure: str, targets: list[str]
) -> list[Summary | None]:
    """One bar for each target, from the top, with its range as a line; none where it is endless."""
    found = [results.summary(workload, target, figure) for target in targets]
    for place, (target, summary) in enumerate(zip(targets, found, strict=True)):
        if summary is None or not math.isfinite(summary.median):
            continue
        axes.barh(place, summary.median, color=colour(target, results), height=0.7)
        axes.plot([summary.low, summary.high], [place, place], color="#222222", linewidth=1)
    axes.set_yticks(range(len(targets)), targets)
    axes.set_ylim(len(targets) - 0.4, -0.6)
    return found


def note(axes: Axes, place: int, at: float, text: str) -> None:
    axes.annotate(
        text, (at, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8
    )


def by_median(
    results: Results, workload: str, figure: str, *, largest_first: bool = False
) -> list[str]:
    def median(target: str) -> float:
        summary = results.summary(workload, target, figure)
        value = summary.median if summary else math.inf
        return -value if largest_first and math.isfinite(value) else value

    return sorted(results.targets(workload), key=median)


def sheet(targets: list[str], columns: int = 1) -> tuple[plt.Figure, list[Axes]]:
    height = len(targets) * ROW_HEIGHT + MARGIN
    figure, axes = plt.subplots(
        1, columns, figsize=(WIDTH, height), sharey=True, layout="constrained", squeeze=False
    )
    return figure, list(axes[0])


def duration(us: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= size:
            return f"{us / size:.3g} {unit}"
    return f"{us:.0f} µs"


def pair(results: Results) -> plt.Figure:
    targets = by_median(results, "pair", "p50_us")
    workloads = {"pair": "server and client on cores of their own", "pair-shared": "on one core"}
    figure, panels = sheet(targets, columns=2)
    for axes, (workload, title) in zip(panels, workloads.items(), strict=True):
        for place, summary in enumerate(bars(axes, results, workload, "p50_us", targets)):
            if summary:
                note(axes, place, summary.high, f"{summary.median:.0f}")
        axes.margins(x=0.15)
        axes.set_xlim(left=0)
        axes.set_xlabel(f"µs for an uncontended acquire + release\n{title}")
    return figure


def queue(results: Results) -> plt.Figure:
    targets = by_median(results, "queue", "acquisitions_per_s", largest_first=True)
    figure, (rate, fairness) = sheet(targets, columns=2)
    for place, summary in enumerate(bars(rate, results, "queue", "acquisitions_per_s", targets)):
        if summary:
            note(rate, place, summary.high, f"{summary.median:.0f}")
    rate.margins(x=0.15)
    rate.set_xlim(left=0)
    rate.set_xlabel("acquisitions per second\n2 processes of 10 workers, 1 key held for 1 ms")
    fairness.set_xscale("log")
    for place, summary in enumerate(bars(fairness, results, "queue", "fairness", targets)):
        starved = results.summary("queue", targets[place], "starved")
        if summary and math.isfinite(summary.median):
            note(fairness, place, min(summary.high, summary.median * 3), f"{summary.median:.3g}")
        elif starved:
            note(fairness, place, 1, f"{starved.median:.0f} of 20 workers got nothing")
    fairness.set_xlim(1, 100)
    fairness.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    fairness.set_xlabel("acquisitions of the luckiest worker\nto those of the unluckiest")
    return figure


def handover(results: Results) -> plt.Figure:
    targets = by_median(results, "handover", "cross_us")
    figure, (axes,) = sheet(targets)
    axes.set_xscale("log")
    found = bars(axes, results, "handover", "cross_us", targets)
    for place, (target, summary) in enumerate(zip(targets, found, strict=True)):
        share = results.summary("handover", target, "cross_share")
        if summary and share and math.isfinite(summary.high):
            percent = share.median * 100
            share_text = f"{percent:.0f}" if percent >= 10 else f"{percent:.1f}"
            text = f"{duration(summary.median)}, {share_text} % handed over"
            note(axes, place, summary.high, text)
        else:
            note(axes, place, 10, "never")
    axes.set_xlim(10, 1e5)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: duration(value)))
    axes.set_xlabel(
        "from the call of release to the other process holding, where it got the key at all"
    )
    return figure


PLOTS = {"pair": pair, "queue": queue, "handover": handover}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    results = Results(given.results)
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PLOTS.items():
        if name in results.workloads:
            figure = draw(results)
            figure.savefig(given.folder / f"{name}.svg", metadata={"Date": None, "Creator": None})
            plt.close(figure)


if __name__ == "__main__":
    main()
