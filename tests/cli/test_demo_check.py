"""The demo's judge sees each kind of damage in a log."""

from __future__ import annotations

import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "examples" / "demo"))

import check

# Four good sections, one of each language; a fifth one, of c-2.1, was killed at 95.
GOOD = """
enter c-1.1 c 10 5 10
leave c-1.1 c 10 1 19
enter python-1.1 python 11 15 20
leave python-1.1 python 11 2 29
enter go-1.1 go 12 1 30
leave go-1.1 go 12 3 39
enter shell-1.1 shell 13 1 40
leave shell-1.1 shell 13 4 49
enter c-2.1 c 14 1 90
"""


def judged(text: str, counter: int, killed_at: int = 95) -> check.Verdict:
    log = check.Log()
    for line in text.split("\n"):
        if line:
            log.add(line)
    return check.judge(log, counter, int(log.killed("c-2.1", killed_at)))


@pytest.mark.parametrize("counter", [4, 5])  # the killed one may have written, or not
def test_good_run(counter: int) -> None:
    verdict = judged(GOOD, counter)
    expected = "acquisitions=5 lost_updates=0 overlaps=0 token_inversions=0 killed=1"
    assert verdict.ok
    assert str(verdict) == f"demo: ok {expected}"


@pytest.mark.parametrize("counter", [3, 6])  # an update that is gone; one that nobody made
def test_wrong_counter(counter: int) -> None:
    verdict = judged(GOOD, counter)
    assert verdict.lost_updates == 1
    assert str(verdict).startswith("demo: FAILED ")


def test_value_written_twice_is_a_lost_update() -> None:
    assert judged(GOOD.replace("go 12 3", "go 12 2"), 4).lost_updates == 1


def test_overlap() -> None:
    verdict = judged(GOOD.replace("python 11 15 20", "python 11 15 18"), 4)
    assert (verdict.overlaps, verdict.ok) == (1, False)


def test_overlap_with_a_killed_holder() -> None:
    late = "enter go-2.1 go 15 1 94\nleave go-2.1 go 15 5 99\n"
    assert judged(GOOD + late, 5).overlaps == 1
    assert judged(GOOD + late, 5, killed_at=93).ok


def test_overlap_of_a_long_section_with_a_later_one() -> None:
    assert judged(GOOD.replace("c 10 1 19", "c 10 1 35"), 4).overlaps == 2


@pytest.mark.parametrize("token", [11, 9])
def test_token_that_does_not_grow(token: int) -> None:
    assert judged(GOOD.replace("go 12", f"go {token}"), 4).token_inversions == 1


def test_language_without_a_section() -> None:
    verdict = judged(GOOD.replace("shell", "go"), 4)
    assert verdict.complaints == ["no shell worker ever got the lock"]
    assert not verdict.ok


def test_nobody_killed() -> None:
    verdict = judged(GOOD.replace("enter c-2.1 c 14 1 90\n", ""), 4)
    assert not verdict.ok


def test_section_that_is_never_left() -> None:
    assert not judged(GOOD + "enter go-2.1 go 15 1 99\n", 4).ok


def test_table_counts_waits_by_language() -> None:
    log = check.Log()
    for line in GOOD.strip().split("\n"):
        log.add(line)
    rows = check.table(log, {"c": 1}).split("\n")
    assert rows[1].split()[:4] == ["c", "2", "0", "1"]
    assert rows[2].split()[:4] == ["python", "1", "1", "0"]
