"""The pieces of README.md in Python, Go and shell: each runs as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from lockc_abi import LIBRARY_PATH, ROOT
from redis_server import RedisServer

BUILD = LIBRARY_PATH.parent
MODULE = f"""module readme

go 1.19

require lockc v0.0.0

replace lockc => {ROOT / "bindings" / "go"}
"""


def piece(language: str, having: str) -> str:
    """The one block of this language that has these words."""
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    (found,) = (block for block in blocks if having in block)
    return found


@pytest.fixture
def environment(server: RedisServer) -> dict[str, str]:
    return os.environ | {
        "LOCKC_URL": server.url,
        "PATH": f"{BUILD}:{os.environ['PATH']}",
        "PKG_CONFIG_PATH": str(BUILD / "pkgconfig"),
    }


def run(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    result = subprocess.run(
        command, cwd=folder, env=environment, timeout=120, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_python(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "piece.py").write_text(piece("python", "lockc.Client"))
    output = run([sys.executable, "piece.py"], tmp_path, environment)
    assert output.startswith("working with token ")


def test_go(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "go.mod").write_text(MODULE)
    (tmp_path / "main.go").write_text(piece("go", "lockc.Open"))
    output = run(["go", "run", "."], tmp_path, environment)
    assert output.startswith("working with token ")


def test_shell(tmp_path: Path, environment: dict[str, str]) -> None:
    output = run(["sh", "-ec", piece("sh", "lockc run")], tmp_path, environment)
    assert output.startswith("only one machine says this\n")
    assert "free" in output
