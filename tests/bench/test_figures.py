"""What the records of a run are said to mean."""

import math

from harness.figures import contention, overlaps
from harness.runner import Acquisition

MS = 1_000_000
OTHER_PROCESS = 100_000


def held(worker: int, granted: int, for_ms: int = 1, waited: int = 0) -> Acquisition:
    """Times in milliseconds."""
    times = (granted - waited, granted, granted + for_ms, granted + for_ms)
    return Acquisition(worker, *(time * MS for time in times))


def told(records: list[Acquisition], workers: int = 2, seconds: float = 0.1) -> dict[str, float]:
    return contention(records, workers, 1, seconds)


def test_fairness_is_the_most_by_the_fewest() -> None:
    records = [held(0, 0), held(0, 2), held(0, 4), held(1, 6)]
    assert told(records)["fairness"] == 3
    assert told(records)["starved"] == 0


def test_who_gets_its_turn_only_when_the_others_have_stopped_has_starved() -> None:
    figures = told([held(0, 0), held(0, 50), held(1, 101, waited=100)])
    assert figures["starved"] == 1
    assert math.isinf(figures["fairness"])


def test_a_wait_that_outlasts_the_run_counts_with_its_length() -> None:
    assert told([held(0, 0), held(1, 500, waited=500)])["wait_p99_us"] == 500_000


def test_only_acquisitions_before_the_end_make_the_rate() -> None:
    assert told([held(0, 0), held(0, 50), held(0, 101)])["acquisitions_per_s"] == 20


def test_a_hand_over_lasts_from_the_release_to_the_grant_of_another() -> None:
    figures = told([held(0, 0), held(OTHER_PROCESS, 4), held(OTHER_PROCESS, 6)])
    assert figures["cross_us"] == 3000
    assert figures["cross_share"] == 0.5


def test_two_holders_of_one_key_overlap() -> None:
    assert overlaps([held(0, 0, for_ms=5), held(1, 3)], one_key=True) == 1


def test_a_key_granted_in_the_moment_of_its_release_does_not_overlap() -> None:
    assert overlaps([held(0, 0, for_ms=5), held(1, 5)], one_key=True) == 0


def test_two_holders_of_own_keys_do_not_overlap() -> None:
    assert overlaps([held(0, 0, for_ms=5), held(1, 3)], one_key=False) == 0
