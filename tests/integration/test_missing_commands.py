"""Servers on which a command was renamed away, or is denied to this user: lockc does without it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from lockc_abi import Client, OpenClient, Queue, Refused
from redis_server import RedisServer
from timing import within

TTL_MS = 900
USER = ("ACL", "SETUSER", "limited", "reset", "on", ">secret", "~*", "&*", "+@all")


@contextmanager
def renamed(command: str) -> Iterator[str]:
    """The URL of a server that doesn't know the command any more."""
    with RedisServer({"rename_command": f"{command} hidden"}) as server:
        yield server.url


@contextmanager
def denied(command: str) -> Iterator[str]:
    """The URL of a server for a user who may not run the command."""
    with RedisServer() as server, server.connect() as raw:
        raw.call(*USER, f"-{command}")
        yield server.url.replace("//", "//limited:secret@")


WITHOUT = {"renamed": renamed, "denied": denied}


def assert_held_handed_over_and_released(holder: Client, waiter: Client) -> None:
    lock = holder.acquire("key")
    with Queue(waiter) as queue:
        queue.acquire(1, "key", wait_ms=-1)
        assert within(2.0, lambda: lock.remaining_ms < TTL_MS * 3 // 4)
        assert within(2.0, lambda: lock.remaining_ms > TTL_MS * 3 // 4), "not renewed"
        lock.extend(2 * TTL_MS)
        assert '"state":"held"' in holder.inspect("key")
        with pytest.raises(Refused) as refused:
            waiter.acquire("key")
        assert refused.value.status == "BUSY"
        lock.release()
        completion = queue.poll(5000)
    assert completion is not None, "no grant in time"
    assert completion.lock is not None, completion.status
    assert completion.lock.token > lock.token
    completion.lock.release()
    assert '"state":"free"' in holder.inspect("key")


@pytest.mark.parametrize(
    ("how", "command"),
    [
        ("renamed", "HELLO"),
        ("renamed", "CONFIG"),
        ("renamed", "CLIENT"),
        ("renamed", "INFO"),
        ("renamed", "SUBSCRIBE"),
        ("renamed", "PUBSUB"),
        ("renamed", "PUBLISH"),
        ("renamed", "SCRIPT"),
        ("renamed", "EVALSHA"),
        ("denied", "CLIENT"),
        ("denied", "INFO"),
        ("denied", "SUBSCRIBE"),
        ("denied", "EVALSHA"),
    ],
)
def test_locks_work_without(how: str, command: str, open_client: OpenClient) -> None:
    with WITHOUT[how](command) as url:
        holder, waiter = open_client(url, default_ttl_ms=TTL_MS), open_client(url)
        for client in (holder, waiter):
            client.connect()
            client.acquire("warm-up").release()  # from now on by the scripts' digests
        assert_held_handed_over_and_released(holder, waiter)


@pytest.mark.parametrize(
    ("how", "status"), [("renamed", "E_UNSUPPORTED"), ("denied", "E_DENIED")], ids=WITHOUT
)
def test_without_eval_every_call_says_so_at_once(
    how: str, status: str, open_client: OpenClient
) -> None:
    with WITHOUT[how]("EVAL") as url:
        client = open_client(url)
        for wait_ms in (0, 5000, -1):
            with pytest.raises(Refused) as refused:
                client.acquire("key", wait_ms=wait_ms)
            assert refused.value.status == status
            assert "eval" in refused.value.message.lower()
