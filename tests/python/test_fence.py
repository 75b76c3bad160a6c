"""Fences and records: which writers they refuse, how that is told, and what comes back."""

from __future__ import annotations

import math
import threading
from typing import Any

import lockc
import pytest
from redis_server import RedisServer
from resp import Connection

NOWHERE = "redis://127.0.0.1:1"  # whatever is sent there raises Unreachable, not Invalid
END = 2**53

BAD_WRITES: list[tuple[dict[str, Any], str]] = [
    *[({"value": bad}, "value") for bad in ("text", None, 5, bytearray(b"v"))],
    *[({"token": bad}, "token") for bad in (0, -1, END, True, "1", 1.0)],
    *[({"version": bad}, "version") for bad in (-1, END, True, "1", 1.0)],
    *[({"ttl": bad}, "ttl") for bad in (0, -1, 0.009, math.nan, True, "1", 1e9)],
    ({"key": "lockc:mine"}, "key"),
    ({"key": ""}, "key"),
    ({"value": b"x" * (8 * 2**20 + 1)}, "8388608"),
]


def test_fence_lets_no_smaller_token_pass() -> None:
    fence = lockc.Fence()
    assert fence.token == 0
    fence.check(41)
    fence.check(43)
    with pytest.raises(lockc.Stale) as error:
        fence.check(42)
    assert error.value.status == lockc.Status.STALE
    assert error.value.key is None
    fence.check(43)
    assert fence.token == 43
    assert repr(fence) == "<lockc.Fence token=43>"


@pytest.mark.parametrize("token", [0, -1, 2**64, None, True, "1", 1.0], ids=repr)
def test_fence_takes_nothing_but_tokens(token: Any) -> None:  # noqa: ANN401 - of any type
    fence = lockc.Fence()
    with pytest.raises(lockc.Invalid):
        fence.check(token)
    assert fence.token == 0


def test_fence_lets_one_largest_token_win_over_all_threads() -> None:
    fence = lockc.Fence()

    def bring(first: int) -> None:
        for token in range(first, 2000, 4):
            try:
                fence.check(token)
            except lockc.Stale:
                assert fence.token > token

    threads = [threading.Thread(target=bring, args=(first,)) for first in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert fence.token == 1999


def test_what_was_written_is_read(client: lockc.Client, key: str) -> None:
    assert client.read(key) == lockc.Record(value=b"", version=0, token=0)
    version = client.write(key, b"\0\xff", token=42)
    assert client.read(key) == lockc.Record(b"\0\xff", version, 42)
    assert client.write(key, b"") > version
    assert client.read(key).value == b""


def test_smaller_token_is_stale(client: lockc.Client, key: str) -> None:
    client.write(key, b"new", token=42)
    with pytest.raises(lockc.Stale, match="a larger token came before") as error:
        client.write(key, b"late", token=41)
    assert error.value.key == key.encode()
    assert client.read(key).value == b"new"


def test_other_version_is_a_conflict(client: lockc.Client, key: str) -> None:
    first = client.write(key, b"first", version=0)
    client.write(key, b"second", version=first)
    for version in (first, 0):
        with pytest.raises(lockc.Conflict) as error:
            client.write(key, b"third", version=version)
        assert error.value.status == lockc.Status.CONFLICT
        assert error.value.key == key.encode()
    assert client.read(key).value == b"second"


def test_expiry_is_set_only_when_asked(client: lockc.Client, key: str, raw: Connection) -> None:
    client.write(key, b"v")
    assert raw.call("PTTL", key) == -1
    client.write(key, b"v", ttl=60)
    assert 50_000 < raw.call("PTTL", key) <= 60_000


@pytest.mark.parametrize(("bad", "name"), BAD_WRITES, ids=lambda case: str(case)[:40])
def test_bad_argument_of_a_write_is_named(bad: dict[str, Any], name: str) -> None:
    with lockc.Client(NOWHERE) as client, pytest.raises(lockc.Invalid, match=name):
        client.write(**{"key": "key", "value": b"v", **bad})


def test_token_of_an_unfenced_lock_is_refused(client: lockc.Client, key: str) -> None:
    with client.lock(key, fenced=False) as held, pytest.raises(lockc.Invalid):
        client.write(f"{key}:data", b"v", token=held.token)


def test_lock_is_no_record(client: lockc.Client, key: str) -> None:
    with client.lock(key), pytest.raises(lockc.WrongType):
        client.read(key)


def test_closed_client_neither_reads_nor_writes(server: RedisServer) -> None:
    client = lockc.Client(server.url)
    client.close()
    with pytest.raises(lockc.Closed):
        client.read("key")
    with pytest.raises(lockc.Closed):
        client.write("key", b"v")


def test_write_without_an_answer_is_uncertain(own_server: RedisServer) -> None:
    with lockc.Client(own_server.url, reply_timeout=0.5) as client:
        client.connect(timeout=20)
        own_server.suspend()
        with pytest.raises(lockc.Uncertain) as error:
            client.write("key", b"v")
        own_server.resume()
    assert error.value.key == b"key"


async def test_asyncio_reads_and_writes(aio_client: lockc.aio.Client, key: str) -> None:
    version = await aio_client.write(key, b"v", token=42, version=0, ttl=60)
    assert await aio_client.read(key) == lockc.Record(b"v", version, 42)
    with pytest.raises(lockc.Stale):
        await aio_client.write(key, b"late", token=41)
    with pytest.raises(lockc.Conflict):
        await aio_client.write(key, b"late", version=1)
    with pytest.raises(lockc.Invalid, match="value"):
        await aio_client.write(key, "text")  # type: ignore[arg-type]


def test_holder_that_paused_past_its_lease_cannot_write_behind_the_next(
    client: lockc.Client, key: str
) -> None:
    fence, data = lockc.Fence(), f"{key}:data"
    lock = client.lock(key, ttl=1, permissive=True)
    with lock as paused:
        assert paused.lost.wait(timeout=20)  # it sleeps, and does not look
        with client.lock(key) as following:
            fence.check(following.token)
            client.write(data, b"by the next", token=following.token)
        with pytest.raises(lockc.Stale):
            fence.check(paused.token)
        with pytest.raises(lockc.Stale):
            client.write(data, b"late", token=paused.token)
    assert client.read(data).value == b"by the next"
