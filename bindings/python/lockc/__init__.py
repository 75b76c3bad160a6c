"""Distributed locks on Redis and Valkey.

    with lockc.Client("redis://localhost:6379/0") as client:
        with client.lock("orders:42", timeout=2.5) as held:
            save(order, fencing_token=held.token)

A held lock is renewed in the background while it is needed, handed back when the `with` is left,
and free again by itself after its holder died. `lockc.aio` has the same for asyncio.
"""

from . import _core, aio, fence
from .client import Client, Held, Lock, LostEvent
from .errors import (
    Busy,
    Cancelled,
    Closed,
    Conflict,
    Denied,
    Error,
    Forked,
    Internal,
    Invalid,
    Limit,
    Lost,
    NoMemory,
    NotHeld,
    NotReady,
    ReadOnly,
    Server,
    ServerOOM,
    Stale,
    Status,
    Timeout,
    Uncertain,
    Unreachable,
    Unsupported,
    WrongType,
)
from .fence import Fence, Record

__all__ = [
    "Busy",
    "Cancelled",
    "Client",
    "Closed",
    "Conflict",
    "Denied",
    "Error",
    "Fence",
    "Forked",
    "Held",
    "Internal",
    "Invalid",
    "Limit",
    "Lock",
    "Lost",
    "LostEvent",
    "NoMemory",
    "NotHeld",
    "NotReady",
    "ReadOnly",
    "Record",
    "Server",
    "ServerOOM",
    "Stale",
    "Status",
    "Timeout",
    "Uncertain",
    "Unreachable",
    "Unsupported",
    "WrongType",
    "aio",
    "fence",
]


def _version() -> str:
    number = _core.version()
    return f"{number >> 16}.{number >> 8 & 255}.{number & 255}"


__version__ = _version()
