"""A lock in the shape of redis-py's redis.lock.Lock.

    from lockc.compat.redis_lock import Lock

    with Lock(redis_client, "orders:42", timeout=10, blocking_timeout=2.5):
        save(order)

Its exceptions are redis-py's where redis-py is installed; see lockc.compat.errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from .. import _options
from ..client import Client, Held
from ._clients import Clients
from ._shape import BaseLock, Number
from .errors import LockError, LockNotOwnedError, told_as_redis

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Lock", "LockError", "LockNotOwnedError"]

_clients: Final = Clients(Client, asynchronous=False)


class Lock(BaseLock[Client, Held]):
    """A lock with the constructor and the methods of redis-py's Lock.

    It may be used from any thread; with thread_local each thread holds for itself.
    """

    def _find_client(self, redis: object) -> Client:
        return _clients.find(redis)

    def acquire(
        self,
        sleep: Number | None = None,
        blocking: bool | None = None,
        blocking_timeout: Number | None = None,
        token: None = None,
    ) -> bool:
        """Acquires the lock. Waits with the GIL released; Ctrl-C ends the wait.

        Args:
            sleep: Means nothing here.
            blocking: False: one try. None: as the constructor says.
            blocking_timeout: Seconds to wait at most. None: as the constructor says.
            token: Must be None: lockc makes the value at the key itself.

        Returns:
            False: it was not granted in time.

        Raises:
            Invalid, Unsupported: An argument is wrong.
            ConnectionError, TimeoutError, ResponseError: The server's trouble.
        """
        lock = self._client.lock(self._key, **self._request(blocking, blocking_timeout, token))
        with told_as_redis(self.name):
            if not lock.acquire():
                return False
        self.local.held = lock.held
        return True

    def locked(self) -> bool:
        """Asks the server whether anybody holds the key."""
        with told_as_redis(self.name):
            return bool(self._client.inspect(self._key)["state"] != "free")

    def owned(self) -> bool:
        """Asks the server whether this lock, in this thread, still holds the key."""
        held = self.local.held
        if held is None or held.lost.is_set():
            return False
        with told_as_redis(self.name):
            return bool(self._client.inspect(self._key)["owner"] == held.owner)

    def release(self) -> None:
        """Gives the lock back. Blocks for one answer of the server.

        Raises:
            LockError: It is not held, or by another thread.
            LockNotOwnedError: It was lost; nothing was changed.
        """
        held = self._take_held()
        with told_as_redis(self.name):
            if not held.release():
                raise self._error("cannot release a lock that was lost", LockNotOwnedError)

    def extend(self, additional_time: Number, replace_ttl: bool = False) -> Literal[True]:
        """Makes the lease of a lock with a timeout longer. Blocks for the server's answers.

        Args:
            additional_time: Seconds to add to what is left of it.
            replace_ttl: True: seconds from now on. It never becomes shorter.

        Raises:
            LockError: It is not held, or has no timeout.
            LockNotOwnedError: It was lost.
        """
        held, _ = self._held_for("extend")
        milliseconds = _options.milliseconds("additional_time", additional_time)
        with told_as_redis(self.name):
            if not replace_ttl:
                milliseconds += max(self._client.inspect(self._key)["pttl_ms"], 0)
            held.extend(milliseconds / 1000)
        return True

    def reacquire(self) -> Literal[True]:
        """Makes the lease last for the lock's timeout, from now on.

        Raises:
            LockError: It is not held, or has no timeout.
            LockNotOwnedError: It was lost.
        """
        held, timeout = self._held_for("reacquire")
        with told_as_redis(self.name):
            held.extend(timeout)
        return True

    def __enter__(self) -> Lock:
        """Acquires the lock within its blocking_timeout, or raises LockError."""
        if self.acquire():
            return self
        raise self._error("the lock was not granted in time")

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Gives the lock back; with raise_on_release_error=False, a LockError is only logged."""
        with self._leaving():
            self.release()
