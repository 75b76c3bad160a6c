"""The resource's side of fencing: what refuses a holder that comes too late.

    fence = lockc.Fence()

    def save(text, token):
        with guard:  # checking and writing are one step
            fence.check(token)
            path.write_text(text)

For data on a Redis or Valkey server, `client.read()` and `client.write()` do the same in one step
there.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypedDict

from . import _core, _options

_LARGEST: Final = 2**53 - 1  # of a number that a record keeps


class Record(NamedTuple):
    """What Client.read() found at a key."""

    value: bytes
    version: int
    """0: there is no record."""
    token: int
    """The largest that wrote it; 0: none did."""


class Fence:
    """The largest token that a resource of this process has seen. May be used from any thread.

    Tokens of different keys don't compare: make a fence for each resource, and write to it under
    locks of one key.
    """

    __slots__ = ("_fence",)

    def __init__(self) -> None:
        """Makes a fence that has seen no token yet."""
        self._fence = _core.Fence()

    def check(self, token: int) -> None:
        """Lets a token pass and remembers it.

        Args:
            token: `held.token` of whoever wants to write.

        Raises:
            Stale: It is smaller than one that came before.
            Invalid: It is not 1 to 2**64 - 1; 0 is the token of an unfenced lock.
        """
        self._fence.check(_options.count("token", token, high=2**64 - 1))

    @property
    def token(self) -> int:
        """The largest token so far; 0: none."""
        return self._fence.token

    def __repr__(self) -> str:
        return f"<lockc.Fence token={self.token}>"


class WriteTerms(TypedDict):
    """What a write asks for, in the units of the C ABI."""

    token: int
    version: int | None
    ttl_ms: int


def write_terms(token: int | None, version: int | None, ttl: float | None) -> WriteTerms:
    """Checks the arguments of Client.write()."""
    return {
        "token": _options.count("token", token, high=_LARGEST),
        "version": None
        if version is None
        else _options.count("version", version, low=0, high=_LARGEST),
        "ttl_ms": _options.optional_ttl("ttl", ttl),
    }
