"""What the blocking and the asyncio face share: options, attributes, how a loss is told."""

from __future__ import annotations

import atexit
import weakref
from abc import ABC, abstractmethod
from typing import Final, Generic, TypeVar

from . import _core, _options
from ._options import UNSET, Key, Unset
from .errors import Error, Invalid, Lost

LockT = TypeVar("LockT")

_REASONS: Final = {
    1: "expired",
    2: "taken",
    3: "limit",
    4: "closed",
    5: "forked",
}

# At exit held locks are given back, where the end of the process would leave them to their ttl.
_open_clients: weakref.WeakSet[_core.Client] = weakref.WeakSet()


@atexit.register
def _close_clients() -> None:
    for client in list(_open_clients):
        client.close()


class BaseClient(ABC, Generic[LockT]):
    """A client of one server; see lockc.Client and lockc.aio.Client."""

    __slots__ = ("__weakref__", "_core")

    def __init__(
        self,
        url: str | None = None,
        *,
        username: str | None = None,
        password: str | None = None,
        key_prefix: str | None = None,
        client_name: str | None = None,
        connect_timeout: float | None = None,
        reply_timeout: float | None = None,
        max_waiters: int | None = None,
        default_ttl: float | None = None,
        renew_every: float | None = None,
        fence_retention: float | None = None,
        renew_batch: int | None = None,
        handover_max: int | None = None,
        handover: float | None = None,
        spin_min: float | None = None,
        spin_max: float | None = None,
        log_fd: int | None = None,
    ) -> None:
        """Checks the options and starts the client; sends nothing yet.

        Durations are seconds, int or float. None is the default.

        Args:
            url: `redis://[user[:password]@]host[:port][/db]` or `unix:///path[?db=n]`. Default: the
                environment's LOCKC_URL, else `redis://127.0.0.1:6379`.
            username: In place of the URL's.
            password: In place of the URL's.
            key_prefix: Put before every key. Default: nothing.
            client_name: Shown by the server's CLIENT LIST. Default: host and process id.
            connect_timeout: For look-up, connect and log-in. Default: 1.
            reply_timeout: A connection without an answer for so long is given up. Default: 1.
            max_waiters: Bound of operations that wait for a lock. Default: none.
            default_ttl: The ttl of locks that name none, 0.01 to a year. Default: 30.
            renew_every: Time between renewals. Default: a third of each lock's ttl.
            fence_retention: How long the last token of an idle key is kept. Default: 60.
            renew_batch: Keys per renewal command, 1 to 1000. Default: 128.
            handover_max: Grants in a row inside this client by one grant of the server, 1 to 1000.
                Default: 8.
            handover: ... and for at most so long. Default: 0.02.
            spin_min: The back-off of spinning locks, from. Default: 0.002.
            spin_max: ... up to. Default: 0.25.
            log_fd: File descriptor that warnings are written to. Default: none.

        Raises:
            Invalid: An option is wrong; the message names it.
            Unsupported: The URL asks for something that this build cannot do.
        """
        longest = (2**32 - 1) / 1000  # what the ABI's 32 bits hold
        self._core = _core.Client(
            _options.text("url", url),
            username=_options.text("username", username),
            password=_options.text("password", password),
            key_prefix=_options.text("key_prefix", key_prefix),
            client_name=_options.text("client_name", client_name),
            connect_timeout_ms=_options.positive("connect_timeout", connect_timeout, high=longest),
            reply_timeout_ms=_options.positive("reply_timeout", reply_timeout, high=longest),
            max_waiters=_options.count("max_waiters", max_waiters, low=0),
            default_ttl_ms=_options.optional_ttl("default_ttl", default_ttl),
            renew_every_ms=_options.positive("renew_every", renew_every),
            fence_retention_ms=_options.positive("fence_retention", fence_retention),
            renew_batch=_options.count("renew_batch", renew_batch, high=1000),
            handover_max=_options.count("handover_max", handover_max, high=1000),
            handover_ms=_options.positive("handover", handover, high=longest),
            spin_min_ms=_options.positive("spin_min", spin_min, high=longest),
            spin_max_ms=_options.positive("spin_max", spin_max, high=longest),
            log_fd=_options.count("log_fd", log_fd),
        )
        _open_clients.add(self._core)
        self._start()

    def _start(self) -> None:
        """Adds what a face needs besides."""

    def lock(
        self,
        key: Key,
        *,
        ttl: float | None = None,
        renew: bool | None = None,
        timeout: float | None = None,
        fair: bool = False,
        owner: int | None = None,
        max_hold: float | None = None,
        spin: bool = False,
        max_tries: int | None = None,
        fenced: bool = True,
        permissive: bool = False,
    ) -> LockT:
        """Describes a lock; sends nothing. What it returns may be acquired again and again.

        Args:
            key: A str (sent as UTF-8) or bytes; 1 to 4096 bytes with the prefix.
            ttl: Seconds until the lease ends without renewal, 0.01 to a year. None: the client's
                default_ttl.
            renew: Renew in the background while it is held. None: yes, unless a ttl is given.
            timeout: Seconds to wait for the lock. None: for ever. 0: one try.
            fair: First come, first served over all clients.
            owner: Makes it re-entrant: another lock object of this client with the same owner, 1 to
                2**64 - 1, is granted while this one is held. None: not re-entrant.
            max_hold: Renewal stops so many seconds after the grant. None: no bound.
            spin: Wait by asking again and again, for servers without pub/sub.
            max_tries: With spin, stop after so many. None: only the timeout ends it.
            fenced: Each grant has a fencing token. False: it is 0, and acquiring is cheaper.
            permissive: Leaving a `with` after a loss raises nothing.

        Raises:
            Invalid: An argument is wrong; the message names it.
        """
        request = _core.Request(
            _options.key(key),
            ttl_ms=_options.optional_ttl("ttl", ttl),
            renew=None if renew is None else _options.flag("renew", renew),
            fair=_options.flag("fair", fair),
            owner=_options.count("owner", owner, high=2**64 - 1),
            max_hold_ms=_options.positive("max_hold", max_hold),
            spin=_options.flag("spin", spin),
            max_tries=_options.count("max_tries", max_tries),
            fenced=_options.flag("fenced", fenced),
            permissive=_options.flag("permissive", permissive),
        )
        return self._make_lock(request, _options.wait(timeout), permissive)

    @abstractmethod
    def _make_lock(self, request: _core.Request, wait_ms: int, permissive: bool) -> LockT:
        """The face's own lock."""

    def __repr__(self) -> str:
        state = "closed" if self._core.closed else "open"
        return f"<{type(self).__module__}.Client {state}>"


