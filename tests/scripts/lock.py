"""One key of the lock protocol, driven by its raw scripts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from embedded import Script
from resp import Arg, Connection, Reply

RETENTION = 60_000

# The fixtures that are functions.
Connect = Callable[..., Connection]
Listen = Callable[[bytes], Connection]
Denied = Callable[..., Connection]
FillMemory = Callable[[], object]


def owner(client: str, seq: int = 1, ttl: int = 5000, b: int = 1, mode: str = "x") -> bytes:
    return f"lc1:{client}:{seq}:{mode}:{ttl}:{b}".encode()


def client_of(value: bytes) -> str:
    return value.split(b":")[1].decode()


def granted_in_full(reply: Reply, value: bytes) -> Reply:
    """An acquire's reply, with the short form for a whole block written out."""
    if isinstance(reply, int):
        return [1, str(reply).encode(), max(1, int(value.rsplit(b":", 1)[1]))]
    return reply


@dataclass
class Message:
    owner: bytes
    first: int
    n: int
    key: bytes

    @staticmethod
    def parse(payload: bytes) -> Message:
        value, first, n, key = payload.split(b" ", 3)
        return Message(value, int(first), int(n), key)


class Lock:
    def __init__(self, scripts: dict[str, Script], connection: Connection, key: bytes) -> None:
        self.scripts = scripts
        self.connection = connection
        self.key = key
        self.fence = b"lockc:{k}:fence:" + key
        self.queue = b"lockc:{k}:queue:" + key
        self.seen = b"lockc:{k}:seen:" + key
        self.keys = (self.key, self.fence, self.queue, self.seen)

    def acquire(
        self, value: bytes, wait: int = 1, ticket: Arg = 0, retention: int = RETENTION
    ) -> Reply:
        return granted_in_full(
            self.run("acquire", self.keys, value, wait, ticket, retention), value
        )

    def release(self, value: bytes, retention: int = RETENTION) -> Reply:
        reply = self.run("release", self.keys, value, retention)
        return [1, 0, 0] if reply == 1 else reply

    def requeue(self, given_up: bytes, waiting: bytes, retention: int = RETENTION) -> Reply:
        return self.run("requeue", self.keys, given_up, waiting, retention)

    def renew(self, ttl: int, value: bytes) -> bool:
        """Whether the key is the value's."""
        lost = self.run("renew", (self.key,), ttl, value)
        assert lost in ([], [1])
        return not lost

    def drop(self, value: bytes) -> Reply:
        return self.run("drop", (self.key,), value)

    def inspect(self) -> Reply:
        return self.run("inspect", self.keys)

    def run(self, script: str, keys: tuple[bytes, ...], *args: Arg) -> Reply:
        return self.connection.call("EVAL", self.scripts[script].text, len(keys), *keys, *args)

    def by(self, connection: Connection) -> Lock:
        """The same key, through another connection."""
        return Lock(self.scripts, connection, self.key)

    def holder(self) -> bytes | None:
        return self.connection.call("GET", self.key)

    def waiting(self) -> list[bytes]:
        return self.connection.call("ZRANGE", self.queue, 0, -1)

    def last_token(self) -> int:
        return int(self.connection.call("GET", self.fence) or 0)

    def pttl(self, key: bytes | None = None) -> int:
        return self.connection.call("PTTL", key or self.key)

    def lapse(self) -> None:
        """What the end of the holder's lease does."""
        self.connection.call("DEL", self.key)

    def make_stale(self, value: bytes) -> None:
        """As if the waiter hadn't polled for longer than its window."""
        self.connection.call("ZADD", self.seen, 1, value)

    def now_us(self) -> int:
        seconds, us = self.connection.call("TIME")
        return int(seconds) * 1_000_000 + int(us)

    def left(self) -> set[bytes]:
        """Which of the lock's keys exist."""
        return {key for key in self.keys if self.connection.call("EXISTS", key)}

    def expiries(self) -> dict[bytes, int]:
        return {key: self.pttl(key) for key in self.left()}
