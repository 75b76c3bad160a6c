"""The exceptions of lockc: one class for each status that is not success."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import ClassVar, Final


class Status(IntEnum):
    """The statuses of lockc, by the names and numbers of its C header.

    Above zero: an answer that is not success. Below: no usable answer.
    """

    OK = 0
    BUSY = 1
    TIMEOUT = 2
    CANCELLED = 3
    NOT_HELD = 4
    LOST = 5
    PENDING = 6
    STALE = 7
    CONFLICT = 8
    E_INVALID = -1
    E_CLOSED = -2
    E_NOMEM = -3
    E_UNREACHABLE = -4
    E_UNCERTAIN = -5
    E_SERVER = -6
    E_DENIED = -7
    E_WRONG_TYPE = -8
    E_SERVER_OOM = -9
    E_UNSUPPORTED = -10
    E_LIMIT = -11
    E_FORKED = -12
    E_INTERNAL = -15
    E_READONLY = -16
    E_NOT_READY = -17


class Error(Exception):
    """The base of all exceptions that lockc raises.

    Attributes:
        status: Which status of lockc it stands for.
        key: The key that was asked for, without the client's prefix; None where no key is meant.
    """

    status: ClassVar[Status] = Status.E_INTERNAL
    _text: ClassVar[str] = "lockc failed"

    def __init__(self, message: str | None = None, key: bytes | None = None) -> None:
        """Makes an error.

        Args:
            message: What went wrong; None for the general text of the class.
            key: The key it is about.
        """
        if message is None:
            message = self._text if key is None else f"{self._text}: {key!r}"
        super().__init__(message)
        self.key = key


class Timeout(Error, TimeoutError):
    """The wait was over before the lock was granted; nothing is held."""

    status = Status.TIMEOUT
    _text = "the lock was not granted in time"


class Busy(Timeout):
    """One try was asked for, and another owner has the lock."""

    status = Status.BUSY
    _text = "another owner has the lock"


class Cancelled(Error):
    """The wait was cancelled; nothing is held."""

    status = Status.CANCELLED
    _text = "the wait for the lock was cancelled"


class NotHeld(Error):
    """There is nothing to release or extend: it was given back before, or never acquired."""

    status = Status.NOT_HELD
    _text = "the lock is not held"


class Lost(Error):
    """The lease ended, or another owner has the key: what it protected may have been touched."""

    status = Status.LOST
    _text = "the lock was lost"


class Stale(Error):
    """A larger token came before this one: the lock has had another holder; nothing was written."""

    status = Status.STALE
    _text = "a larger token came before"


class Conflict(Error):
    """The record has another version than expected; nothing was written."""

    status = Status.CONFLICT
    _text = "the record has another version than expected"


class Invalid(Error, ValueError):
    """An argument is wrong; nothing was sent."""

    status = Status.E_INVALID
    _text = "an argument is invalid"


class Closed(Error):
    """The client is closed."""

    status = Status.E_CLOSED
    _text = "the client is closed"


class NoMemory(Error, MemoryError):
    """This process has no memory left."""

    status = Status.E_NOMEM
    _text = "out of memory"


class Unreachable(Error, ConnectionError):
    """There was no connection; the request was certainly not executed."""

    status = Status.E_UNREACHABLE
    _text = "the server cannot be reached"


class Uncertain(Error, TimeoutError):
    """The request was sent and not answered.

    What it may have granted lockc undoes by itself; what it was to write was written or not.
    """

    status = Status.E_UNCERTAIN
    _text = "the server did not answer"


class Server(Error):
    """The server answered with an error that has no class of its own; the message quotes it."""

    status = Status.E_SERVER
    _text = "the server answered with an error"


class NotReady(Error):
    """The server is loading, runs a long script, or its cluster is down."""

    status = Status.E_NOT_READY
    _text = "the server is not ready"


class ReadOnly(Error):
    """The server takes no writes now: a replica, too few replicas, or a failing disk."""

    status = Status.E_READONLY
    _text = "the server is read-only"


class Denied(Error, PermissionError):
    """User, password or access rights do not suffice."""

    status = Status.E_DENIED
    _text = "the server denied access"


class WrongType(Error):
    """The key holds something else than what was asked for, a lock or a record."""

    status = Status.E_WRONG_TYPE
    _text = "the key holds something else"


class ServerOOM(Error):
    """The server is at its memory limit and evicts nothing."""

    status = Status.E_SERVER_OOM
    _text = "the server is out of memory"


class Unsupported(Error):
    """This server, or this build of lockc, cannot do that."""

    status = Status.E_UNSUPPORTED
    _text = "not supported"


class Limit(Error):
    """As many operations wait for locks as the client's max_waiters allows."""

    status = Status.E_LIMIT
    _text = "too many waiters"


class Forked(Error):
    """A lock that was acquired before fork() belongs to the parent process."""

    status = Status.E_FORKED
    _text = "the lock belongs to the parent process"


class Internal(Error):
    """A bug in lockc."""

    status = Status.E_INTERNAL
    _text = "internal error"


_CLASSES: dict[int, type[Error]] = {
    cls.status: cls
    for cls in (
        Timeout, Busy, Cancelled, NotHeld, Lost, Stale, Conflict, Invalid, Closed, NoMemory,
        Unreachable, Uncertain, Server, NotReady, ReadOnly, Denied, WrongType, ServerOOM,
        Unsupported, Limit, Forked, Internal,
    )
}  # fmt: skip


# How the library names options: durations by their unit, flags by their prefix.
_C_NAME: Final = re.compile(r"\b(?:([a-z]+(?:_[a-z]+)*)_ms|LOCKC_(SPIN))\b")


def _with_own_names(message: str) -> str:
    """Names options as the functions here do."""
    return _C_NAME.sub(lambda found: found[1] or found[2].lower(), message)


def from_status(status: int, message: str | None, key: bytes | None) -> Error:
    """Makes the exception of a status; the extension module calls it too.

    Args:
        status: Any status but OK and PENDING.
        message: The library's text; None for the general text of the class.
        key: The key that was asked for.
    """
    if status == Status.E_INVALID and message is not None:
        message = _with_own_names(message)
    return _CLASSES.get(status, Internal)(message, key)
