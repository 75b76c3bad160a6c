"""Random requests of a few clients, some deaf: the rules that must hold behind every step."""

from __future__ import annotations

import random

import pytest
from lock import Connect, Lock, Message, owner
from resp import Connection

STEPS = 400
CLIENTS = ("a", "b", "c", "d", "deaf1", "deaf2")


class World:
    """What the clients were told so far, beside the server's state."""

    def __init__(self, lock: Lock, listener: Connection, seed: int) -> None:
        self.lock = lock
        self.listener = listener
        self.random = random.Random(seed)
        self.seq = dict.fromkeys(CLIENTS, 0)
        self.value = {client: self.fresh(client) for client in CLIENTS}
        self.ticket: dict[bytes, bytes] = {}
        self.holder: bytes | None = None
        self.last = 0

    def fresh(self, client: str) -> bytes:
        self.seq[client] += 1
        b = self.random.choice((0, 1, 8))
        return owner(client, self.seq[client], ttl=60_000, b=b)

    def step(self) -> None:
        client = self.random.choice(CLIENTS)
        value = self.value[client]
        action = self.random.choice(
            (self.acquire, self.acquire, self.release, self.requeue, self.fault)
        )
        ahead = self.live_before(value)
        action(client, value)
        self.hear()
        self.check(ahead)

    def acquire(self, client: str, value: bytes) -> None:
        wait = 1 if value in self.ticket else self.random.choice((0, 1, 1))
        reply = self.lock.acquire(value, wait, self.ticket.get(value, 0))
        self.told(value, reply)

    def release(self, client: str, value: bytes) -> None:
        ours, was_queued, _ = self.lock.release(value)
        assert ours == (self.holder == value)
        assert was_queued == (value in self.ticket)
        self.ended(client, value)

    def requeue(self, client: str, value: bytes) -> None:
        following = self.fresh(client)
        ours, reply = self.lock.requeue(value, following)
        assert ours == (self.holder == value)
        self.ended(client, value)
        self.value[client] = following
        self.told(following, reply)

    def fault(self, client: str, value: bytes) -> None:
        if self.random.random() < 0.5:
            self.lock.lapse()
            self.holder = None
        else:
            self.lock.connection.call("DEL", self.lock.fence)

    def ended(self, client: str, value: bytes) -> None:
        if self.holder == value:
            self.holder = None
        self.ticket.pop(value, None)
        self.value[client] = self.fresh(client)

    def told(self, value: bytes, reply: list) -> None:
        if reply[0] == 1:
            self.hear()
            self.granted(value, int(reply[1]), reply[2])
        elif reply[0] == 2:
            assert self.ticket.get(value, reply[3]) == reply[3]
            self.ticket[value] = reply[3]

    def granted(self, value: bytes, first: int, n: int) -> None:
        assert self.holder in (None, value), "granted while another holds"
        assert first > self.last, "tokens must increase"
        self.holder, self.last = value, first + n - 1
        self.ticket.pop(value, None)

    def hear(self) -> None:
        self.lock.connection.call("PUBLISH", "lockc:wake:a", "end")
        while (payload := self.listener.message()) != b"end":
            message = Message.parse(payload)
            if message.first:
                self.granted(message.owner, message.first, message.n)

    def live_before(self, value: bytes) -> list[bytes]:
        """Those who must be served before `value`, in their order."""
        waiting = self.lock.waiting()
        ahead = waiting[: waiting.index(value)] if value in waiting else waiting
        return [one for one in ahead if b"deaf" not in one]

    def check(self, ahead: list[bytes]) -> None:
        now_held = self.lock.holder()
        assert now_held == self.holder
        waiting = self.lock.waiting()
        assert set(waiting) == set(self.ticket)
        assert now_held not in waiting
        assert waiting == sorted(waiting, key=lambda one: int(self.ticket[one]))
        served = [one for one in ahead if one not in waiting]
        assert served == ahead[: len(served)], "a live waiter was passed over"
        assert all(expiry > 0 for expiry in self.lock.expiries().values())


@pytest.mark.parametrize("seed", range(20))
def test_rules_hold_behind_every_step(lock: Lock, connect: Connect, seed: int) -> None:
    listener = connect()
    listener.subscribe(*(f"lockc:wake:{client}" for client in CLIENTS if "deaf" not in client))
    world = World(lock, listener, seed)
    for _ in range(STEPS):
        world.step()
