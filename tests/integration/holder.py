"""A process that holds a lock, to be frozen and killed: holder.py URL KEY TTL_MS.

Prints "held TOKEN", then answers each line of its input with "REMAINING_MS LOST_REASON".
"""

from __future__ import annotations

import sys

from lockc_abi import RENEW, Client


def main() -> None:
    url, key, ttl_ms = sys.argv[1], sys.argv[2], int(sys.argv[3])
    client = Client(url)
    lock = client.acquire(key, ttl_ms=ttl_ms, flags=RENEW)
    print("held", lock.token, flush=True)
    for _ in sys.stdin:
        print(lock.remaining_ms, lock.lost_reason, flush=True)
    client.close()


if __name__ == "__main__":
    main()
