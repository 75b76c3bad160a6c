"""The blocking face of lockc. Everything in it may be used from any thread."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import _core, _options
from ._base import BaseClient, BaseHeld, BaseLostEvent, leave, loss_of, wait_ms
from ._options import UNSET, Key, Unset
from .errors import Error, NotHeld, Timeout
from .fence import Record, write_terms

if TYPE_CHECKING:
    from types import TracebackType


class LostEvent(BaseLostEvent):
    """Set when the lease of a held lock was lost; used like a threading.Event."""

    __slots__ = ()

    def wait(self, timeout: float | None = None) -> bool:
        """Blocks until the lease was lost, or the lock was released.

        Args:
            timeout: Seconds to wait at most. None: no bound.

        Returns:
            True: it was lost. False: it was released, or the timeout is over.
        """
        return self._grant.wait_lost(_options.wait(timeout))


class Held(BaseHeld):
    """One grant of a lock, from its acquire until it is released or lost."""

    __slots__ = ()

    @property
    def lost(self) -> LostEvent:
        """Tells when the lease was lost."""
        return LostEvent(self._grant)

    def extend(self, ttl: float) -> None:
        """Makes the lease last at least `ttl` seconds from now; never shortens it.

        Blocks for one answer of the server.

        Args:
            ttl: 0.01 seconds to one year.

        Raises:
            Lost: The lease was lost.
            NotHeld: It was released before.
            Error: The server could not be asked; the lease goes on as it was.
        """
        self._grant.extend(_options.ttl("ttl", ttl))

    def release(self) -> bool:
        """Gives the lock back. Blocks for one answer of the server.

        Returns:
            False: it was no longer ours, and nothing was changed.

        Raises:
            NotHeld: It was released before.
            Unreachable, Uncertain: The grant is over here, and lockc goes on giving it back.
        """
        return self._grant.release()

    def release_nowait(self) -> bool:
        """Gives the lock back without waiting for the server's answer.

        Without an answer lockc goes on giving it back. That it was lost before, where only the
        answer tells it, shows in `lost` then.

        Returns:
            False: it is known already that it was no longer ours.

        Raises:
            NotHeld: It was released before.
        """
        return self._grant.release_nowait()


class Lock:
    """A lock of one key, made by Client.lock().

    It can be acquired again after it was released, and holds at most one grant at a time: to
    acquire it while it is in use, by this thread or another, raises Invalid. Threads that compete
    for a key each make a lock object of their own; that costs next to nothing.
    """

    __slots__ = ("_lock", "_permissive", "_wait_ms")

    def __init__(self, lock: _core.Lock, wait_ms: int, permissive: bool) -> None:
        self._lock = lock
        self._wait_ms = wait_ms
        self._permissive = permissive

    @property
    def held(self) -> Held | None:
        """The present grant; None before acquire and after release. A lost one is still here."""
        grant = self._lock.grant
        return None if grant is None or grant.is_ended else Held(grant)

    def acquire(self, blocking: bool = True, timeout: float | Unset | None = UNSET) -> bool:
        """Acquires the lock. Waits with the GIL released; Ctrl-C ends the wait.

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
            self._lock.acquire(wait_ms(blocking, timeout, self._wait_ms))
        except Timeout:
            return False
        return True

    def release(self) -> bool:
        """Gives the lock back. Blocks for one answer of the server.

        Returns:
            False: it was no longer ours, and nothing was changed.

        Raises:
            NotHeld: It was not acquired, or released before.
            Unreachable, Uncertain: The grant is over here, and lockc goes on giving it back.
        """
        grant = self._lock.grant
        if grant is None:
            raise NotHeld(key=self._lock.key)
        return grant.release()

    def release_nowait(self) -> bool:
        """Gives the lock back as Held.release_nowait() does.

        Returns:
            False: it is known already that it was no longer ours.

        Raises:
            NotHeld: It was not acquired, or released before.
        """
        grant = self._lock.grant
        if grant is None:
            raise NotHeld(key=self._lock.key)
        return grant.release_nowait()

    def __enter__(self) -> Held:
        """Acquires the lock within its timeout, or raises.

        Raises:
            Busy: With timeout 0, another owner has it.
            Timeout: It was not granted in time.
            Error: As acquire().
        """
        return Held(self._lock.acquire(self._wait_ms))

    def __exit__(
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
        grant = self._lock.grant
        if grant is None or grant.is_ended:
            return
        try:
            if not grant.release() and not self._permissive:
                leave(exc, loss_of(grant))
        except Error as error:
            leave(exc, error)

    def __repr__(self) -> str:
        held = self.held
        return "<lockc.Lock>" if held is None else f"<lockc.Lock {held!r}>"


class Client(BaseClient[Lock]):
    """Locks on one Redis or Valkey server, for code that blocks.

    One client serves all threads of a process, and works again by itself in a forked child. Close
    it, or use it in a `with`, to give back what is still held.

    Example:
        with lockc.Client("redis://localhost:6379/0") as client:
            with client.lock("orders:42", timeout=2.5) as held:
                save(order, fencing_token=held.token)
    """

    __slots__ = ()

    def _make_lock(self, request: _core.Request, wait_ms: int, permissive: bool) -> Lock:
        return Lock(_core.Lock(self._core, request), wait_ms, permissive)

    def connect(self, timeout: float = 1.0) -> None:
        """Blocks until a connection stands, at most `timeout` seconds; else the first acquire does.

        Raises:
            Error: It does not stand; the class and the message say why.
        """
        self._core.connect(_options.milliseconds("timeout", timeout))

    def inspect(self, key: Key) -> dict[str, Any]:
        """Asks the server what it knows of a key. Blocks for one answer.

        Returns:
            `key`, `state` (free, held, foreign, zombie, record, other), `type`, `owner`,
            `client_name`, `pttl_ms`, `token`, `queue`, `grace_ms`.
        """
        found: dict[str, Any] = json.loads(self._core.inspect(_options.key(key)))
        return found

    def read(self, key: Key) -> Record:
        """Reads a record. Blocks for one answer.

        Returns:
            Its value, version and token; version 0 and an empty value where there is none.

        Raises:
            WrongType: The key holds something that is not a record.
            Error: The server's trouble, as a class of its own each.
        """
        return Record(*self._core.read(_options.key(key)))

    def write(
        self,
        key: Key,
        value: bytes,
        *,
        token: int | None = None,
        version: int | None = None,
        ttl: float | None = None,
    ) -> int:
        """Writes a record, if its guards let this writer pass. Blocks for one answer.

        Args:
            key: A key of its own, not that of the lock.
            value: Up to 8 MiB.
            token: `held.token` of the lock that protects the record: refused if a larger one wrote
                before. None: not fenced.
            version: What the record must have; 0: there must be none. None: whichever.
            ttl: Seconds until the record expires, 0.01 to a year. None: its expiry stays as it is,
                and a new record has none.

        Returns:
            The record's new version, larger than any before.

        Raises:
            Stale: A larger token wrote before. Nothing was written.
            Conflict: The record has another version. Nothing was written.
            Uncertain: No answer: it was written or not; it is never sent twice.
            Invalid: An argument is wrong; 0, the token of an unfenced lock, is none.
            WrongType: The key holds something that is not a record.
        """
        return self._core.write(
            _options.key(key), _options.value(value), **write_terms(token, version, ttl)
        )

    def close(self) -> None:
        """Gives back what is held and ends the client; operations that wait raise Closed.

        Blocks for the server's answers, at most for reply_timeout. May be repeated.
        """
        self._core.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
