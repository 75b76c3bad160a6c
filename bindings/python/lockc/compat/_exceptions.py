"""Stands in for redis.exceptions where redis-py is not installed: the same names and bases."""

from __future__ import annotations


class RedisError(Exception):
    """The base of the exceptions here."""


class ConnectionError(RedisError):
    """There was no connection to the server."""


class TimeoutError(RedisError):
    """The server did not answer in time."""


class AuthenticationError(ConnectionError):
    """Password or access rights do not suffice."""


class BusyLoadingError(ConnectionError):
    """The server is starting."""


class ResponseError(RedisError):
    """The server answered with an error."""


class ReadOnlyError(ResponseError):
    """The server is a replica."""


class OutOfMemoryError(ResponseError):
    """The server is at its memory limit."""


class LockError(RedisError, ValueError):
    """The lock could not be acquired, or there is nothing to release or extend."""


class LockNotOwnedError(LockError):
    """The lock was lost: its lease ended, or another owner has the key."""
