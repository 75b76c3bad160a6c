"""The examples in C, C++ and shell do what they say."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import COMMAND, ROOT, Connection, Lockc

BUILD = Path(COMMAND).parent
COMPILERS = {".c": ["cc", "-std=c11"], ".cc": ["c++", "-std=c++17"]}
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def run_program(source: str, folder: Path, lockc: Lockc) -> tuple[int, str]:
    """Compiles an example, runs it, and returns its exit code and what it wrote."""
    path = ROOT / "examples" / source
    program = folder / "program"
    link = [f"-I{ROOT}/capi/include", f"-L{BUILD}", f"-Wl,-rpath,{BUILD}", "-llockc"]
    compiler = COMPILERS[path.suffix]
    subprocess.run([*compiler, *STRICT, "-o", program, path, *link], check=True)
    run = subprocess.run([program], env=lockc.environment, capture_output=True, text=True)
    assert run.stderr == ""
    return run.returncode, run.stdout


def test_once_in_c(lockc: Lockc, raw: Connection, tmp_path: Path) -> None:
    assert run_program("c/once.c", tmp_path, lockc)[1].startswith("making the report, token ")
    raw.call("SET", "nightly-report", "another", "PX", 60_000)
    assert run_program("c/once.c", tmp_path, lockc) == (0, "another machine makes the report\n")
    raw.call("DEL", "nightly-report")


def test_event_loop_in_c(lockc: Lockc, tmp_path: Path) -> None:
    code, out = run_program("c/event_loop.c", tmp_path, lockc)
    assert code == 0
    assert sorted(out.split("\n")) == ["", "orders:1: OK", "orders:2: OK"]


def test_fenced_in_cpp(lockc: Lockc, raw: Connection, tmp_path: Path) -> None:
    code, out = run_program("cpp/fenced.cc", tmp_path, lockc)
    assert code == 0
    token = raw.call("HGET", "orders:42:data", "token").decode()
    assert out == f"saved order 42 with fencing token {token}\n"


@pytest.mark.parametrize(
    ("holder", "command", "code", "out"),
    [
        (None, "echo report", 0, "report\n"),
        (None, "exit 3", 3, ""),
        ("another", "echo report", 0, "another machine makes the report\n"),
    ],
)
def test_nightly_in_shell(
    lockc: Lockc, raw: Connection, holder: str | None, command: str, code: int, out: str
) -> None:
    if holder:
        raw.call("SET", "nightly-report", holder, "PX", 60_000)
    script = ROOT / "examples/shell/nightly.sh"
    environment = {**lockc.environment, "PATH": f"{BUILD}:{os.environ['PATH']}"}
    run = subprocess.run([script, "sh", "-c", command], env=environment, stdout=subprocess.PIPE)
    raw.call("DEL", "nightly-report")
    assert (run.returncode, run.stdout.decode()) == (code, out)
