"""How many instructions an uncontended pair from C takes, as callgrind counts them: those of
liblockc and of what it calls outside the kernel, in all threads. No matter how busy the machine is,
the number is the same within two in a thousand.

    make instructions            counts, and tells what is recorded
    make instructions RECORD=1   records the number, in recorded.json
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))

from lockc_abi import LIBRARY_PATH, ROOT
from redis_server import RedisServer

GUARD = Path(__file__).with_name("recorded.json")
FOLDER = ROOT / "build" / "instructions"
PROFILE = FOLDER / "callgrind.out"
PAIRS = 1000
MARGIN = 0.005  # a needless copy of the key takes more
TRIES = 3  # the least counts: what disturbs a run can only add to it


@dataclass(frozen=True)
class Count:
    """Compilers and C libraries differ by some per cent, so a number counts for its own alone."""

    made_by: str
    instructions: int  # of a pair

    @classmethod
    def recorded(cls) -> Count:
        return cls(**json.loads(GUARD.read_text()))

    def record(self) -> None:
        GUARD.write_text(json.dumps(asdict(self), indent=2) + "\n")

    @property
    def limit(self) -> int:
        return int(self.instructions * (1 + MARGIN))


def made_by() -> str:
    """The compiler of the library, and what it runs on: "GCC 12, glibc 2.36, x86_64"."""
    command = ["readelf", "--string-dump=.comment", str(LIBRARY_PATH)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    compilers = {f"GCC {major}" for major in re.findall(r"GCC: \(.*\) (\d+)", text)}
    compilers |= {f"clang {major}" for major in re.findall(r"clang version (\d+)", text)}
    return ", ".join([*sorted(compilers), " ".join(platform.libc_ver()), platform.machine()])


def is_sanitized() -> bool:
    command = ["readelf", "--dynamic", str(LIBRARY_PATH)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return re.search(r"\[lib(asan|tsan|ubsan)\.", text) is not None


def build_program() -> Path:
    FOLDER.mkdir(parents=True, exist_ok=True)
    program, library = FOLDER / "pair", LIBRARY_PATH.parent
    source = Path(__file__).with_name("pair.c")
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'capi' / 'include'}"]
    link = [f"-L{library}", f"-Wl,-rpath,{library}", "-llockc"]
    subprocess.run(["cc", *flags, str(source), *link, "-o", str(program)], check=True)
    return program


def count_once(program: Path, server: RedisServer) -> int:
    callgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no"]
    done = subprocess.run(
        [*callgrind, f"--callgrind-out-file={PROFILE}", program, server.url, str(PAIRS)],
        check=False,
        capture_output=True,
        text=True,
    )
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert done.returncode == 0, done.stderr
    assert found, done.stderr
    return round(int(found[1]) / PAIRS)


def count(enough: int = 0) -> int:
    """The least of some tries, or the first that is not more than enough."""
    program = build_program()
    least = sys.maxsize
    with RedisServer() as server:
        for _ in range(TRIES):
            least = min(least, count_once(program, server))
            if least <= enough:
                break
    return least


def main() -> None:
    now = Count(made_by(), count())
    if "--record" in sys.argv[1:]:
        now.record()
    print(f"instructions of a pair: {now.instructions} ({now.made_by})")
    recorded = Count.recorded()
    print(f"recorded: {recorded.instructions} ({recorded.made_by})")


if __name__ == "__main__":
    main()
