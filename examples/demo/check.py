"""Judges a run of the demo by its log.

A critical section writes "enter NAME LANGUAGE TOKEN WAIT_NS ENTERED_NS" when it begins and
"leave NAME LANGUAGE TOKEN VALUE LEFT_NS" when it has written the counter. All times are those of
CLOCK_MONOTONIC.
"""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

LANGUAGES = ("c", "python", "go", "shell")


@dataclass
class Section:
    """One critical section: the time from a grant to its release, or to the holder's death."""

    worker: str
    language: str
    token: int
    wait_ns: int
    entered_ns: int
    left_ns: int | None = None
    value: int | None = None  # what it wrote to the counter

    @property
    def asked_ns(self) -> int:
        return self.entered_ns - self.wait_ns


class Log:
    """The sections of a run, also while it still goes on."""

    def __init__(self) -> None:
        self.sections: list[Section] = []
        self.open: dict[str, Section] = {}  # by worker

    def add(self, line: str) -> None:
        """Takes the next line."""
        kind, worker, language, token, number, at = line.split()
        if kind == "enter":
            section = Section(worker, language, int(token), int(number), int(at))
            self.sections.append(section)
            self.open[worker] = section
        else:
            section = self.open.pop(worker)
            section.value, section.left_ns = int(number), int(at)

    def killed(self, worker: str, at_ns: int) -> bool:
        """Ends the section of a worker that is dead since at_ns; False: it was in none."""
        section = self.open.pop(worker, None)
        if section is None:
            return False
        section.left_ns = at_ns
        return True


@dataclass
class Verdict:
    """What a run showed."""

    acquisitions: int
    killed: int
    lost_updates: int
    overlaps: int
    token_inversions: int
    complaints: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        wrong = self.lost_updates + self.overlaps + self.token_inversions
        return wrong == 0 and self.killed > 0 and not self.complaints

    def __str__(self) -> str:
        return (
            f"demo: {'ok' if self.ok else 'FAILED'} acquisitions={self.acquisitions} "
            f"lost_updates={self.lost_updates} overlaps={self.overlaps} "
            f"token_inversions={self.token_inversions} killed={self.killed}"
        )


def lost_updates(sections: Iterable[Section], counter: int) -> int:
    """How many increments the counter doesn't show, or shows without anybody having made them.

    A holder that was killed may have written its value or not: each one explains one value that
    nobody told of. All other values from 1 to the counter are written exactly once.
    """
    told = Counter(section.value for section in sections if section.value is not None)
    untold = sum(section.value is None for section in sections)
    twice = sum(times - 1 for times in told.values())
    beyond = sum(value > counter for value in told)
    unexplained = max(0, counter - (len(told) - beyond) - untold)
    return twice + beyond + unexplained


def overlaps(in_order: Iterable[Section]) -> int:
    """How many sections began before all earlier ones were left."""
    count = 0
    left_ns = 0
    for section in in_order:
        count += section.entered_ns < left_ns
        left_ns = max(left_ns, section.left_ns or section.entered_ns)
    return count


def token_inversions(in_order: Iterable[Section]) -> int:
    """How many sections have a token that isn't larger than that of the one before."""
    return sum(later.token <= earlier.token for earlier, later in itertools.pairwise(in_order))


def judge(log: Log, counter: int, killed: int) -> Verdict:
    """The verdict on a finished run; counter: its last value; killed: holders killed inside."""
    in_order = sorted(log.sections, key=lambda section: section.entered_ns)
    verdict = Verdict(
        acquisitions=len(in_order),
        killed=killed,
        lost_updates=lost_updates(in_order, counter),
        overlaps=overlaps(in_order),
        token_inversions=token_inversions(in_order),
    )
    for language in LANGUAGES:
        if not any(section.language == language for section in in_order):
            verdict.complaints.append(f"no {language} worker ever got the lock")
    if log.open:
        verdict.complaints.append(f"never left: {', '.join(sorted(log.open))}")
    if killed == 0:
        verdict.complaints.append("no holder was killed")
    return verdict


def waited(in_order: list[Section]) -> set[int]:
    """The tokens of the sections that were asked for while another one was going on."""
    return {
        later.token
        for earlier, later in itertools.pairwise(in_order)
        if later.asked_ns < (earlier.left_ns or 0)
    }


def table(log: Log, killed: Mapping[str, int]) -> str:
    """A table with one row for each language; killed: by language."""
    in_order = sorted(log.sections, key=lambda section: section.entered_ns)
    after_a_wait = waited(in_order)
    rows = ["language  acquisitions   waits  killed  median wait     P99 wait"]
    for language in LANGUAGES:
        own = [section for section in in_order if section.language == language]
        waits = [section.wait_ns / 1e6 for section in own if section.token in after_a_wait]
        median, p99 = quantiles(waits)
        rows.append(
            f"{language:8}  {len(own):12}  {len(waits):6}  {killed.get(language, 0):6}"
            f"  {median:8.2f} ms  {p99:8.2f} ms"
        )
    return "\n".join(rows)


def quantiles(waits: list[float]) -> tuple[float, float]:
    if len(waits) < 2:
        return (waits[0], waits[0]) if waits else (0.0, 0.0)
    return statistics.median(waits), statistics.quantiles(waits, n=100, method="inclusive")[98]
