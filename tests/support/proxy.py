"""A TCP proxy with faults on command, between a client and a server on 127.0.0.1.

In a test:

    with Proxy(server.port) as proxy:
        proxy.drop("down")                  # the server's answers vanish
        proxy.heal()
        proxy.cut(saw=b"SUBSCRIBE")         # only connections that carried these bytes
        proxy.once(b"EVALSHA", lambda link: link.drop("down"))

As a program it reads one command a line and answers each with "ok" or "error: ...":

    python3 tests/support/proxy.py PORT
    port 40123
    delay 0.2 down | hold up | drop | cut | reset | half_close up | refuse | heal

"up" is the client's bytes on their way to the server, "down" the server's answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import sys
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from running import Running

DIRECTIONS = ("up", "down")
SEEN_LIMIT = 65536
COMMAND_TIMEOUT = 10.0


def directions(direction: str) -> tuple[str, ...]:
    """The directions that a command names: "up", "down" or "both"."""
    if direction == "both":
        return DIRECTIONS
    if direction not in DIRECTIONS:
        raise ValueError(f"no such direction: {direction}")
    return (direction,)


@dataclass
class Flow:
    """What happens to the bytes of one direction."""

    delay: float = 0.0
    dropping: bool = False
    holding: bool = False
    ended: bool = False  # for good

    def copy_to(self, other: Flow) -> None:
        other.delay, other.dropping, other.holding = self.delay, self.dropping, self.holding


class Link:
    """One client's connection and the one to the server behind it; used on the loop only."""

    def __init__(
        self, client: asyncio.StreamWriter, server: asyncio.StreamWriter, flows: dict[str, Flow]
    ) -> None:
        self.writers = {"up": server, "down": client}
        self.flows = {name: Flow() for name in DIRECTIONS}
        for name in DIRECTIONS:
            flows[name].copy_to(self.flows[name])
        self.healed = asyncio.Event()
        self.seen = b""

    def delay(self, seconds: float, direction: str = "both") -> None:
        for name in directions(direction):
            self.flows[name].delay = seconds

    def drop(self, direction: str = "both") -> None:
        for name in directions(direction):
            self.flows[name].dropping = True

    def hold(self, direction: str = "both") -> None:
        for name in directions(direction):
            self.flows[name].holding = True

    def heal(self) -> None:
        for flow in self.flows.values():
            Flow().copy_to(flow)
        self.healed.set()
        self.healed = asyncio.Event()

    def cut(self) -> None:
        for writer in self.writers.values():
            writer.close()

    def reset(self) -> None:
        for writer in self.writers.values():
            with contextlib.suppress(OSError):  # it may be closed already
                writer.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                )
            writer.transport.abort()

    def half_close(self, direction: str = "down") -> None:
        for name in directions(direction):
            self.end(name)

    def end(self, direction: str) -> None:
        flow, writer = self.flows[direction], self.writers[direction]
        if not flow.ended and not writer.is_closing():
            flow.ended = True
            with contextlib.suppress(OSError):  # the other side may be gone
                writer.write_eof()


@dataclass
class Trigger:
    """Runs its action once, before the bytes that match go on."""

    pattern: bytes
    action: Callable[[Link], None]
    directions: tuple[str, ...]
    skip: int
    fired: threading.Event = field(default_factory=threading.Event)

    def matches(self, direction: str, data: bytes) -> bool:
        """Whether it is to run now; counts what is to be skipped."""
        if direction not in self.directions or self.pattern not in data:
            return False
        self.skip -= 1
        return self.skip < 0


