"""The exceptions of redis-py, or ours of the same names and bases where it is not installed.

Code that catches redis.exceptions.LockError, ConnectionError and the like goes on working; the
exception of lockc is the `__cause__`.
"""

from __future__ import annotations

import contextlib
import importlib
from typing import TYPE_CHECKING, Final

from .. import errors

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import ModuleType

__all__ = [
    "AuthenticationError",
    "BusyLoadingError",
    "ConnectionError",
    "LockError",
    "LockNotOwnedError",
    "OutOfMemoryError",
    "ReadOnlyError",
    "RedisError",
    "ResponseError",
    "TimeoutError",
]


def _module() -> ModuleType:
    try:
        return importlib.import_module("redis.exceptions")
    except ImportError:
        return importlib.import_module("._exceptions", __package__)


_found: Final = _module()

RedisError: Final[type[Exception]] = _found.RedisError
ConnectionError: Final[type[Exception]] = _found.ConnectionError
TimeoutError: Final[type[Exception]] = _found.TimeoutError
AuthenticationError: Final[type[Exception]] = _found.AuthenticationError
BusyLoadingError: Final[type[Exception]] = _found.BusyLoadingError
ResponseError: Final[type[Exception]] = _found.ResponseError
ReadOnlyError: Final[type[Exception]] = _found.ReadOnlyError
# Older versions of redis-py have no class of its own for it.
OutOfMemoryError: Final[type[Exception]] = getattr(_found, "OutOfMemoryError", ResponseError)
LockError: Final[type[Exception]] = _found.LockError
LockNotOwnedError: Final[type[Exception]] = _found.LockNotOwnedError

_CLASSES: Final[dict[type[errors.Error], type[Exception]]] = {
    errors.Lost: LockNotOwnedError,
    errors.NotHeld: LockNotOwnedError,
    errors.Forked: LockNotOwnedError,
    errors.Unreachable: ConnectionError,
    errors.Uncertain: TimeoutError,
    errors.Denied: AuthenticationError,
    errors.NotReady: BusyLoadingError,
    errors.ReadOnly: ReadOnlyError,
    errors.ServerOOM: OutOfMemoryError,
    errors.WrongType: ResponseError,
    errors.Server: ResponseError,
}


def about(kind: type[Exception], message: str, name: str | bytes | memoryview) -> Exception:
    """Makes an exception that names its lock, as redis-py does since version 5."""
    error = kind(message)
    vars(error)["lock_name"] = name
    return error


@contextlib.contextmanager
def told_as_redis(name: str | bytes | memoryview) -> Generator[None, None, None]:
    """Raises what redis-py has a class for as that class; wrong use stays lockc's exception."""
    try:
        yield
    except errors.Error as error:
        kind = _CLASSES.get(type(error))
        if kind is None:
            raise
        raise about(kind, str(error), name) from error
