"""Each cause of a failed acquire has an outcome of its own, quoting the server where it spoke."""

from __future__ import annotations

from collections.abc import Callable

from lockc_abi import Client, OpenClient, Queue, Refused
from redis_server import RedisServer, free_port
from resp import Connection

Outcome = tuple[str, str]  # status and message


def of(client: Client, **options: int) -> Outcome:
    """How an acquire ends."""
    try:
        client.acquire("key", **options).free()
    except Refused as refused:
        return refused.status, refused.message
    return "OK", ""


def of_cancelled(client: Client) -> Outcome:
    with Queue(client) as queue:
        queue.acquire(1, "key", wait_ms=-1)
        queue.cancel(1)
        completion = queue.poll(5000)
        assert completion is not None
        return completion.status, completion.message


def with_setting(raw: Connection, name: str, value: str, ask: Callable[[], Outcome]) -> Outcome:
    [_, before] = raw.call("CONFIG", "GET", name)
    raw.call("CONFIG", "SET", name, value)
    try:
        return ask()
    finally:
        raw.call("CONFIG", "SET", name, before)


def test_each_cause_has_its_own_outcome(own_server: RedisServer, open_client: OpenClient) -> None:
    client, nowhere = open_client(own_server.url), open_client(f"redis://127.0.0.1:{free_port()}")
    outcomes: dict[str, Outcome] = {}
    with own_server.connect() as raw:
        held = client.acquire("key")
        outcomes["held"] = of(client)
        outcomes["waited in vain"] = of(client, wait_ms=50)
        outcomes["cancelled"] = of_cancelled(client)
        held.release()
        outcomes["nobody there"] = of(nowhere)
        outcomes["full"] = with_setting(raw, "maxmemory", "1", lambda: of(client))
        outcomes["no password"] = with_setting(
            raw, "requirepass", "secret", lambda: of(open_client(own_server.url))
        )
        raw.call("LPUSH", "key", "element")
        outcomes["other type"] = of(client)
        raw.call("DEL", "key")
        raw.call("REPLICAOF", "127.0.0.1", "1")
        outcomes["replica"] = of(client)
    assert {cause: status for cause, (status, _) in outcomes.items()} == {
        "held": "BUSY",
        "waited in vain": "TIMEOUT",
        "cancelled": "CANCELLED",
        "nobody there": "E_UNREACHABLE",
        "full": "E_SERVER_OOM",
        "no password": "E_DENIED",
        "other type": "E_WRONG_TYPE",
        "replica": "E_READONLY",
    }
    for cause, words in {
        "full": "OOM command not allowed",
        "no password": "NOAUTH",
        "other type": "WRONGTYPE",
        "replica": "READONLY",
    }.items():
        assert words in outcomes[cause][1]
