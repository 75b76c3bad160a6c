"""A server that answers by rules, for replies that no real server gives.

    with FakeServer() as fake:
        fake.answer("INFO", raw(b"*2147483647\\r\\n"))
        fake.answer_scripts(error("CLUSTERDOWN no"), error("CLUSTERDOWN no"), [1, b"7", 1])

Each command has its list of answers, taken one after the other; the last one stays. An answer is a
value to be encoded as RESP2 (None, int, bytes, str for a status, list), raw(bytes), error(text),
SILENCE, HANG_UP, or a function of the command's arguments that gives one of these. Without a rule,
what a client says when it logs in is answered as a real server would, all else by an error.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

from running import Running

INFO = b"# Server\r\nredis_version:7.0.15\r\nrun_id:" + b"0" * 40 + b"\r\n"


@dataclass(frozen=True)
class Raw:
    """Bytes that go out as they are."""

    data: bytes


@dataclass(frozen=True)
class Signal:
    """An answer that is none."""

    name: str


SILENCE = Signal("silence")
HANG_UP = Signal("hang up")

Answer = Any  # see the module's text


def raw(data: bytes) -> Raw:
    return Raw(data)


def error(text: str) -> Raw:
    return Raw(b"-%s\r\n" % text.encode())


def encode(value: Answer) -> bytes:
    """A value as RESP2."""
    if isinstance(value, Raw):
        return value.data
    if value is None:
        return b"$-1\r\n"
    if isinstance(value, int):
        return b":%d\r\n" % value
    if isinstance(value, str):
        return b"+%s\r\n" % value.encode()
    if isinstance(value, bytes):
        return b"$%d\r\n%s\r\n" % (len(value), value)
    if isinstance(value, list):
        return b"*%d\r\n%s" % (len(value), b"".join(encode(item) for item in value))
    raise TypeError(f"no RESP2 form: {value!r}")


def log_in_answers() -> dict[str, list[Answer]]:
    return {
        "AUTH": ["OK"],
        "SELECT": ["OK"],
        "CLIENT": [lambda arguments: 7 if arguments[1].upper() == b"ID" else "OK"],
        "INFO": [INFO],
        "PING": ["PONG"],
        "SUBSCRIBE": [lambda arguments: [b"subscribe", arguments[1], 1]],
    }


def read_request(stream: BinaryIO) -> list[bytes] | None:
    """The next command's arguments; None at the end of the stream."""
    head = stream.readline()
    if not head.startswith(b"*"):
        return None
    arguments = []
    for _ in range(int(head[1:])):
        size = int(stream.readline()[1:])
        arguments.append(stream.read(size + 2)[:-2])
    return arguments


class FakeServer(Running):
    """Listens on a free port of 127.0.0.1; a thread for each connection."""

    def __init__(self) -> None:
        self.requests: list[list[bytes]] = []
        self._answers = log_in_answers()
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def answer(self, command: str, *answers: Answer) -> None:
        """Sets the answers to a command from now on."""
        with self._lock:
            self._answers[command.upper()] = list(answers)

    def answer_scripts(self, *answers: Answer) -> None:
        """Sets the answers to scripts, sent as text or by their digest."""
        with self._lock:
            self._answers["EVAL"] = self._answers["EVALSHA"] = list(answers)

    def count(self, *commands: str) -> int:
        """How often one of the commands came."""
        with self._lock:
            return sum(request[0].upper().decode() in commands for request in self.requests)

    def close(self) -> None:
        self._listener.close()
        with self._lock:
            sockets = list(self._sockets)
        for connection in sockets:
            close_now(connection)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._sockets.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        stream = connection.makefile("rb")
        try:
            while (request := read_request(stream)) is not None:
                answer = self._next_answer(request)
                if answer is HANG_UP:
                    break
                if answer is not SILENCE:
                    connection.sendall(encode(answer))
        except OSError:
            pass  # the client left, which is for the test to judge
        close_now(connection)

    def _next_answer(self, request: list[bytes]) -> Answer:
        with self._lock:
            self.requests.append(request)
            answers = self._answers.get(request[0].upper().decode())
            if answers is None:
                return error(f"ERR unknown command '{request[0].decode()}'")
            answer: Answer | Callable[[list[bytes]], Answer] = answers[0]
            if len(answers) > 1:
                answers.pop(0)
        return answer(request) if callable(answer) else answer


def close_now(connection: socket.socket) -> None:
    """Closes for both sides, also under a thread that is reading."""
    with contextlib.suppress(OSError):  # it may not be connected any more
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
