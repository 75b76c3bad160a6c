"""The asyncio face of lockc: the names of lockc.Client, awaitable.

No thread waits: an event loop watches one file descriptor per client. A client may be used from
several loops; a lock, and what it returns, belongs to the loop that acquired it.
"""

from __future__ import annotations

import asyncio
import json
import threading
import weakref
from typing import TYPE_CHECKING, Any, TypeVar

from . import _core, _options
from ._base import BaseClient, BaseHeld, BaseLostEvent, leave, loss_of, wait_ms
from ._options import UNSET, Key, Unset
from ._port import Port
from .errors import Error, Invalid, NotHeld, Timeout
from .fence import Record, write_terms

if TYPE_CHECKING:
    from collections.abc import Awaitable, Generator
    from types import TracebackType

__all__ = ["Client", "Held", "Lock", "LostEvent", "run_until"]

T = TypeVar("T")


class LostEvent(BaseLostEvent):
    """Set when the lease of a held lock was lost; `await` it, or use it like an asyncio.Event."""

    __slots__ = ("_future", "_port", "_tag")

    def __init__(self, port: Port, tag: int, grant: _core.Grant) -> None:
        super().__init__(grant)
        self._port = port
        self._tag = tag
        self._future: asyncio.Future[None] | None = None

    async def wait(self, timeout: float | None = None) -> bool:
        """Waits until the lease was lost, or the lock was released.

        Args:
            timeout: Seconds to wait at most. None: no bound.

        Returns:
            True: it was lost. False: it was released, or the timeout is over.
        """
        seconds = None if timeout is None else _options.wait(timeout) / 1000
        if not self.is_set() and not self._grant.is_ended:
            if self._future is None:
                self._future = self._port.loss(self._tag)
            await asyncio.wait({self._future}, timeout=seconds)
        return self.is_set()

    def __await__(self) -> Generator[Any, None, bool]:
        """Waits as wait() does."""
        return self.wait().__await__()

    def _stop(self) -> None:
        if self._future is not None and not self._future.done():
            self._future.set_result(None)


class Held(BaseHeld):
    """One grant of a lock, from its acquire until it is released or lost."""

    __slots__ = ("_lost", "_port")

    def __init__(self, port: Port, tag: int, grant: _core.Grant) -> None:
        super().__init__(grant)
        self._port = port
        self._lost = LostEvent(port, tag, grant)

    @property
    def lost(self) -> LostEvent:
        """Tells when the lease was lost."""
        return self._lost

    async def extend(self, ttl: float) -> None:
        """Makes the lease last at least `ttl` seconds from now; never shortens it.

        Args:
            ttl: 0.01 seconds to one year.

        Raises:
            Lost: The lease was lost.
            NotHeld: It was released before.
            Error: The server could not be asked; the lease goes on as it was.
        """
        await self._port.extend(self._grant, _options.ttl("ttl", ttl))

    async def release(self) -> bool:
        """Gives the lock back; goes on doing so if the waiting task is cancelled.

        Returns:
            False: it was no longer ours, and nothing was changed.

        Raises:
            NotHeld: It was released before.
            Unreachable, Uncertain: The grant is over here, and lockc goes on giving it back.
            Invalid: Another event loop acquired it.
        """
        self._port.check_loop()
        try:
            return await self._port.release(self._grant)
        finally:
            self._lost._stop()

    def release_nowait(self) -> bool:
        """Gives the lock back without waiting for the server's answer.

        Without an answer lockc goes on giving it back. That it was lost before, where only the
        answer tells it, shows in `lost` then.

        Returns:
            False: it is known already that it was no longer ours.

        Raises:
            NotHeld: It was released before.
            Invalid: Another event loop acquired it.
        """
        self._port.check_loop()
        try:
            return self._grant.release_nowait()
        finally:
            self._lost._stop()


