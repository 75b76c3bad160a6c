"""What the blocking and the asyncio lock share: redis-py's constructor and its checks."""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, Union

from .. import _options
from .._base import BaseHeld
from ..errors import Unsupported
from ._clients import ClientT
from .errors import LockError, about

if TYPE_CHECKING:
    from collections.abc import Iterator

_logger: Final = logging.getLogger(__name__)

HeldT = TypeVar("HeldT", bound=BaseHeld)

Number = Union[int, float]
Name = Union[str, bytes, memoryview]


class State(Generic[HeldT]):
    """What the holder of a lock knows; the lock's attribute `local`."""

    held: HeldT | None = None

    @property
    def token(self) -> bytes | None:
        """The value at the key while the lock is held; None before and after."""
        return None if self.held is None else self.held.owner.encode()


class ThreadState(threading.local, State[HeldT]):
    """The same, for each thread apart."""


class BaseLock(ABC, Generic[ClientT, HeldT]):
    """The shape of redis-py's Lock; see the classes made of it."""

    def __init__(
        self,
        redis: object,
        name: Name,
        timeout: Number | None = None,
        sleep: Number = 0.1,
        blocking: bool = True,
        blocking_timeout: Number | None = None,
        thread_local: bool = True,
        raise_on_release_error: bool = True,
    ) -> None:
        """Describes a lock; sends nothing.

        Args:
            redis: A URL, a lockc client, or a redis-py client, whose connection parameters are
                used. Locks with the same parameters share one lockc client.
            name: The key; a str is sent as UTF-8.
            timeout: Seconds until the lease ends, which is not renewed. None: it is renewed until
                release() is called or the process has died.
            sleep: Taken for redis-py's sake; a waiter is woken and does not ask again and again.
            blocking: False: acquire() tries once.
            blocking_timeout: Seconds that acquire() waits at most. None: for ever.
            thread_local: What a thread holds, only that thread can release. False: any can.
            raise_on_release_error: False: leaving a `with` after a loss only logs a warning.
        """
        self.redis = redis
        self.name = name
        self.timeout = timeout
        self.sleep = sleep
        self.blocking = blocking
        self.blocking_timeout = blocking_timeout
        self.thread_local = bool(thread_local)
        self.raise_on_release_error = raise_on_release_error
        self.local: State[HeldT] = ThreadState() if self.thread_local else State()
        self._key = _options.key(bytes(name) if isinstance(name, memoryview) else name)
        self._client = self._find_client(redis)

    @abstractmethod
    def _find_client(self, redis: object) -> ClientT:
        """The lockc client that belongs to redis."""

    @property
    def held(self) -> HeldT | None:
        """The grant, with what redis-py does not have: fencing token and news of a loss."""
        return self.local.held

    def _request(
        self, blocking: bool | None, blocking_timeout: Number | None, token: object
    ) -> dict[str, Any]:
        """Turns the arguments of acquire() into those of Client.lock()."""
        if token is not None:
            raise Unsupported("acquire() takes no token: lockc makes the value at the key itself")
        if blocking is None:
            blocking = self.blocking
        if blocking_timeout is None:
            blocking_timeout = self.blocking_timeout
        wait: Number | None = None
        if not blocking:
            wait = 0
        elif blocking_timeout is not None:
            wait = max(blocking_timeout, 0)
        return {"ttl": self.timeout or None, "timeout": wait}

    def _take_held(self) -> HeldT:
        """Hands over the grant for its release: nothing is held here from now on."""
        held = self.local.held
        if held is None:
            raise self._error("cannot release a lock that is not held")
        self.local.held = None
        return held

    def _held_for(self, what: str) -> tuple[HeldT, Number]:
        """Returns the grant and the lock's timeout, for a call that needs both."""
        held = self.local.held
        if held is None:
            raise self._error(f"cannot {what} a lock that is not held")
        if not self.timeout:
            raise self._error(f"cannot {what} a lock without a timeout: it is renewed by itself")
        return held, self.timeout

    @contextmanager
    def _leaving(self) -> Iterator[None]:
        """Around the release at the end of a `with`: raises a LockError, or only logs it."""
        try:
            yield
        except LockError as error:
            if self.raise_on_release_error:
                raise
            _logger.warning("%s: %r", error, self.name)

    def _error(self, message: str, kind: type[Exception] = LockError) -> Exception:
        return about(kind, message, self.name)
