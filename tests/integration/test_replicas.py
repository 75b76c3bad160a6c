"""A server that becomes a replica for a while, or whose place a replica takes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lockc_abi import EVENT_LOST, LOST_TAKEN, OpenClient, Queue, Refused
from proxy import Proxy
from redis_server import RedisServer
from timing import TOLERANCE, within

NOWHERE = ("127.0.0.1", "1")
TTL_MS = 1500


@pytest.fixture
def replica(own_server: RedisServer) -> Iterator[RedisServer]:
    """A replica of own_server, in step with it."""
    with own_server.connect() as raw:
        raw.call("CONFIG", "SET", "repl-diskless-sync-delay", 0)
        with RedisServer({"replicaof": f"127.0.0.1 {own_server.port}"}) as replica:
            assert within(20.0, lambda: b"state=online" in raw.call("INFO", "replication"))
            yield replica


@pytest.mark.parametrize(
    ("serves_stale", "status"), [("yes", "E_READONLY"), ("no", "E_NOT_READY")], ids=["read", "none"]
)
def test_acquire_and_renewal_go_on_after_a_while_as_a_replica(
    serves_stale: str, status: str, own_server: RedisServer, open_client: OpenClient
) -> None:
    client = open_client(own_server.url, default_ttl_ms=6000)
    with own_server.connect() as raw, Queue(client) as queue:
        raw.call("CONFIG", "SET", "replica-serve-stale-data", serves_stale)
        lock = client.acquire("held", events=queue.handle)
        raw.call("REPLICAOF", *NOWHERE)
        with pytest.raises(Refused) as refused:
            client.acquire("key")
        assert refused.value.status == status
        queue.acquire(1, "key", wait_ms=10_000)
        assert queue.poll(2000) is None
        raw.call("REPLICAOF", "NO", "ONE")
        completion = queue.poll(int((1 + TOLERANCE) * 1000))
        assert completion is not None, "no grant in time"
        assert completion.lock is not None
        completion.lock.release()
        # Its last renewal before is 2 s old at least.
        assert within(3.0, lambda: raw.call("PTTL", "held") > 5000)
        assert lock.remaining_ms > 0
        assert queue.poll(0) is None, "nothing was lost"
        lock.release()


def test_holder_whose_server_is_replaced_learns_it_by_the_next_renewal(
    own_server: RedisServer, replica: RedisServer, open_client: OpenClient
) -> None:
    with Proxy(own_server.port) as proxy:
        client = open_client(proxy.url, default_ttl_ms=TTL_MS)
        client.acquire("warm-up").release()
        with Queue(client) as events, replica.connect() as promoted:
            promoted.call("REPLICAOF", *NOWHERE)  # what follows is not replicated
            lock = client.acquire("key", events=events.handle)
            promoted.call("REPLICAOF", "NO", "ONE")
            next_one = open_client(replica.url).acquire("key")
            proxy.target_port = replica.port
            proxy.cut()
            completion = events.poll(int((TTL_MS / 3000 + TOLERANCE) * 1000))
            assert completion is not None, "not told within one interval"
            assert completion.kind == EVENT_LOST
            assert (lock.remaining_ms, lock.lost_reason) == (0, LOST_TAKEN)
            assert next_one.remaining_ms > 0
            with pytest.raises(Refused) as refused:
                lock.release()
            assert refused.value.status == "LOST"
            next_one.extend(60_000)  # nobody took it away


def test_holder_cut_off_from_the_new_server_believes_in_its_lease_no_longer_than_proven(
    own_server: RedisServer, replica: RedisServer, open_client: OpenClient
) -> None:
    with Proxy(own_server.port) as proxy:
        client = open_client(proxy.url, default_ttl_ms=TTL_MS)
        with Queue(client) as events, replica.connect() as promoted:
            lock = client.acquire("key", events=events.handle)
            assert within(5.0, lambda: promoted.call("EXISTS", "key") == 1)
            promoted.call("REPLICAOF", *NOWHERE)
            proxy.drop()
            promoted.call("REPLICAOF", "NO", "ONE")
            # The replica has the lock, too, and keeps it for its ttl.
            successor = open_client(replica.url).acquire("key", wait_ms=10_000)
            assert lock.remaining_ms == 0
            assert successor.token > lock.token
            completion = events.poll(2000)
            assert completion is not None
            assert completion.kind == EVENT_LOST
            successor.release()
