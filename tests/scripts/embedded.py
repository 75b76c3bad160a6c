"""The server scripts exactly as the library carries them: written by the build's embed step."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "core" / "lock" / "scripts"
EMBED = ROOT / "cmake" / "EmbedLua.cmake"

SCRIPT = re.compile(r'const Script (\w+)\{"(\w+)",\nR"lua\((.*?)\)lua",\n"([0-9a-f]{40})"\};', re.S)


@dataclass(frozen=True)
class Script:
    name: str
    text: str
    sha1: str


def embed(folder: Path, out: Path) -> dict[str, Script]:
    """Runs the embed step over a folder of .lua files and reads what it wrote."""
    subprocess.run(
        ["cmake", "-D", f"OUT={out}", "-D", f"DIR={folder}", "-P", str(EMBED)],
        check=True,
        capture_output=True,
    )
    return {
        variable: Script(name, text, sha1)
        for variable, name, text, sha1 in SCRIPT.findall(out.read_text())
    }


def load() -> dict[str, Script]:
    with tempfile.TemporaryDirectory() as folder:
        return embed(SOURCES, Path(folder) / "scripts.cc")
