"""A blocking RESP2 client for tests: what goes over the wire is exactly what the test says."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from typing import Any

from running import Running

Arg = bytes | str | int | float
Reply = Any  # bytes, int, None, ServerError or a list of these


class ServerError(Exception):
    """An error the server answered; inside arrays and pipelines it is a value."""

    @property
    def code(self) -> str:
        return str(self).split(" ", 1)[0]


def encode(args: Iterable[Arg]) -> bytes:
    parts = [arg if isinstance(arg, bytes) else str(arg).encode() for arg in args]
    head = b"*%d\r\n" % len(parts)
    return head + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


class Connection(Running):
    """One connection, for one thread at a time. Replies are bytes, int, None or lists of these."""

    def __init__(
        self,
        port: int = 0,
        host: str = "127.0.0.1",
        path: str | None = None,
        timeout: float = 10.0,
        username: str | None = None,
        password: str = "",
    ) -> None:
        if path is None:
            self._socket = socket.create_connection((host, port), timeout)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        else:
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.settimeout(timeout)
            self._socket.connect(path)
        self._file = self._socket.makefile("rb")
        if username is not None:
            self.call("AUTH", username, password)

    def call(self, *args: Arg) -> Reply:
        """Sends one command and returns its reply; an error reply is raised."""
        self.send(*args)
        reply = self.read()
        if isinstance(reply, ServerError):
            raise reply
        return reply

    def send(self, *args: Arg) -> None:
        self._socket.sendall(encode(args))

    def pipeline(self, commands: Iterable[Iterable[Arg]]) -> list[Reply]:
        """Sends all commands in one write; error replies are values of the result."""
        encoded = [encode(command) for command in commands]
        self._socket.sendall(b"".join(encoded))
        return [self.read() for _ in encoded]

    def read(self, timeout: float | None = None) -> Reply:
        """Reads one reply, also a pushed message; TimeoutError when none begins in time."""
        if timeout is not None:
            self._wait_readable(timeout)
        line = self._file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("connection closed by the server")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest
        if kind == b"-":
            return ServerError(rest.decode(errors="replace"))
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return self._read_bulk(int(rest))
        if kind == b"*":
            return None if rest == b"-1" else [self.read() for _ in range(int(rest))]
        raise ConnectionError(f"not RESP2: {line!r}")

    def subscribe(self, *channels: Arg) -> None:
        """Subscribes and sees every confirmation; messages are then read by message()."""
        self.send("SUBSCRIBE", *channels)
        for _ in channels:
            reply = self.read()
            if isinstance(reply, ServerError):
                raise reply

    def message(self, timeout: float = 5.0) -> bytes | None:
        """The payload of the next published message; None when none comes in time."""
        try:
            push = self.read(timeout)
        except TimeoutError:
            return None
        assert push[0] == b"message", push
        return push[2]

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def _wait_readable(self, timeout: float) -> None:
        before = self._socket.gettimeout()
        # A buffered reader that timed out refuses to go on, so the wait is made by peeking below
        # it; what it has buffered already is at hand without any wait.
        self._socket.settimeout(0.0)
        try:
            buffered = bool(self._file.peek(1))
        except BlockingIOError:
            buffered = False
        self._socket.settimeout(timeout)
        try:
            if not buffered:
                self._socket.recv(1, socket.MSG_PEEK)
        finally:
            self._socket.settimeout(before)

    def _read_bulk(self, size: int) -> bytes | None:
        if size < 0:
            return None
        data = self._file.read(size + 2)
        if len(data) != size + 2:
            raise ConnectionError("connection closed by the server")
        return data[:-2]
