"""What /proc tells of processes, and commands that leave traces there."""

from __future__ import annotations

import os
from pathlib import Path

# Prints its process id and goes on for a minute. Further processes of the same kind, in sessions of
# their own, whose parents are gone: what a daemon looks like. $0: a word to find all of them by.
FAMILY = """
(setsid sh -c 'sleep 60; : "$0"' "$0" >/dev/null 2>&1 &)
(setsid sh -c 'setsid sh -c "sleep 60; : \\"\\$0\\"" "$0" & exit' "$0" >/dev/null 2>&1 &)
echo $$
sleep 60
"""

# The same, and nobody of the first process' kind minds SIGTERM.
STUBBORN = "trap '' TERM; " + FAMILY


def find(word: str) -> list[int]:
    """Processes that have this word as an argument, but for lockc and its guard."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            name = (folder / "comm").read_text().strip()
        except OSError:
            continue
        if word.encode() in words and not name.startswith("lockc"):
            found.append(int(folder.name))
    return found


def alive(pid: int) -> bool:
    """False for a zombie, too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


def end_all(word: str) -> None:
    for pid in find(word):
        os.kill(pid, 9)
