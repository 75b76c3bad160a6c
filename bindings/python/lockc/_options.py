"""Checks the arguments of the public functions and turns them into the units of the C ABI."""

from __future__ import annotations

import math
from enum import Enum
from typing import Final, Literal, Union

from .errors import Invalid

_YEAR: Final = 365 * 24 * 3600.0
_FOREVER: Final = -1
_LONGEST_MS: Final = 2**53


class _Unset(Enum):
    UNSET = "left out"


UNSET: Final = _Unset.UNSET
"""Stands for an argument that was left out where None has a meaning of its own."""

Unset = Literal[_Unset.UNSET]
Key = Union[str, bytes]


def milliseconds(
    name: str, seconds: float, *, low: float = 0.0, high: float = _LONGEST_MS / 1000
) -> int:
    """Converts seconds, rounding up to whole milliseconds.

    Args:
        name: The argument's name, for the message.
        seconds: An int or a float.
        low: The smallest value allowed, in seconds.
        high: The largest one.

    Raises:
        Invalid: It is of another type, not a number, or out of range.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise Invalid(f"{name} must be a number of seconds, not {type(seconds).__name__}")
    if not low <= seconds <= high:  # also refuses NaN
        raise Invalid(f"{name} must be {low:g} to {high:.0f} seconds, not {seconds!r}")
    # 1.1 s are 1100.0000000000002 ms: what a float can't say exactly is not rounded up.
    return math.ceil(seconds * 1000 - 1e-6)


def positive(name: str, seconds: float | None, *, high: float = _LONGEST_MS / 1000) -> int:
    """Converts a duration of at least a millisecond; None becomes 0, the ABI's default."""
    return 0 if seconds is None else milliseconds(name, seconds, low=0.001, high=high)


def ttl(name: str, seconds: float) -> int:
    """Converts the duration of a lease: 0.01 seconds to one year."""
    return milliseconds(name, seconds, low=0.01, high=_YEAR)


def optional_ttl(name: str, seconds: float | None) -> int:
    """Converts the duration of a lease; None becomes 0, the ABI's default."""
    return 0 if seconds is None else ttl(name, seconds)


def wait(seconds: float | None) -> int:
    """Converts a timeout, where None waits for ever and 0 is one try."""
    return _FOREVER if seconds is None else milliseconds("timeout", seconds)


def count(name: str, value: int | None, *, low: int = 1, high: int = 2**31 - 1) -> int:
    """Checks a whole number; None becomes 0, the ABI's default.

    Raises:
        Invalid: It is of another type or out of range.
    """
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int):
        raise Invalid(f"{name} must be a whole number, not {type(value).__name__}")
    if not low <= value <= high:
        raise Invalid(f"{name} must be {low} to {high}, not {value}")
    return value


def flag(name: str, value: bool) -> bool:
    """Checks a switch: nothing but True and False, since a forgotten quote would switch it on.

    Raises:
        Invalid: It is of another type.
    """
    if not isinstance(value, bool):
        raise Invalid(f"{name} must be True or False, not {type(value).__name__}")
    return value


def text(name: str, value: str | None) -> str | None:
    """Checks a text, whose content no message may show: it can be a password.

    Raises:
        Invalid: It is of another type, or has a character that the C ABI cannot take.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise Invalid(f"{name} must be a str, not {type(value).__name__}")
    try:
        encoded = value.encode()
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise Invalid(f"{name} has a character that cannot be sent")
    return value


def value(given: bytes) -> bytes:
    """Checks the value of a record: bytes, since nothing but bytes comes back.

    Raises:
        Invalid: It is of another type.
    """
    if not isinstance(given, bytes):
        raise Invalid(f"value must be bytes, not {type(given).__name__}")
    return given


def key(value: Key) -> bytes:
    """Converts a key: a str becomes UTF-8, bytes stay as they are.

    Raises:
        Invalid: It is of another type, empty, or has lone surrogates.
    """
    if isinstance(value, str):
        try:
            value = value.encode()
        except UnicodeEncodeError:
            raise Invalid("key cannot be encoded as UTF-8") from None
    elif not isinstance(value, bytes):
        raise Invalid(f"key must be a str or bytes, not {type(value).__name__}")
    if not value:
        raise Invalid("key must not be empty")
    return value
