"""A program that was built with an older lockc.h runs with today's liblockc.so."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis_server import RedisServer

ROOT = Path(__file__).resolve().parents[2]
HEADER = (ROOT / "capi/include/lockc/lockc.h").read_text()
STRUCTS = re.findall(r"^} (lockc_\w+_options);", HEADER, re.MULTILINE)
MEMBER = re.compile(r"^  \w[\w ]*[ *](\w+);.*\n(?:^   .*\n)*", re.MULTILINE)

# What the program sets; a struct has never had less.
FIRST = {
    "lockc_client_options": "max_waiters",
    "lockc_acquire_options": "wait_ms",
    "lockc_write_options": "token",
}


def members(struct: str) -> list[str]:
    """The names in the order of the struct."""
    return [match[1] for match in MEMBER.finditer(body(HEADER, struct)[1])]


def body(header: str, struct: str) -> tuple[str, str, str]:
    """What comes before the members of a struct, these, and what comes behind."""
    parts = re.split(rf"(?<=^typedef struct {struct} {{\n)|(?=^}} {struct};)", header, flags=re.M)
    assert len(parts) == 3, f"the header has no {struct}"
    return parts[0], parts[1], parts[2]


def cut(header: str, struct: str, last: str) -> str:
    """The header as it was when this member was the struct's last."""
    before, all_members, behind = body(header, struct)
    end = next(match.end() for match in MEMBER.finditer(all_members) if match[1] == last)
    return before + all_members[:end] + behind


def versions() -> list[dict[str, str]]:
    """The last members of each struct: the first version's, and with one member more each."""
    later = [dict(FIRST)]
    for struct in FIRST:
        names = members(struct)
        for name in names[names.index(FIRST[struct]) + 1 :]:
            later.append(later[-1] | {struct: name})
    return later


def test_every_options_struct_has_a_first_version() -> None:
    assert sorted(FIRST) == sorted(STRUCTS)
    assert versions()[-1] == {struct: members(struct)[-1] for struct in STRUCTS}


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with RedisServer() as running:
        yield running


@pytest.mark.parametrize("lasts", versions(), ids=lambda lasts: "-".join(lasts.values()))
def test_program_built_with_an_older_header_runs(
    lasts: dict[str, str], tmp_path: Path, server: RedisServer
) -> None:
    header = HEADER
    for struct, last in lasts.items():
        header = cut(header, struct, last)
    (tmp_path / "lockc").mkdir()
    (tmp_path / "lockc/lockc.h").write_text(header)
    program, source = tmp_path / "program", Path(__file__).with_name("older_program.c")
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path}"]
    library = [f"-L{ROOT / 'build'}", f"-Wl,-rpath,{ROOT / 'build'}", "-llockc"]
    subprocess.run(["cc", *flags, source, *library, "-o", program], check=True)
    done = subprocess.run([program, server.url], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
