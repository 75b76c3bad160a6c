"""What `pip install .` gives to a Python that has nothing of lockc."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))

from redis_server import RedisServer  # noqa: E402

PROGRAM = """
import lockc

with lockc.Client() as client, client.lock("pip", timeout=5) as held:
    print(lockc.__file__, held.token > 0)
"""


def test_pip_install_gives_a_working_package_with_the_core_inside(tmp_path: Path) -> None:
    target = tmp_path / "site"
    options = ("--no-deps", "--no-build-isolation", f"--config-settings=build-dir={tmp_path}/build")
    command = [sys.executable, "-m", "pip", "install", "--quiet", *options, "--target", target, "."]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=850)
    assert done.returncode == 0, done.stdout + done.stderr
    modules = list(target.glob("lockc/_core*.so"))
    assert len(modules) == 1
    needed = subprocess.run(["readelf", "-d", modules[0]], capture_output=True, text=True).stdout
    assert "liblockc" not in needed
    assert "hiredis" not in needed
    with RedisServer() as server:
        environment = {**os.environ, "PYTHONPATH": str(target), "LOCKC_URL": server.url}
        output = subprocess.run(
            [sys.executable, "-W", "error", "-c", PROGRAM],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert output.stdout == f"{target}/lockc/__init__.py True\n", output.stderr
