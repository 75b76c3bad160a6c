"""A lock in the shape of redis-py's redis.asyncio.lock.Lock.

    from lockc.compat.redis_lock_asyncio import Lock

    async with Lock(redis_client, "orders:42", timeout=10, blocking_timeout=2.5):
        await save(order)

Its exceptions are redis-py's where redis-py is installed; see lockc.compat.errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from .. import _options
from ..aio import Client, Held
from ._clients import Clients
from ._shape import BaseLock, Number
from .errors import LockError, LockNotOwnedError, told_as_redis

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Lock", "LockError", "LockNotOwnedError"]

_clients: Final = Clients(Client, asynchronous=True)


class Lock(BaseLock[Client, Held]):
    """A lock with the constructor and the methods of redis-py's asyncio Lock.

    As there, all tasks of a thread share what one object holds: tasks that compete for a key each
    make a lock of their own. What is held belongs to the event loop that acquired it.
    """

    def _find_client(self, redis: object) -> Client:
        return _clients.find(redis)

    async def acquire(
        self,
        blocking: bool | None = None,
        blocking_timeout: Number | None = None,
        token: None = None,
    ) -> bool:
        """Acquires the lock. Cancel the task, and nothing is held.

        Args:
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
            if not await lock.acquire():
                return False
        self.local.held = lock.held
        return True

    async def locked(self) -> bool:
        """Asks the server whether anybody holds the key."""
        with told_as_redis(self.name):
            return bool((await self._client.inspect(self._key))["state"] != "free")

    async def owned(self) -> bool:
        """Asks the server whether this lock still holds the key."""
        held = self.local.held
        if held is None or held.lost.is_set():
            return False
        with told_as_redis(self.name):
            return bool((await self._client.inspect(self._key))["owner"] == held.owner)

    async def release(self) -> None:
        """Gives the lock back. Goes on doing so if the task is cancelled.

        Raises:
            LockError: It is not held, or by another thread.
            LockNotOwnedError: It was lost; nothing was changed.
        """
        held = self._take_held()
        with told_as_redis(self.name):
            if not await held.release():
                raise self._error("cannot release a lock that was lost", LockNotOwnedError)

    async def extend(self, additional_time: Number, replace_ttl: bool = False) -> Literal[True]:
        """Makes the lease of a lock with a timeout longer.

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
                milliseconds += max((await self._client.inspect(self._key))["pttl_ms"], 0)
            await held.extend(milliseconds / 1000)
        return True

    async def reacquire(self) -> Literal[True]:
        """Makes the lease last for the lock's timeout, from now on.

        Raises:
            LockError: It is not held, or has no timeout.
            LockNotOwnedError: It was lost.
        """
        held, timeout = self._held_for("reacquire")
        with told_as_redis(self.name):
            await held.extend(timeout)
        return True

    async def __aenter__(self) -> Lock:
        """Acquires the lock within its blocking_timeout, or raises LockError."""
        if await self.acquire():
            return self
        raise self._error("the lock was not granted in time")

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Gives the lock back; with raise_on_release_error=False, a LockError is only logged."""
        with self._leaving():
            await self.release()
