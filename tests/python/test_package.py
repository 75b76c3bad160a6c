"""The package as it is installed: version, types, symbols, and the documentation's examples."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import lockc
import pytest
from lockc import _core
from redis_server import RedisServer

ROOT = Path(__file__).parents[2]
EXAMPLES = re.findall(
    r"^```python\n(.*?)^```$", (ROOT / "docs/python.md").read_text(), re.DOTALL | re.MULTILINE
)


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_version_is_that_of_the_header() -> None:
    header = (ROOT / "capi/include/lockc/lockc.h").read_text()
    numbers = re.findall(r"define LOCKC_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
    assert lockc.__version__ == ".".join(numbers)


def test_statuses_are_those_of_the_header() -> None:
    header = (ROOT / "capi/include/lockc/lockc.h").read_text()
    first, last = header.index("LOCKC_OK = 0"), header.index("};", header.index("LOCKC_OK = 0"))
    told = dict(re.findall(r"LOCKC_(\w+) = (-?\d+)", header[first:last]))
    assert {name: int(number) for name, number in told.items()} == {
        status.name: status.value for status in lockc.Status
    }


def test_stub_matches_the_extension_module(tmp_path: Path) -> None:
    classes = [name for name, value in vars(_core).items() if isinstance(value, type)]
    allowed = tmp_path / "allowed"
    # What pybind11 gives every class: its metaclass, and an __init__ that refuses.
    allowed.write_text("".join(f"lockc._core.{name}(.__init__)?\n" for name in classes))
    run(
        sys.executable,
        "-m",
        "mypy.stubtest",
        "lockc._core",
        "--allowlist",
        str(allowed),
        "--ignore-unused-allowlist",
    )


def test_users_code_is_typed(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import lockc\n"
        "async def main() -> int:\n"
        "    with lockc.Client() as client, client.lock('k', ttl=1, timeout=None) as held:\n"
        "        reveal: int = held.token\n"
        "        lost: bool = held.lost.wait(1) or client.lock(b'k').acquire(timeout=2)\n"
        "    async with lockc.aio.Client() as tasks, tasks.lock('k') as mine:\n"
        "        lost = await mine.lost\n"
        "        return await lockc.aio.run_until(main(), mine.lost) + reveal\n"
    )
    run(sys.executable, "-m", "mypy", "--strict", "--config-file=", str(program))


def test_extension_module_exports_nothing_but_its_entry() -> None:
    names = subprocess.run(
        ["nm", "-D", "--defined-only", _core.__file__], capture_output=True, text=True, check=True
    ).stdout
    exported = {line.split()[-1] for line in names.splitlines()}
    assert "PyInit__core" in exported
    assert not [name for name in exported if name.startswith(("lockc_", "redis"))]


def test_everything_public_is_documented() -> None:
    faces = [(lockc, name) for name in lockc.__all__]
    faces += [(lockc.aio, name) for name in lockc.aio.__all__]
    for module, name in faces:
        public = getattr(module, name)
        assert public.__doc__, name
        if not isinstance(public, type):
            continue
        for attribute, value in vars(public).items():
            if not attribute.startswith("_") and (callable(value) or isinstance(value, property)):
                assert value.__doc__, f"{name}.{attribute}"


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_examples_of_the_documentation_run(
    example: str, server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKC_URL", server.url)
    exec(compile(example, "docs/python.md", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("program", sorted((ROOT / "examples").glob("python*.py")), ids=str)
def test_example_programs_run(
    program: Path, server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKC_URL", server.url)
    run(sys.executable, "-W", "error", str(program))
