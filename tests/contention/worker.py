"""A process that competes for a lock: worker.py URL KEY PLAN, the plan as JSON.

    clients, threads    so many clients, each used by so many threads
    rounds, hold_ms     each thread acquires so often and holds for so long
    client, acquire     members of the option structs

Prints "ready" once connected, and begins at the first line of its input. Then for every grant
"held TOKEN NANOSECONDS" and "freed TOKEN NANOSECONDS", for every other outcome "refused STATUS
NANOSECONDS", at last "done". Ends with its input.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any

from lockc_abi import Client, Refused

printing = threading.Lock()


def tell(word: str, value: object = "", at: int = 0) -> None:
    with printing:
        sys.stdout.write(f"{word} {value} {at}\n")  # in one piece, lest a kill tears it
        sys.stdout.flush()


def compete(client: Client, key: str, plan: dict[str, Any]) -> None:
    for _ in range(plan.get("rounds", 1)):
        try:
            lock = client.acquire(key, **({"wait_ms": -1} | plan.get("acquire", {})))
        except Refused as refused:
            tell("refused", refused.status, time.monotonic_ns())
            continue
        tell("held", lock.token, time.monotonic_ns())
        time.sleep(plan.get("hold_ms", 0) / 1000)
        freed = time.monotonic_ns()
        lock.release()
        tell("freed", lock.token, freed)


def main() -> None:
    url, key, plan = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    clients = [Client(url, **plan.get("client", {})) for _ in range(plan.get("clients", 1))]
    for client in clients:
        client.connect()
    tell("ready")
    sys.stdin.readline()
    threads = [
        threading.Thread(target=compete, args=(client, key, plan), daemon=True)
        for client in clients
        for _ in range(plan.get("threads", 1))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tell("done")
    sys.stdin.read()
    for client in clients:
        client.close()


if __name__ == "__main__":
    main()
