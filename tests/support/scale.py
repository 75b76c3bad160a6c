"""How much of a test is run: a sample in `make test`, the whole in `make stress`."""

from __future__ import annotations

import os

FULL = os.environ.get("LOCKC_SCALE", "small") == "full"


def scaled(small: int, full: int) -> int:
    """The first number, or the second where LOCKC_SCALE is "full"."""
    return full if FULL else small
