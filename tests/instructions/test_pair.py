"""The uncontended pair from C takes no more instructions than it did."""

from __future__ import annotations

import warnings

import counting
import pytest
from counting import MARGIN, PROFILE, Count

RECORD = "`make instructions RECORD=1` records the number"


def test_an_uncontended_pair_takes_no_more_instructions_than_recorded() -> None:
    if counting.is_sanitized():
        pytest.skip("sanitizers add instructions of their own")
    recorded = Count.recorded()
    instructions = counting.count(enough=recorded.limit)
    change = instructions / recorded.instructions - 1
    what = (
        f"a pair takes {instructions} instructions, recorded are {recorded.instructions} "
        f"({change:+.1%}; the margin is {MARGIN:.1%})"
    )
    if (made_by := counting.made_by()) != recorded.made_by:
        pytest.skip(f"{what}, but those of {recorded.made_by}; this is {made_by}")
    advice = f"`callgrind_annotate {PROFILE}` tells what takes them; if they are worth it, {RECORD}"
    assert instructions <= recorded.limit, f"{what}; {advice}"
    if change < -MARGIN:
        warnings.warn(f"{what}; {RECORD}, so that it lasts", stacklevel=1)