class Lock:
    """A lock of one key, made by Client.lock().

    It can be acquired again after it was released, and holds at most one grant at a time: to
    acquire it while it is in use raises Invalid. Tasks that compete for a key each make a lock
    object of their own; that costs next to nothing.
    """

    __slots__ = ("_acquiring", "_client", "_held", "_permissive", "_request", "_wait_ms")

    def __init__(
        self, client: Client, request: _core.Request, wait_ms: int, permissive: bool
    ) -> None:
        self._client = client
        self._request = request
        self._wait_ms = wait_ms
        self._permissive = permissive
        self._held: Held | None = None
        self._acquiring = False

    @property
    def held(self) -> Held | None:
        """The present grant; None before acquire and after release. A lost one is still here."""
        held = self._held
        return None if held is None or held._grant.is_ended else held

    async def acquire(self, blocking: bool = True, timeout: float | Unset | None = UNSET) -> bool:
        """Acquires the lock. Cancel the task, and nothing is held.

        Args:
            blocking: False: one try.
            timeout: Seconds to wait. None: for ever. 0: one try. Default: the lock's own timeout.

        Returns:
            False: it was not granted in time, and nothing is held.

        Raises:
            Invalid: An argument is wrong, or this object is in use.
            Error: The server's trouble, as a class of its own each.
        """
        try:
            await self._acquire(wait_ms(blocking, timeout, self._wait_ms))
        except Timeout:
            return False
        return True

    async def release(self) -> bool:
        """Gives the lock back; goes on doing so if the waiting task is cancelled.

        Returns:
            False: it was no longer ours, and nothing was changed.

        Raises:
            NotHeld: It was not acquired, or released before.
            Unreachable, Uncertain: The grant is over here, and lockc goes on giving it back.
        """
        if self._held is None:
            raise NotHeld(key=self._request.key)
        return await self._held.release()

    def release_nowait(self) -> bool:
        """Gives the lock back as Held.release_nowait() does.

        Returns:
            False: it is known already that it was no longer ours.

        Raises:
            NotHeld: It was not acquired, or released before.
        """
        if self._held is None:
            raise NotHeld(key=self._request.key)
        return self._held.release_nowait()

    async def _acquire(self, wait_ms: int) -> Held:
        if self._acquiring or self.held is not None:
            raise Invalid(
                "this lock object is in use: release it first, or make another one",
                self._request.key,
            )
        self._acquiring = True
        try:
            port = self._client._port()
            self._held = Held(port, *await port.acquire(self._request, wait_ms))
        finally:
            self._acquiring = False
        return self._held

    async def __aenter__(self) -> Held:
        """Acquires the lock within its timeout, or raises.

        Raises:
            Busy: With timeout 0, another owner has it.
            Timeout: It was not granted in time.
            Error: As acquire().
        """
        return await self._acquire(self._wait_ms)

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Gives the lock back, unless the body did.

        Raises:
            Lost: The lease was lost, the body ended normally, and the lock is not permissive.
            Error: The lock could not be given back.
        """
        held = self.held
        if held is None:
            return
        try:
            if not await held.release() and not self._permissive:
                leave(exc, loss_of(held._grant))
        except Error as error:
            leave(exc, error)

    def __repr__(self) -> str:
        held = self.held
        return "<lockc.aio.Lock>" if held is None else f"<lockc.aio.Lock {held!r}>"


class Client(BaseClient[Lock]):
    """Locks on one Redis or Valkey server, for asyncio.

    Example:
        async with lockc.aio.Client("redis://localhost:6379/0") as client:
            async with client.lock("orders:42", timeout=2.5) as held:
                await save(order, fencing_token=held.token)
    """

    __slots__ = ("_ports", "_ports_guard")

    def _start(self) -> None:
        self._ports: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Port] = (
            weakref.WeakKeyDictionary()
        )
        self._ports_guard = threading.Lock()

    def _make_lock(self, request: _core.Request, wait_ms: int, permissive: bool) -> Lock:
        return Lock(self, request, wait_ms, permissive)

    def _port(self) -> Port:
        loop = asyncio.get_running_loop()
        with self._ports_guard:
            port = self._ports.get(loop)
            if port is None:
                port = self._ports[loop] = Port(self._core)
            return port

    async def connect(self, timeout: float = 1.0) -> None:
        """Waits in a helper thread until a connection stands, at most `timeout` seconds.

        Raises:
            Error: It does not stand; the class and the message say why.
        """
        wait = _options.milliseconds("timeout", timeout)
        await asyncio.to_thread(self._core.connect, wait)

    async def inspect(self, key: Key) -> dict[str, Any]:
        """Asks the server what it knows of a key, as lockc.Client.inspect(), in a helper thread."""
        text = await asyncio.to_thread(self._core.inspect, _options.key(key))
        found: dict[str, Any] = json.loads(text)
        return found

    async def read(self, key: Key) -> Record:
        """Reads a record, as lockc.Client.read(), in a helper thread."""
        return Record(*await asyncio.to_thread(self._core.read, _options.key(key)))

    async def write(
        self,
        key: Key,
        value: bytes,
        *,
        token: int | None = None,
        version: int | None = None,
        ttl: float | None = None,
    ) -> int:
        """Writes a record, as lockc.Client.write(), in a helper thread.

        A task that is cancelled meanwhile leaves it open whether the record was written.
        """
        return await asyncio.to_thread(
            self._core.write,
            _options.key(key),
            _options.value(value),
            **write_terms(token, version, ttl),
        )

    async def close(self) -> None:
        """Gives back what is held and ends the client; operations that wait raise Closed.

        Waits in a helper thread for the server's answers, at most for reply_timeout.
        """
        await asyncio.to_thread(self._core.close)
        with self._ports_guard:
            port = self._ports.pop(asyncio.get_running_loop(), None)
        if port is not None:
            port.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()


async def run_until(work: Awaitable[T], lost: LostEvent) -> T:
    """Runs work while a lock is held: cancels it when the lease is lost.

    Args:
        work: A coroutine or another awaitable.
        lost: `held.lost` of the lock that protects the work.

    Returns:
        The result of the work.

    Raises:
        Lost: The lease was lost before the work was done, and it was cancelled.
    """
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(lost.wait())
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done() and watch.result():
            raise loss_of(lost._grant)
        return await task
    finally:
        watch.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
