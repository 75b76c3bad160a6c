"""What a lock in redis-py's shape connects to, by the parameters of a redis-py client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lockc
import pytest
from lockc.compat import errors
from lockc.compat.redis_lock import Lock
from redis_server import RedisServer
from resp import Connection as Raw


class Connection:
    """Stands for redis-py's connection class of this name; so do the others."""


class UnixDomainSocketConnection(Connection):
    pass


class SSLConnection(Connection):
    pass


class SentinelManagedConnection(Connection):
    pass


class Pool:
    def __init__(self, connection_class: type = Connection, **parameters: object) -> None:
        self.connection_class = connection_class
        self.connection_kwargs = parameters


class RedisClient:
    """What is read of a redis-py client."""

    def __init__(self, connection_class: type = Connection, **parameters: object) -> None:
        self.connection_pool = Pool(connection_class, **parameters)


def connections(raw: Raw, name: str) -> int:
    return raw.call("CLIENT", "LIST").decode().count(f":{name} ")


def test_lock_connects_to_host_port_and_database_of_a_redis_client(
    server: RedisServer, key: str, raw: Raw
) -> None:
    with Lock(RedisClient(host="127.0.0.1", port=server.port, db=3), key):
        assert raw.call("EXISTS", key) == 0
        raw.call("SELECT", 3)
        assert raw.call("EXISTS", key) == 1


def test_lock_connects_to_the_unix_socket_of_a_redis_client(
    server: RedisServer, key: str, raw: Raw
) -> None:
    with Lock(RedisClient(UnixDomainSocketConnection, path=server.socket_path, db="2"), key):
        raw.call("SELECT", 2)
        assert raw.call("EXISTS", key) == 1


def test_lock_logs_in_as_a_redis_client_does(own_server: RedisServer, key: str) -> None:
    with own_server.connect() as raw:
        raw.call("ACL", "SETUSER", "worker", "on", ">a/b@c:d%", "~*", "&*", "+@all")
    told = {"host": "127.0.0.1", "port": own_server.port, "username": "worker"}
    with Lock(RedisClient(password="a/b@c:d%", **told), key) as lock:
        assert lock.owned()
    with pytest.raises(errors.AuthenticationError) as refused:
        Lock(RedisClient(password="hunter2", **told), key).acquire()
    assert "hunter2" not in str(refused.value)


def test_lock_uses_a_lockc_client_as_it_is(server: RedisServer, key: str, raw: Raw) -> None:
    with lockc.Client(server.url, key_prefix="app:") as client, Lock(client, key) as lock:
        assert raw.call("GET", f"app:{key}") == lock.local.token


@pytest.mark.parametrize("convert", [str.encode, lambda name: memoryview(name.encode())])
def test_name_may_be_bytes(
    server: RedisServer, key: str, raw: Raw, convert: Callable[[str], Any]
) -> None:
    with Lock(server.url, convert(key)):
        assert raw.call("EXISTS", key) == 1


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (SSLConnection, {}),
        (SentinelManagedConnection, {}),
        (Connection, {"credential_provider": object()}),
    ],
)
def test_connections_that_lockc_cannot_make_are_refused(
    kind: type, parameters: dict[str, object]
) -> None:
    with pytest.raises(lockc.Unsupported):
        Lock(RedisClient(kind, **parameters), "key")


@pytest.mark.parametrize("source", [None, 6379, object()])
def test_what_is_no_client_is_refused(source: object) -> None:
    with pytest.raises(lockc.Invalid, match="redis must be"):
        Lock(source, "key")


def test_locks_that_lead_to_one_place_share_a_client(
    server: RedisServer, key: str, raw: Raw
) -> None:
    def redis(name: str) -> RedisClient:
        return RedisClient(host="127.0.0.1", port=server.port, client_name=name)

    with Lock(redis("sharing"), key):
        alone = connections(raw, "sharing")
        assert alone > 0
        for number in range(20):
            with Lock(redis("sharing"), f"{key}:{number}"):
                assert connections(raw, "sharing") == alone
        with Lock(redis("apart"), f"{key}:apart"):
            assert connections(raw, "apart") > 0


def test_locks_of_different_users_do_not_share_a_client(own_server: RedisServer, key: str) -> None:
    told = {"host": "127.0.0.1", "port": own_server.port}
    with Lock(RedisClient(**told), key) as lock:
        with pytest.raises(errors.AuthenticationError):
            Lock(RedisClient(username="stranger", password="wrong", **told), key).locked()
        assert lock.owned()


def test_lock_takes_a_host_that_is_an_ipv6_address(key: str) -> None:
    closed_port = 1
    with pytest.raises(errors.ConnectionError):
        Lock(RedisClient(host="::1", port=closed_port), key).acquire(blocking=False)
