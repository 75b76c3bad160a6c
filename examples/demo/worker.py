"""The demo's worker in Python: increments the unprotected counter under the lock, for ever.

worker.py NAME KEY FOLDER
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

import lockc

stopping = False


def stop(*_: object) -> None:
    global stopping
    stopping = True


def work() -> None:
    """Long enough for others to come between the reading and the writing, were there no lock."""
    time.sleep(0.03 if random.random() < 0.05 else random.random() * 0.002)


def critical_section(name: str, log: int, token: int, asked: int) -> None:
    entered = time.monotonic_ns()
    os.write(log, f"enter {name} python {token} {entered - asked} {entered}\n".encode())
    value = int(Path("counter").read_text()) + 1
    work()
    own = Path(f"counter.{name}")
    own.write_text(f"{value}\n")
    own.rename("counter")
    os.write(log, f"leave {name} python {token} {value} {time.monotonic_ns()}\n".encode())


def main() -> None:
    name, key, folder = sys.argv[1:]
    os.chdir(folder)
    signal.signal(signal.SIGTERM, stop)
    log = os.open("log", os.O_WRONLY | os.O_APPEND)
    with lockc.Client() as client:
        lock = client.lock(key, ttl=1, renew=True)
        while not stopping:
            asked = time.monotonic_ns()
            with lock as held:
                critical_section(name, log, held.token, asked)


if __name__ == "__main__":
    main()
