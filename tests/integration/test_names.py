"""Names of keys and of owners: used as they are, never repeated, remembered no longer than said."""

from __future__ import annotations

import base64
import os
import re

import pytest
from lockc_abi import Client, OpenClient
from proxy import Link, Proxy
from redis_server import RedisServer
from resp import Connection
from scale import scaled
from timing import within

NAMES = scaled(500, 100_000)
RETENTION_MS = 1000


@pytest.mark.parametrize(
    "name",
    [
        "a\r\nDEL b\r\n",
        "'quoted' \"twice\"",
        "%s%n%d%%",
        "]] .. redis.call('FLUSHALL') --[[",
        "\0 and \\0",
        "{}",
        "}{",
        "*",
        "key with spaces\tand tabs",
        "schlüssel",
    ],
)
def test_name_that_means_something_elsewhere_is_used_as_it_is(
    name: str, past: Client, raw: Connection
) -> None:
    raw.call("SET", "bystander", "untouched")
    lock = past.acquire(name)
    assert raw.call("GET", name) == lock.owner
    fence = [key for key in raw.call("KEYS", "lockc:*") if key.endswith(b":" + name.encode())]
    assert set(raw.call("KEYS", "*")) == {b"bystander", name.encode(), *fence}
    assert len(fence) == 1
    lock.release()
    assert raw.call("EXISTS", name) == 0
    assert raw.call("GET", "bystander") == b"untouched"


def test_names_with_braces_are_locks_of_their_own(past: Client, raw: Connection) -> None:
    names = ["{}", "a{", "}{", "{a}b", "{a}{b}", "a{}b", "{a}", "a", "b"]
    locks = {name: past.acquire(name) for name in names}
    assert {name: raw.call("GET", name) for name in names} == {
        name: lock.owner for name, lock in locks.items()
    }
    assert len(raw.call("KEYS", "lockc:*:fence:*")) == len(names)
    while locks:
        _, lock = locks.popitem()
        lock.release()
        assert [name for name in names if raw.call("EXISTS", name)] == list(locks)
        assert all(lock.remaining_ms > 0 for lock in locks.values())


def cached_scripts(raw: Connection) -> bytes:
    found = re.search(rb"number_of_cached_scripts:(\d+)", raw.call("INFO", "memory"))
    assert found is not None
    return found[1]


def test_names_used_once_leave_no_script_and_no_fence_behind_its_retention(
    server: RedisServer, raw: Connection, open_client: OpenClient
) -> None:
    client = open_client(server.url, fence_retention_ms=RETENTION_MS, default_ttl_ms=400)
    client.acquire("warm-up").release()
    scripts = cached_scripts(raw)
    owners = set()
    for number in range(NAMES):
        lock = client.acquire(f"name:{number}")
        owners.add(lock.owner)
        lock.release()
    last = f"lockc:{{name:{NAMES - 1}}}:fence:name:{NAMES - 1}"
    assert 0 < raw.call("PTTL", last) <= RETENTION_MS * 5 / 4  # a quarter more, now and then
    assert len(owners) == NAMES
    assert cached_scripts(raw) == scripts
    assert within(5.0, lambda: raw.call("DBSIZE") == 0)


def test_token_is_larger_though_the_fence_was_deleted(past: Client, raw: Connection) -> None:
    tokens = []
    for _ in range(5):
        lock = past.acquire("key")
        tokens.append(lock.token)
        lock.release()
        assert raw.call("DEL", "lockc:{key}:fence:key") == 1
    assert tokens == sorted(set(tokens))


def test_owner_has_128_random_bits_for_each_client(server: RedisServer) -> None:
    clients = set()
    for number in range(scaled(20, 500)):
        with Client(server.url) as client:
            lock = client.acquire(f"key:{number}")
            clients.add(lock.owner.split(b":")[1])
            lock.release()
    assert len(clients) == scaled(20, 500)
    assert all(len(base64.urlsafe_b64decode(client + b"==")) == 16 for client in clients)


def test_warnings_hold_no_owner_value(proxy: Proxy, open_client: OpenClient) -> None:
    read, write = os.pipe()
    client = open_client(proxy.url, log_fd=write)
    lock = client.acquire("key")
    owner = lock.owner
    for _ in range(3):
        proxy.once(b"EVAL", Link.cut)
        client.acquire("other", wait_ms=5000).release()
    lock.release()
    client.close()
    os.close(write)
    with os.fdopen(read) as log:
        text = log.read()
    assert "127.0.0.1" in text, "nothing was warned of"
    assert owner.split(b":")[1].decode() not in text