class BaseHeld:
    """What is known of one grant. Attributes may be read from any thread, without any traffic."""

    __slots__ = ("_grant",)

    def __init__(self, grant: _core.Grant) -> None:
        self._grant = grant

    @property
    def key(self) -> bytes:
        """The key, without the client's prefix."""
        return self._grant.key

    @property
    def token(self) -> int:
        """The fencing token: larger for every later grant of this key; 0 without fencing."""
        return self._grant.token

    @property
    def owner(self) -> str:
        """The value at the key while it is held."""
        return self._grant.owner

    @property
    def remaining(self) -> float:
        """Seconds for which the lease is proven to last; 0 when it is not held any more."""
        return self._grant.remaining_ms / 1000

    def __repr__(self) -> str:
        grant = self._grant
        state = "lost" if grant.is_lost else "released" if grant.is_ended else "held"
        return f"<lockc held lock {grant.key!r} {state} token={grant.token}>"


class BaseLostEvent:
    """Whether and why a lease was lost."""

    __slots__ = ("_grant",)

    def __init__(self, grant: _core.Grant) -> None:
        self._grant = grant

    def is_set(self) -> bool:
        """Tells whether the lease was lost; not set by a release."""
        return self._grant.is_lost

    @property
    def reason(self) -> str | None:
        """Why: "expired", "taken", "limit" (max_hold), "closed" or "forked"; None if not lost."""
        if not self._grant.is_lost:
            return None
        return _REASONS.get(self._grant.lost_reason, "expired")


def wait_ms(blocking: bool, timeout: float | Unset | None, default: int) -> int:
    """Combines the arguments of acquire() with the lock's own wait."""
    if not _options.flag("blocking", blocking):
        if timeout is not UNSET:
            raise Invalid("timeout has no meaning without blocking")
        return 0
    return default if timeout is UNSET else _options.wait(timeout)


def loss_of(grant: _core.Grant) -> Lost:
    """Makes the exception that tells of a lost grant."""
    reason = BaseLostEvent(grant).reason
    detail = "" if reason is None else f" ({reason})"
    return Lost(f"the lock was lost while it was held{detail}: {grant.key!r}", grant.key)


def leave(body: BaseException | None, error: Error | None) -> None:
    """Tells of an error that the end of a `with` has met.

    Raises it after a normal body. An exception of the body wins; then the error stands at the end
    of its chain of contexts, so that a traceback shows both.
    """
    if error is None:
        return
    if body is None:
        raise error
    seen = {id(error)}
    while body.__context__ is not None and id(body) not in seen:
        seen.add(id(body))
        body = body.__context__
    if id(body) not in seen:
        body.__context__ = error
