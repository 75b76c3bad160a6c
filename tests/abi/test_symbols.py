"""What liblockc.so and liblockc.a show to a linker: the functions of lockc.h, and nothing else."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


def defined_symbols(*arguments: str | Path) -> list[tuple[str, str]]:
    """(name, type letter) of each external symbol that nm finds defined."""
    done = subprocess.run(
        ["nm", "--defined-only", "--format=posix", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split() for line in done.stdout.splitlines()]
    return [(row[0], row[1]) for row in rows if len(row) >= 3]


def exported() -> set[str]:
    """Names with their versions, but for the symbols that stand for the versions themselves."""
    symbols = defined_symbols("--dynamic", BUILD / "liblockc.so")
    return {name for name, kind in symbols if kind != "A"}


def functions_of_the_header() -> set[str]:
    text = (ROOT / "capi/include/lockc/lockc.h").read_text()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return set(re.findall(r"LOCKC_API[^;]*?\b(lockc_\w+)\s*\(", text))


def names_in_the_map() -> set[str]:
    text = (ROOT / "capi/lockc.map").read_text()
    version = re.search(r"^LOCKC_0\.1 \{(.*?)^\}", text, re.DOTALL | re.MULTILINE)
    assert version, "the map has no block LOCKC_0.1"
    return set(re.findall(r"^\s+(lockc_\w+);", version[1], re.MULTILINE))


def test_map_lists_the_functions_of_the_header() -> None:
    assert names_in_the_map() == functions_of_the_header()


def test_shared_library_exports_the_map_and_nothing_else() -> None:
    assert exported() == {f"{name}@@LOCKC_0.1" for name in names_in_the_map()}


def test_shared_library_needs_neither_hiredis_nor_a_second_runtime() -> None:
    dynamic = subprocess.run(
        ["readelf", "--dynamic", BUILD / "liblockc.so"], capture_output=True, text=True, check=True
    ).stdout
    assert set(re.findall(r"\(NEEDED\).*\[(.*?)\.so", dynamic)) <= {
        "libstdc++",
        "libm",
        "libgcc_s",
        "libc",
        "ld-linux-x86-64",
        "ld-linux-aarch64",
    }
    assert re.findall(r"\(SONAME\).*\[(.*?)\]", dynamic) == ["liblockc.so.0.1"]


def test_shared_library_can_be_unloaded() -> None:
    """A unique symbol would pin the library in the process that has loaded it."""
    assert not [name for name, kind in defined_symbols(BUILD / "liblockc.so") if kind == "u"]


def test_archive_shows_the_functions_of_the_header_and_nothing_else() -> None:
    """Else a program's own hiredis, or lockc.hpp, could be mistaken for what is inside."""
    symbols = defined_symbols("--extern-only", BUILD / "liblockc.a")
    assert {name for name, _ in symbols} == functions_of_the_header()
