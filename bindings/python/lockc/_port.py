"""The door between one client and one event loop: a completion queue that the loop watches."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import weakref
from typing import Callable, Final, Optional

from . import _core
from .errors import Closed, Invalid, Status, from_status

_Outcome = tuple[int, Optional[str], Optional[_core.Grant]]


class Port:
    """Sends requests and takes in what completes, in batches; for use in its own loop only.

    No thread is involved: the queue's file descriptor is readable while completions wait.
    """

    __slots__ = ("__weakref__", "_leave", "_loop", "_losses", "_outcomes", "_queue", "_tags")

    def __init__(self, client: _core.Client) -> None:
        self._queue: Final = _core.Queue(client)
        self._tags = itertools.count(1)
        self._outcomes: dict[int, asyncio.Future[_Outcome]] = {}
        self._losses: weakref.WeakValueDictionary[int, asyncio.Future[None]] = (
            weakref.WeakValueDictionary()
        )
        loop = asyncio.get_running_loop()
        self._loop: Final = weakref.ref(loop)
        loop.add_reader(self._queue.fileno(), _take_in, weakref.ref(self))
        # A port that is dropped without close() must not live on in the loop.
        self._leave = weakref.finalize(self, _leave_later, loop, self._queue)
        self._leave.atexit = False

    async def acquire(self, request: _core.Request, wait_ms: int) -> tuple[int, _core.Grant]:
        """Waits for a grant; returns its tag, under which its loss is told, and the grant.

        A cancelled task leaves nothing behind: the request is cancelled, a late grant given back.
        """
        tag = next(self._tags)
        self._queue.acquire(tag, request, wait_ms)
        outcome = self._outcomes[tag] = asyncio.get_running_loop().create_future()
        try:
            status, message, grant = await outcome
        except BaseException:
            if outcome.cancelled() or not outcome.done():
                outcome.cancel()
                self._queue.cancel(tag)
            else:  # the task was cancelled between the grant and its next step
                _discard(outcome.result()[2])
            raise
        if grant is None:
            raise from_status(status, message, request.key)
        return tag, grant

    async def extend(self, grant: _core.Grant, ttl_ms: int) -> None:
        """Waits for the answer to an extend; raises if it was refused."""
        status, message = await self._ask(lambda tag: self._queue.extend(tag, grant, ttl_ms))
        if status != Status.OK:
            raise from_status(status, message, grant.key)

    async def release(self, grant: _core.Grant) -> bool:
        """Waits for the answer to a release: False if it was no longer ours.

        It goes on when the waiting task is cancelled.
        """
        status, message = await self._ask(lambda tag: self._queue.release(tag, grant))
        if status not in (Status.OK, Status.LOST):
            raise from_status(status, message, grant.key)
        return status == Status.OK

    def check_loop(self) -> None:
        """Raises Invalid in another loop, whose task the answer would never wake."""
        if asyncio.get_running_loop() is not self._loop():
            raise Invalid("the lock belongs to the event loop that acquired it")

    def loss(self, tag: int) -> asyncio.Future[None]:
        """Makes the future that ends when the grant of this tag is lost."""
        self.check_loop()
        future = self._losses[tag] = asyncio.get_running_loop().create_future()
        return future

    def close(self) -> None:
        """Takes in what a closed client has completed, and leaves the loop."""
        self._take_in()
        for outcome in self._outcomes.values():
            if not outcome.done():
                outcome.set_result((Closed.status, None, None))
        self._outcomes.clear()
        self._leave.detach()
        asyncio.get_running_loop().remove_reader(self._queue.fileno())

    async def _ask(self, send: Callable[[int], None]) -> tuple[int, str | None]:
        self.check_loop()
        tag = next(self._tags)
        send(tag)
        outcome = self._outcomes[tag] = asyncio.get_running_loop().create_future()
        status, message, _ = await outcome
        return status, message

    def _take_in(self) -> None:
        for tag, kind, status, grant, message in self._queue.poll():
            if kind == _core.EVENT_LOST:
                loss = self._losses.pop(tag, None)
                if loss is not None and not loss.done():
                    loss.set_result(None)
                continue
            outcome = self._outcomes.pop(tag)
            if outcome.done():  # its task was cancelled
                _discard(grant)
            else:
                outcome.set_result((status, message, grant))


def _take_in(port: weakref.ref[Port]) -> None:
    """What the loop calls: it knows the port without keeping it alive."""
    alive = port()
    if alive is not None:
        alive._take_in()


def _leave_later(loop: asyncio.AbstractEventLoop, queue: _core.Queue) -> None:
    """Ends the watching of a dropped port's queue; the queue lives until that is done.

    The last reference may end in any thread, so the loop does it.
    """
    with contextlib.suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(_leave, loop, queue)


def _leave(loop: asyncio.AbstractEventLoop, queue: _core.Queue) -> None:
    loop.remove_reader(queue.fileno())


def _discard(grant: _core.Grant | None) -> None:
    """Lets a grant go that nobody waits for any more; freeing it gives it back."""
    if grant is not None:
        grant.discard()
