"""Bad input: refused with a clear message, before anything is sent."""

from __future__ import annotations

import math
from typing import Any

import lockc
import pytest

NOWHERE = "redis://127.0.0.1:1"  # whatever is sent there raises Unreachable, not Invalid

LOCK_OPTIONS: list[tuple[dict[str, Any], str]] = [
    *[({"ttl": bad}, "ttl") for bad in (0, -1, 0.009, math.nan, math.inf, True, "1", 1e9, b"1")],
    *[({"timeout": bad}, "timeout") for bad in (-1, -0.001, math.nan, math.inf, True, "1", 2**53)],
    *[({"max_hold": bad}, "max_hold") for bad in (0, -1, math.nan, False, "1")],
    *[({"owner": bad}, "owner") for bad in (0, -1, 2**64, True, "me", 1.0)],
    *[({"max_tries": bad}, "max_tries") for bad in (0, -1, 2**31, 1.5, True)],
    *[
        ({name: bad}, name)
        for name in ("renew", "fair", "spin", "fenced", "permissive")
        for bad in (1, "no")
    ],
]

CLIENT_OPTIONS: list[tuple[dict[str, Any], str]] = [
    *[
        ({name: bad}, name)
        for name in (
            "connect_timeout", "reply_timeout", "default_ttl", "renew_every", "fence_retention",
            "handover", "spin_min", "spin_max",
        )
        for bad in (0, -1, math.nan, True, "1")
    ],
    *[({name: bad}, name) for name in ("renew_batch", "handover_max") for bad in (0, 1001, True)],
    *[({"max_waiters": bad}, "max_waiters") for bad in (-1, True, 1.5)],
    *[({"log_fd": bad}, "log_fd") for bad in (0, -1, True)],
    *[({name: 1}, name) for name in ("username", "password", "key_prefix", "client_name")],
    ({"key_prefix": "a\0b"}, "key_prefix"),
    ({"connect_timeout": 2**32}, "connect_timeout"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "name"), LOCK_OPTIONS, ids=str)
def test_bad_lock_option_is_named(options: dict[str, Any], name: str) -> None:
    with lockc.Client(NOWHERE) as client, pytest.raises(lockc.Invalid, match=name) as error:
        client.lock("key", **options).acquire()
    assert error.value.status == lockc.Status.E_INVALID
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize(("options", "name"), CLIENT_OPTIONS, ids=str)
def test_bad_client_option_is_named(options: dict[str, Any], name: str) -> None:
    with pytest.raises(lockc.Invalid, match=name):
        lockc.Client(NOWHERE, **options)
    with pytest.raises(lockc.Invalid, match=name):
        lockc.aio.Client(NOWHERE, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"connect_timeout": 100_000}, "connect_timeout is 100000000 ms"),
        ({"reply_timeout": 100_000}, "reply_timeout is 100000000 ms"),
        ({"renew_every": 20}, "renew_every is 20000 ms"),
        ({"fence_retention": 0.5}, "fence_retention is 500 ms"),
        ({"handover": 100_000}, "handover is 100000000 ms"),
        ({"spin_min": 2, "spin_max": 1}, "spin_max is 1000 ms"),
        ({"spin_min": 100_000}, "spin_min is 100000000 ms"),
    ],
    ids=str,
)
def test_what_the_library_refuses_is_named_as_in_python(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(lockc.Invalid, match=f"^{message}"):
        lockc.Client(NOWHERE, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"spin": True, "fair": True}, "spin keeps no order"),
        ({"max_tries": 2}, "max_tries is for spin only"),
    ],
    ids=str,
)
async def test_what_does_not_go_together_is_named_as_in_python(
    options: dict[str, Any], message: str
) -> None:
    with lockc.Client(NOWHERE) as client, pytest.raises(lockc.Invalid, match=f"^{message}"):
        client.lock("key", **options).acquire()
    async with lockc.aio.Client(NOWHERE) as aio_client:
        with pytest.raises(lockc.Invalid, match=f"^{message}"):
            await aio_client.lock("key", **options).acquire()


@pytest.mark.parametrize(
    "key", ["", b"", None, 5, bytearray(b"k"), "\ud800", "lockc:mine", b"x" * 4097], ids=repr
)
def test_bad_key_is_refused(key: Any) -> None:  # noqa: ANN401 - of any type
    with lockc.Client(NOWHERE) as client, pytest.raises(lockc.Invalid, match="key"):
        client.lock(key).acquire()


@pytest.mark.parametrize(
    "url", ["nonsense", "http://h", "redis://h:port", "redis://h:0", 7, "a\0b"]
)
def test_bad_url_is_refused(url: Any) -> None:  # noqa: ANN401 - of any type
    with pytest.raises(lockc.Invalid):
        lockc.Client(url)


def test_no_message_shows_a_password() -> None:
    for url in ("redis://me:s3cret@host:port", "http://me:s3cret@host", "redis://me:s3cret@host/x"):
        with pytest.raises(lockc.Error) as error:
            lockc.Client(url)
        assert "s3cret" not in str(error.value)
    with lockc.Client("redis://me:s3cret@127.0.0.1:1") as client:
        assert "s3cret" not in repr(client)
        with pytest.raises(lockc.Unreachable) as unreachable:
            client.lock("key", timeout=0).acquire()
        assert "s3cret" not in str(unreachable.value)


def test_tls_is_not_supported_yet() -> None:
    with pytest.raises(lockc.Unsupported):
        lockc.Client("rediss://localhost")


def test_unknown_option_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="no_such"):
        lockc.Client(no_such=1)  # type: ignore[call-arg]
    with lockc.Client(NOWHERE) as client, pytest.raises(TypeError, match="no_such"):
        client.lock("key", no_such=1)  # type: ignore[call-arg]


def test_arguments_of_methods_are_checked(client: lockc.Client, key: str) -> None:
    lock = client.lock(key)
    for bad in (-1, math.nan, True, "1"):
        with pytest.raises(lockc.Invalid, match="timeout"):
            lock.acquire(timeout=bad)  # type: ignore[arg-type]
    with pytest.raises(lockc.Invalid, match="timeout"):
        lock.acquire(blocking=False, timeout=1)
    with pytest.raises(lockc.Invalid, match="blocking"):
        lock.acquire(blocking=0)  # type: ignore[arg-type]
    with lock as held:
        for bad in (None, 0, -1, math.nan, True, "1"):
            with pytest.raises(lockc.Invalid, match="ttl"):
                held.extend(bad)  # type: ignore[arg-type]
        with pytest.raises(lockc.Invalid, match="timeout"):
            held.lost.wait(-1)
    with pytest.raises(lockc.Invalid, match="timeout"):
        client.connect(timeout=-1)


def test_whole_and_broken_seconds_are_taken(client: lockc.Client, key: str) -> None:
    for ttl in (0.01, 1, 1.5, 365 * 24 * 3600):
        with client.lock(key, ttl=ttl, timeout=0.5, permissive=True) as held:
            assert held.remaining <= ttl
