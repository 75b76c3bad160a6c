"""Finds the lockc client for what a lock is made with, so that many locks share one."""

from __future__ import annotations

from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar
from urllib.parse import quote

from .._base import BaseClient
from ..errors import Invalid, Unsupported

ClientT = TypeVar("ClientT", bound="BaseClient[Any]")


class _Pool(Protocol):
    """What is read of a connection pool of redis-py."""

    connection_class: type
    connection_kwargs: dict[str, Any]


class _Place(NamedTuple):
    """Where a client connects to, and as whom."""

    url: str
    username: str | None = None
    password: str | None = None
    client_name: str | None = None


class Clients(Generic[ClientT]):
    """One client for each place, shared by all pools and locks that lead there.

    They are kept for good: a program knows few places, but may make a redis-py client for each
    request, which must not cost new connections of lockc each time.
    """

    def __init__(self, kind: type[ClientT], *, asynchronous: bool) -> None:
        self._kind: Final = kind
        self._asynchronous: Final = asynchronous
        self._known: Final[dict[_Place, ClientT]] = {}

    def find(self, source: object) -> ClientT:
        """Returns the client of a URL or a redis-py client; a lockc client is its own.

        Raises:
            Invalid: It is something else, or has connection parameters that cannot be.
            Unsupported: lockc cannot connect in that way.
        """
        if isinstance(source, self._kind):
            return source
        place = _Place(source) if isinstance(source, str) else self._place(source)
        client = self._known.get(place)
        if client is None:
            # Of two threads that come here at once, the later one drops its own, which sent nothing
            # yet. A mutex would stay locked in a child that is forked meanwhile.
            client = self._known.setdefault(place, self._kind(**place._asdict()))
        return client

    def _place(self, source: object) -> _Place:
        pool: _Pool | None = getattr(source, "connection_pool", None)
        if pool is None:
            raise Invalid(
                f"redis must be a URL, a {self._kind.__module__}.{self._kind.__name__} or a "
                f"redis-py client of one server, not {type(source).__name__}"
            )
        kind, parameters = pool.connection_class, pool.connection_kwargs
        if ("asyncio" in kind.__module__.split(".")) != self._asynchronous:
            wanted = "redis.asyncio" if self._asynchronous else "redis"
            raise Invalid(f"redis must be a client of the package {wanted}")
        if parameters.get("credential_provider") is not None:
            raise Unsupported("a credential provider cannot be used; give username and password")
        return _Place(
            _url(kind.__name__, parameters),
            parameters.get("username"),
            parameters.get("password"),
            parameters.get("client_name"),
        )


def _url(kind: str, parameters: dict[str, Any]) -> str:
    """Says where a connection of redis-py leads, without its password.

    Only its plain kinds are known to lead there: those of Sentinel find another server, and those
    of test doubles none.
    """
    database = int(parameters.get("db") or 0)
    if kind == "UnixDomainSocketConnection":
        return f"unix://{quote(str(parameters.get('path', '')))}?db={database}"
    if kind == "SSLConnection":
        raise Unsupported("redis-py's TLS connections cannot be used: lockc has no TLS yet")
    if kind != "Connection":
        raise Unsupported(f"redis-py's connections of class {kind} cannot be used")
    host = parameters.get("host", "localhost")
    if ":" in host:
        host = f"[{host}]"
    return f"redis://{host}:{parameters.get('port', 6379)}/{database}"
