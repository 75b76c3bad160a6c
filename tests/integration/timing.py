"""Time in tests: waiting for what only the server can show, and how long calls take."""

from __future__ import annotations

import time
from collections.abc import Callable

REPLY_MS = 300  # reply_timeout_ms of the tests' clients
TOLERANCE = 0.5  # how much later than its limit a call may return on a busy machine


def within(limit: float, condition: Callable[[], object]) -> bool:
    """Whether the condition comes true in time."""
    deadline = time.monotonic() + limit
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start
