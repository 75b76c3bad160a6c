"""The connection ends behind each single command: whatever is left at the server expires."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
from lockc_abi import SPIN, UNFENCED, Client, OpenClient, Queue, Refused
from proxy import Link, Proxy
from redis_server import RedisServer
from resp import Connection
from scale import scaled
from timing import within

ROUNDS = scaled(16, 160)  # of each case
PIECES = 6  # a round has at least so many requests, with those of a log-in
NEVER_EXPIRE = """
local found = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  if redis.call('PTTL', key) == -1 then found[#found + 1] = key end
end
return found
"""


class Scanner:
    """Another client, which looks all the time for keys that never expire."""

    def __init__(self, raw: Connection) -> None:
        self._raw = raw
        self._ended = threading.Event()
        self._found: set[bytes] = set()
        self._thread = threading.Thread(target=self._scan)
        self._thread.start()

    def end(self) -> set[bytes]:
        self._ended.set()
        self._thread.join()
        return self._found

    def _scan(self) -> None:
        while not self._ended.wait(0.001):
            self._found.update(self._raw.call("EVAL", NEVER_EXPIRE, 0))


@pytest.fixture
def scanner(server: RedisServer) -> Iterator[Scanner]:
    with server.connect() as connection:
        scanner = Scanner(connection)
        yield scanner
        scanner.end()


@pytest.mark.parametrize("direction", ["up", "down"], ids=["before it", "behind it"])
@pytest.mark.parametrize(
    "how",
    [{}, {"kind": 1}, {"flags": SPIN}, {"flags": UNFENCED}],
    ids=["exclusive", "fair", "spinning", "unfenced"],
)
def test_cut_at_any_command_leaves_no_key_without_expiry(
    how: dict[str, int],
    direction: str,
    past: Client,
    proxy: Proxy,
    raw: Connection,
    scanner: Scanner,
    open_client: OpenClient,
) -> None:
    client = open_client(proxy.url, handover_max=1)  # the second waiter gets the key by a requeue
    client.acquire("warm-up").release()
    cuts = 0
    for turn in range(ROUNDS):
        held = past.acquire("key", wait_ms=5000)
        cut = (Link.cut, Link.reset)[turn % 2]
        fired = proxy.once(b"", cut, direction, skip=turn % PIECES)
        with Queue(client) as queue:
            for tag in range(2):
                queue.acquire(tag, "key", wait_ms=-1, **how)
            held.release()
            for _ in range(2):
                completion = queue.poll(10_000)
                assert completion is not None, "no grant in time"
                assert completion.lock is not None, completion.message
                with suppress(Refused):
                    completion.lock.extend(60_000)
                with suppress(Refused):
                    completion.lock.release()
        cuts += fired.is_set()
        proxy.heal()
    assert within(3.0, lambda: all(b":fence:" in key for key in raw.call("KEYS", "*")))
    assert scanner.end() == set()
    assert cuts >= ROUNDS // 2, "there was not much to be cut"
