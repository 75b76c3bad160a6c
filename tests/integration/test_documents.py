"""The programs in README.md, docs/c.md and docs/cpp.md: each is compiled as it stands, and runs."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from lockc_abi import LIBRARY_PATH, ROOT
from redis_server import RedisServer

COMPILERS = {
    "c": ["cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"],
    "cpp": ["c++", "-std=c++20", "-Wall", "-Wextra", "-Werror"],
}


def programs() -> list[tuple[str, str]]:
    """The language and text of every block that is a whole program."""
    found = []
    for language in COMPILERS:
        pages = (ROOT / "README.md", ROOT / "docs" / f"{language}.md")
        text = "".join(page.read_text() for page in pages)
        blocks = re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        found += [(language, block) for block in blocks if "int main(" in block]
    return found


@pytest.mark.parametrize(("language", "text"), programs())
def test_program_compiles_and_runs(
    language: str, text: str, tmp_path: Path, server: RedisServer
) -> None:
    source = tmp_path / f"program.{language}"
    source.write_text(text)
    program = tmp_path / "program"
    library = LIBRARY_PATH.parent
    subprocess.run(
        [
            *COMPILERS[language],
            f"-I{ROOT / 'capi' / 'include'}",
            str(source),
            f"-L{library}",
            f"-Wl,-rpath,{library}",
            "-llockc",
            "-o",
            str(program),
        ],
        check=True,
    )
    environment = os.environ | {"LOCKC_URL": server.url}
    result = subprocess.run([program], env=environment, timeout=20, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    with server.connect() as connection:
        held = [key for key in connection.call("KEYS", "*") if not key.startswith(b"lockc:")]
        assert held == []
