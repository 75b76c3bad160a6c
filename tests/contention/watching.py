"""What the server saw: commands by their counts, scripts by MONITOR, the queue of a key."""

from __future__ import annotations

import codecs
import hashlib
import re
import threading

from embedded import load
from redis_server import RedisServer
from resp import Connection
from running import Running
from timing import within

LINE = re.compile(rb"^\d+\.\d+ \[\d+ (\S+)\] (.*)$")
WORD = re.compile(rb'"((?:[^"\\]|\\.)*)"')
END = b"the-end-of-monitoring"
Sent = tuple[bytes, str, list[bytes]]  # address, name of the script, its keys and arguments
SCRIPTS = {script.sha1: script.name for script in load().values()}


def queue_of(raw: Connection, key: str = "key") -> list[bytes]:
    """The owner values that stand in the server's queue of a key."""
    return list(raw.call("ZRANGE", f"lockc:{{{key}}}:queue:{key}", 0, -1))


def wait_queued(raw: Connection, count: int, key: str = "key") -> list[bytes]:
    assert within(5.0, lambda: len(queue_of(raw, key)) == count), queue_of(raw, key)
    return queue_of(raw, key)


def client_of(owner: bytes) -> str:
    return owner.split(b":")[1].decode()


def wake_channel(owner: bytes) -> str:
    return f"lockc:wake:{client_of(owner)}"


def calls(raw: Connection, command: str) -> int:
    """How often a command was called since the server started."""
    text = raw.call("INFO", "commandstats").decode()
    found = re.search(rf"^cmdstat_{re.escape(command)}:calls=(\d+)", text, re.MULTILINE)
    return int(found[1]) if found else 0


def script_calls(raw: Connection) -> int:
    return calls(raw, "evalsha") + calls(raw, "eval")


def script_name(words: list[bytes]) -> str | None:
    """The script that a command runs; None where it runs none."""
    command = words[0].lower()
    if command == b"evalsha":
        return SCRIPTS[words[1].decode()]
    if command == b"eval":
        text, _ = codecs.escape_decode(words[1])
        return SCRIPTS[hashlib.sha1(text).hexdigest()]
    return None


class Monitor(Running):
    """Collects the scripts that clients send, from its start on."""

    def __init__(self, server: RedisServer) -> None:
        self._server = server
        self._connection = server.connect(timeout=600)
        assert self._connection.call("MONITOR") == b"OK"
        self._seen: list[Sent] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._collect)
        self._thread.start()

    def seen(self) -> list[Sent]:
        """All that has come so far; the last of it may still be on its way."""
        return list(self._seen)

    def count(self, name: str) -> int:
        return sum(sent == name for _, sent, _ in self.seen())

    def stop(self) -> list[Sent]:
        """All that came until now."""
        if not self._ended.is_set():
            with self._server.connect() as raw:
                raw.call("ECHO", END)
            assert self._ended.wait(30)
            self._thread.join()
            self._connection.close()
        return self.seen()

    def close(self) -> None:
        self.stop()

    def _collect(self) -> None:
        while not self._ended.is_set():
            line = LINE.match(self._connection.read())
            assert line is not None
            words = WORD.findall(line[2])
            if words[-1] == END:
                self._ended.set()
            elif name := script_name(words):
                self._seen.append((line[1], name, words[3:]))
