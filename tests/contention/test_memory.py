"""What keys that are used once leave: nothing in the client, and nothing at the server for long."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from lockc_abi import LIBRARY_PATH, ROOT
from redis_server import RedisServer
from resp import Connection
from scale import scaled
from timing import within

NAMES = scaled(100_000, 1_000_000)
TTL_MS = 2000  # of the 100 locks that stay held and renewed meanwhile


@pytest.fixture
def names_once(tmp_path: Path) -> Path:
    program, library = tmp_path / "names_once", LIBRARY_PATH.parent
    source = Path(__file__).with_name("names_once.c")
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'capi' / 'include'}"]
    link = [f"-L{library}", f"-Wl,-rpath,{library}", "-llockc"]
    subprocess.run(["cc", *flags, str(source), *link, "-o", str(program)], check=True)
    return program


def test_names_used_once_leave_neither_memory_nor_keys(
    names_once: Path, server: RedisServer, raw: Connection
) -> None:
    result = subprocess.run(
        [names_once, server.url, str(NAMES), str(TTL_MS)],
        check=True,
        capture_output=True,
        text=True,
    )
    _, grown, _, held = result.stdout.split()
    assert int(grown) < 10 * 1024
    assert int(held) == 100
    # A fence outlives its last grant by the retention of 1 s, but by twice the ttl at least.
    assert within(2 * TTL_MS / 1000 + 5, lambda: raw.call("DBSIZE") == 0)