class Proxy(Running):
    """Listens on a free port, which stays the same for its whole life; a thread serves it."""

    def __init__(self, target_port: int) -> None:
        self.target_port = target_port
        self.port = 0
        self._flows = {name: Flow() for name in DIRECTIONS}
        self._links: set[Link] = set()
        self._triggers: list[Trigger] = []
        self._server: asyncio.Server | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> Proxy:
        self._thread.start()
        self._call(self._listen())
        return self

    def close(self) -> None:
        self._call(self._shut_down())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def delay(self, seconds: float, direction: str = "both", saw: bytes | None = None) -> None:
        """Lets every piece of data wait so long."""
        self._flow_fault(lambda target: target.delay(seconds, direction), saw)

    def drop(self, direction: str = "both", saw: bytes | None = None) -> None:
        """Swallows the data; the connection stays. Both directions: a black hole."""
        self._flow_fault(lambda target: target.drop(direction), saw)

    def hold(self, direction: str = "both", saw: bytes | None = None) -> None:
        """Keeps the data back until heal()."""
        self._flow_fault(lambda target: target.hold(direction), saw)

    def cut(self, saw: bytes | None = None) -> None:
        """Closes connections in order (FIN)."""
        self._on_links(Link.cut, saw)

    def reset(self, saw: bytes | None = None) -> None:
        """Closes connections out of order (RST)."""
        self._on_links(Link.reset, saw)

    def half_close(self, direction: str = "down", saw: bytes | None = None) -> None:
        """Ends one direction of connections; the other goes on."""
        self._on_links(lambda link: link.half_close(direction), saw)

    def refuse(self) -> None:
        """Refuses new connections, until heal()."""
        self._call(self._stop_listening())

    def heal(self) -> None:
        """Ends delay, drop, hold and refuse; what was held goes on."""
        self._call(self._heal())

    def once(
        self,
        pattern: bytes,
        action: Callable[[Link], None],
        direction: str = "both",
        skip: int = 0,
    ) -> threading.Event:
        """Runs action on the next link that carries the pattern, before the bytes go on.

        So many pieces of data that match are let pass first. The event that is returned is set
        when it has run.
        """
        trigger = Trigger(pattern, action, directions(direction), skip)
        self._call(self._add(trigger))
        return trigger.fired

    def count(self, saw: bytes | None = None) -> int:
        """How many connections there are."""
        counted: list[Link] = []
        self._on_links(counted.append, saw)
        return len(counted)

    # What follows runs on the loop, but for the three that hand work to it.

    def _call(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(COMMAND_TIMEOUT)

    def _on_links(self, action: Callable[[Link], None], saw: bytes | None) -> None:
        async def act() -> None:
            for link in list(self._links):
                if saw is None or saw in link.seen:
                    action(link)

        self._call(act())

    def _flow_fault(self, action: Callable[[Any], None], saw: bytes | None) -> None:
        self._on_links(action, saw)
        if saw is None:
            action(Defaults(self._flows))

    async def _add(self, trigger: Trigger) -> None:
        self._triggers.append(trigger)

    async def _listen(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    async def _stop_listening(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _heal(self) -> None:
        self._triggers.clear()
        for flow in self._flows.values():
            Flow().copy_to(flow)
        for link in self._links:
            link.heal()
        await self._listen()

    async def _shut_down(self) -> None:
        await self._stop_listening()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            answers, requests = await asyncio.open_connection("127.0.0.1", self.target_port)
        except OSError:
            writer.close()
            return
        link = Link(writer, requests, self._flows)
        self._links.add(link)
        try:
            await asyncio.gather(self._pump(link, "up", reader), self._pump(link, "down", answers))
        except asyncio.CancelledError:
            pass  # the proxy shuts down
        finally:
            self._links.discard(link)
            link.cut()

    async def _pump(self, link: Link, direction: str, reader: asyncio.StreamReader) -> None:
        flow, writer = link.flows[direction], link.writers[direction]
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                link.seen = (link.seen + data)[:SEEN_LIMIT]
                self._pull_triggers(link, direction, data)
                if flow.delay > 0:
                    await asyncio.sleep(flow.delay)
                while flow.holding:
                    await link.healed.wait()
                if not flow.dropping and not flow.ended:
                    writer.write(data)
                    await writer.drain()
            link.end(direction)
            return
        link.cut()

    def _pull_triggers(self, link: Link, direction: str, data: bytes) -> None:
        for trigger in [one for one in self._triggers if one.matches(direction, data)]:
            self._triggers.remove(trigger)
            trigger.action(link)
            trigger.fired.set()


class Defaults(Link):
    """Stands for the links to come: faults on it are what they begin with."""

    def __init__(self, flows: dict[str, Flow]) -> None:
        self.flows = flows


def obey(proxy: Proxy, line: str) -> str:
    """Runs one command line."""
    name, *arguments = line.split()
    commands: dict[str, Callable[..., None]] = {
        "delay": lambda seconds, direction="both": proxy.delay(float(seconds), direction),
        "drop": proxy.drop,
        "hold": proxy.hold,
        "cut": proxy.cut,
        "reset": proxy.reset,
        "half_close": proxy.half_close,
        "refuse": proxy.refuse,
        "heal": proxy.heal,
    }
    if name not in commands:
        return f"error: no such command: {name}"
    try:
        commands[name](*arguments)
    except (TypeError, ValueError) as error:
        return f"error: {error}"
    return "ok"


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} PORT")
    with Proxy(int(sys.argv[1])) as proxy:
        print("port", proxy.port, flush=True)
        for line in sys.stdin:
            if line.strip():
                print(obey(proxy, line), flush=True)


if __name__ == "__main__":
    main()
