"""Completion in bash: what is offered for a line that was typed so far."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from conftest import ROOT, Lockc

FOLDER = ROOT / "cli" / "completions"
# $1 on: the words of the line, as bash parts them.
COMPLETE = f"""
source {FOLDER}/lockc.bash
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_lockc
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def offered(*words: str) -> set[str]:
    run = subprocess.run(
        ["bash", "-c", COMPLETE, "bash", *words], check=True, capture_output=True, text=True
    )
    assert run.stderr == ""
    return set(run.stdout.split())


def test_lockc_is_completed_by_it() -> None:
    script = f"source {FOLDER}/lockc.bash; complete -p lockc"
    assert "_lockc" in subprocess.check_output(["bash", "-c", script], text=True)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), {"run", "inspect", "fence", "--help", "--version"}),
        (("r",), {"run"}),
        (("inspect", "--"), {"--url", "--json", "--help"}),
        (("fence", ""), {"read", "write", "--help"}),
        (("fence", "w"), {"write"}),
        (("fence", "write", "k", "--tt"), {"--ttl"}),
        (("fence", "write", "k", "--token", ""), set()),
        (("run", "--m"), {"--max-hold"}),
        (("run", "--key", "k", "--wa"), {"--wait"}),
        (("run", "--wait", ""), {"0", "10s", "5m"}),
        (("run", "--wait", "=", "5"), {"5m"}),
        (("run", "--url", "=", "redis", ":", "//h", ":", "1", "--tt"), {"--ttl"}),
        (("run", "--key", ""), set()),
        (("run", "--fair", "--key", "k", "--", "ls", "/etc/host"), {"/etc/hostname", "/etc/hosts"}),
        (("run", "--ttl", "=", "1", "ls", "/etc/hostn"), {"/etc/hostname"}),
    ],
)
def test_offers(words: tuple[str, ...], expected: set[str]) -> None:
    assert offered("lockc", *(words or ("",))) >= expected
    assert len(offered("lockc", *(words or ("",)))) <= len(expected) + 1


def test_commands_are_offered_to_run() -> None:
    assert "basename" in offered("lockc", "run", "--key", "k", "--", "basen")
    assert "basename" in offered("lockc", "run", "--key", "k", "basen")


def test_every_option_of_the_help_is_offered(lockc: Lockc) -> None:
    for name in (("run",), ("inspect",), ("fence", "read"), ("fence", "write")):
        help_text = lockc(*name, "--help")[1]
        options = {line.split()[0] for line in help_text.split("\n") if line.startswith("  --")}
        assert offered("lockc", *name, "--") == options
        assert all(option in (FOLDER / "_lockc").read_text() for option in options)


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_zsh_can_read_its_file() -> None:
    subprocess.run(["zsh", "-n", str(FOLDER / "_lockc")], check=True)
