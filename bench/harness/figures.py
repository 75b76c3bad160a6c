"""From records to figures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from .runner import Acquisition

PROCESS_STRIDE = 100_000
WARM_UP = 10  # the first tenth of a latency run is dropped

Figures = dict[str, float]


def percentile_us(times_ns: Iterable[int], share: float) -> float:
    ordered = sorted(times_ns)
    if not ordered:
        return math.nan
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] / 1e3


def overlaps(acquisitions: list[Acquisition], one_key: bool) -> int:
    """How often a key was granted while its holder had not begun to release it."""
    held_until: dict[int, int] = {}
    found = 0
    for one in sorted(acquisitions, key=lambda a: a.granted):
        key = 0 if one_key else one.worker
        found += one.granted < held_until.get(key, 0)
        held_until[key] = max(one.releasing, held_until.get(key, 0))
    return found


def latency(acquisitions: list[Acquisition]) -> Figures:
    ordered = sorted(acquisitions, key=lambda a: a.asked)
    ordered = ordered[len(ordered) // WARM_UP :]
    pairs = [a.released - a.asked for a in ordered]
    seconds = (max(a.released for a in ordered) - ordered[0].asked) / 1e9
    return {
        "p50_us": percentile_us(pairs, 0.5),
        "p99_us": percentile_us(pairs, 0.99),
        "acquire_us": percentile_us((a.granted - a.asked for a in ordered), 0.5),
        "pairs_per_s": len(ordered) / seconds,
    }


def contention(
    acquisitions: list[Acquisition], workers: int, processes: int, seconds: float
) -> Figures:
    end = min(a.asked for a in acquisitions) + seconds * 1e9
    # Who still waits then gets its turn, but no others ask any more: only how long it took counts.
    waits = [a.granted - a.asked for a in acquisitions]
    ordered = sorted((a for a in acquisitions if a.granted < end), key=lambda a: a.granted)
    passed, crossed = [], []  # from a release begun to the next grant
    for before, after in pairwise(ordered):
        gap = after.granted - before.releasing
        if before.worker != after.worker:
            passed.append(gap)
        if before.worker // PROCESS_STRIDE != after.worker // PROCESS_STRIDE:
            crossed.append(gap)
    return {
        "acquisitions_per_s": len(ordered) / seconds,
        "handover_us": percentile_us(passed, 0.5),
        "cross_us": percentile_us(crossed, 0.5),
        "cross_p99_us": percentile_us(crossed, 0.99),
        "cross_share": len(crossed) / max(1, len(ordered) - 1),
        "wait_p50_us": percentile_us(waits, 0.5),
        "wait_p99_us": percentile_us(waits, 0.99),
        "fairness": _most_by_least(Counter(a.worker for a in ordered), workers),
        "process_fairness": _most_by_least(
            Counter(a.worker // PROCESS_STRIDE for a in ordered), processes
        ),
        "starved": workers - len({a.worker for a in ordered}),
    }


def _most_by_least(counts: Counter[int], expected: int) -> float:
    return max(counts.values()) / min(counts.values()) if len(counts) == expected else math.inf
