"""Which cores the server and the runners get.

Left alone, the scheduler chooses anew in each run whether a client shares the core of the server;
a pair then takes a third of the time. So each workload says what it wants:

apart     the server has the last core for itself, the runners share all others
together  the server and the runners share the last core
free      all may use all
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

PLACEMENTS = ("apart", "together", "free")
ALLOWED = sorted(os.sched_getaffinity(0))


class Cores(NamedTuple):
    server: frozenset[int]
    clients: frozenset[int]

    @classmethod
    def of(cls, placement: str) -> Cores:
        last = frozenset(ALLOWED[-1:])
        others = frozenset(ALLOWED[:-1]) or last  # with one core, nothing can be apart
        every = frozenset(ALLOWED)
        return {
            "apart": cls(last, others),
            "together": cls(last, last),
            "free": cls(every, every),
        }[placement]


def pin(pid: int, cores: frozenset[int]) -> None:
    """All threads of the process; those that it starts later inherit it."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(task.name), cores)
