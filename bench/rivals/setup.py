#!/usr/bin/env python3
"""Installs the lock libraries that lockc is measured beside, into build/bench/rivals.

Each language stands alone: what can't be had here is told with its reason, and the rest goes on.
status.json says for each target its version, or why it is unavailable. The versions wanted are
those of requirements.txt, go.mod, pom.xml and package.json, next to the runners.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import venv
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / "build/bench/rivals"
PATIENCE = 300  # seconds for one command

Versions = dict[str, str]  # of targets


class Unavailable(Exception):
    """Why something can't be had."""


def run(*command: str | Path, cwd: Path = HERE) -> str:
    program = Path(command[0]).name
    if not shutil.which(command[0]):
        raise Unavailable(f"{program} is not installed")
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{program} took more than {PATIENCE} s") from None
    if done.returncode:
        raise Unavailable(complaint(done.stderr + done.stdout) or f"{program} failed")
    return done.stdout


def complaint(output: str) -> str:
    """The line that tells most, without the addresses, which differ from machine to machine."""
    lines = [line for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"error|\b40[34]\b", line, re.IGNORECASE)]
    words = (telling or lines[-1:] or [""])[0].split()
    return " ".join(word for word in words if "://" not in word)


def python() -> Versions:
    environment = FOLDER / "venv"
    pip = (environment / "bin/python3", "-m", "pip", "--disable-pip-version-check")
    if not pip[0].exists():
        venv.create(environment, with_pip=True)
    run(*pip, "install", "--quiet", "--requirement", HERE / "python/requirements.txt")
    has = dict(line.split("==") for line in run(*pip, "freeze").splitlines())
    client = f"redis-py {has['redis']} with hiredis {has['hiredis']}"
    return {
        "redis-py": client,
        "python-redis-lock": f"{has['python-redis-lock']} over {client}",
        "pottery": f"{has['pottery']} over {client}",
    }


def build_go(program: str, sources: Path, package: str, modules: list[str]) -> str:
    """The versions of the modules. go may complete go.mod and go.sum, so it gets copies."""
    mod = FOLDER / f"{program}.mod"
    shutil.copy(sources / "go.mod", mod)
    if (sources / "go.sum").exists():
        shutil.copy(sources / "go.sum", mod.with_suffix(".sum"))
    own = ("-mod=mod", f"-modfile={mod}")
    run("go", "build", *own, "-o", FOLDER / program, package, cwd=sources)
    return run("go", "list", *own, "-m", "-f", "{{.Version}}", *modules, cwd=sources).replace(
        "\n", " over go-redis ", len(modules) - 1
    )


def redsync() -> Versions:
    modules = ["github.com/go-redsync/redsync/v4", "github.com/redis/go-redis/v9"]
    return {"redsync": build_go("redsync", HERE / "go", "./redsync", modules)}


def redislock() -> Versions:
    modules = ["github.com/bsm/redislock", "github.com/redis/go-redis/v9"]
    return {"redislock": build_go("redislock", HERE / "go", "./redislock", modules)}


def rueidislock() -> Versions:
    modules = ["github.com/redis/rueidis/rueidislock"]
    return {"rueidislock": build_go("rueidislock", HERE / "go/rueidislock", ".", modules)}


def java() -> Versions:
    classes = FOLDER / "java"
    classpath = classes / "classpath"
    resolve = ("-f", HERE / "java/pom.xml", "dependency:build-classpath")
    run("mvn", "-B", "-q", *resolve, f"-Dmdep.outputFile={classpath}")
    path = classpath.read_text()
    run("javac", "-d", classes, "-cp", path, *sorted((HERE / "java").glob("*.java")))
    # java reads its options from such a file, so that the command of a target stays short.
    (classes / "options").write_text(f'-cp "{classes}:{path}"\n')
    version = re.search(r"redisson-([\d.]+)\.jar", path)
    return dict.fromkeys(("redisson", "redisson-fenced"), version[1] if version else "")


def node() -> Versions:
    packages = FOLDER / "node"
    packages.mkdir(exist_ok=True)
    shutil.copy(HERE / "node/package.json", packages)
    run("npm", "install", "--no-audit", "--no-fund", "--silent", cwd=packages)

    def version(name: str) -> str:
        return json.loads((packages / f"node_modules/{name}/package.json").read_text())["version"]

    client = f"ioredis {version('ioredis')}"
    return {name: f"{version(name)} over {client}" for name in ("redlock", "redlock5")}


INSTALLERS: dict[Callable[[], Versions], list[str]] = {
    python: ["redis-py", "python-redis-lock", "pottery"],
    redsync: ["redsync"],
    redislock: ["redislock"],
    rueidislock: ["rueidislock"],
    java: ["redisson", "redisson-fenced"],
    node: ["redlock", "redlock5"],
}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    status: dict[str, dict[str, str]] = {}
    for install, targets in INSTALLERS.items():
        try:
            found = {name: {"version": text.strip()} for name, text in install().items()}
        except Unavailable as why:
            found = {name: {"unavailable": str(why)} for name in targets}
        status |= found
        for name, entry in found.items():
            print(f"rivals: {name}: {' '.join(f'{word} {text}' for word, text in entry.items())}")
    (FOLDER / "status.json").write_text(json.dumps(status, indent=1) + "\n")


if __name__ == "__main__":
    main()
