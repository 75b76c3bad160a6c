"""What a system does to a process: look-ups hang, clocks jump, servers refuse, libraries go."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from lockc_abi import LIBRARY_PATH
from redis_server import RedisServer
from scale import scaled

HERE = Path(__file__).parent
LIMIT = 60  # of a program that may hang


@pytest.fixture(scope="module")
def preload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("preload") / "preload.so"
    source = HERE / "preload.c"
    flags = ["-std=c11", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *flags, str(source), "-o", str(library), "-ldl"], check=True)
    return library


@pytest.fixture
def run(preload: Path) -> Callable[..., str]:
    """Runs a Python program under the preloaded library and returns what it printed."""

    def run(text: str, *arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(text), *arguments],
            env=os.environ | {"LD_PRELOAD": str(preload), "PYTHONPATH": str(HERE)},
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            timeout=LIMIT,
        ).stdout.strip()

    return run


def test_wait_and_close_do_not_outlast_a_look_up_that_hangs(run: Callable[..., str]) -> None:
    printed = run(
        """
        import time
        from lockc_abi import Client, Refused
        start = time.monotonic()
        client = Client("redis://slow.invalid:6379", connect_timeout_ms=60000)
        try:
            client.acquire("key", wait_ms=1000)
        except Refused as refused:
            print(refused.status)
        waited = time.monotonic()
        client.close()
        print(waited - start < 10, time.monotonic() - waited < 10, flush=True)
        import os
        os._exit(0)  # the look-up still hangs, and nobody has to wait for it
        """
    )
    assert printed == "E_UNREACHABLE\nTrue True"


def test_lease_is_over_at_once_when_the_boot_clock_jumps(
    run: Callable[..., str], server: RedisServer
) -> None:
    printed = run(
        """
        import ctypes, sys
        from lockc_abi import Client
        with Client(sys.argv[1]) as client:
            lock = client.acquire("key", ttl_ms=30000)
            before = lock.remaining_ms
            ctypes.CDLL(None).jump_boot_clock(ctypes.c_long(30))
            print(before > 20000, lock.remaining_ms)
        """,
        server.url,
    )
    assert printed == "True 0"


FAILED_CONNECTS = """
    import ctypes, os, sys
    from lockc_abi import Client, Refused
    from timing import within

    preloaded = ctypes.CDLL(None)

    def counts():
        return [len(os.listdir(f"/proc/self/{kind}")) for kind in ("fd", "task")]

    def fail():
        try:
            client.acquire("key")
        except Refused as refused:
            assert refused.status in {"E_UNREACHABLE", "E_UNCERTAIN"}, refused
        preloaded.jump_boot_clock(ctypes.c_long(1))  # beyond the back-off

    url, server, times = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    before = counts()
    client = Client(url)
    opened = counts()
    if server:
        client.acquire("key").release()
        os.kill(server, 9)
    while preloaded.connects_so_far() < times:
        fail()
    print(within(5, lambda: counts() == opened))
    client.close()
    print(within(5, lambda: counts() == before))
"""
REFUSED, BROKEN = 10_000, scaled(500, 10_000)


@contextmanager
def hanging_up() -> Iterator[str]:
    """The URL of a server that ends each connection at once."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    listener.accept()[0].close()

        server = threading.Thread(target=serve)
        server.start()
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)  # ends the accept
        server.join()


def test_thousands_of_refused_reconnects_leave_no_thread_and_no_descriptor(
    run: Callable[..., str], own_server: RedisServer
) -> None:
    printed = run(FAILED_CONNECTS, own_server.url, str(own_server.pid), str(REFUSED))
    assert printed == "True\nTrue"


def test_thousands_of_broken_connects_leave_no_thread_and_no_descriptor(
    run: Callable[..., str],
) -> None:
    with hanging_up() as url:
        assert run(FAILED_CONNECTS, url, "0", str(BROKEN)) == "True\nTrue"


def test_library_may_be_opened_used_and_closed_again_and_again(
    run: Callable[..., str], server: RedisServer
) -> None:
    printed = run(
        """
        import _ctypes, ctypes, sys
        for number in range(100):
            library = ctypes.CDLL(sys.argv[1])
            client, lock = ctypes.c_void_p(), ctypes.c_void_p()
            key = b"key:%d" % number
            assert library.lockc_client_open(
                ctypes.byref(client), sys.argv[2].encode(), None, None) == 0
            assert library.lockc_client_acquire(
                ctypes.byref(lock), client, key, ctypes.c_size_t(len(key)), None, None) == 0
            assert library.lockc_lock_release(lock, None) == 0
            library.lockc_lock_free(lock)
            library.lockc_client_close(client)
            _ctypes.dlclose(library._handle)
        print("done")
        """,
        str(LIBRARY_PATH),
        server.url,
    )
    assert printed == "done"


@pytest.mark.parametrize("who", ["main", "second"])
def test_exit_from_one_thread_ends_a_process_whose_other_thread_waits(
    who: str, run: Callable[..., str], server: RedisServer
) -> None:
    printed = run(
        """
        import ctypes, sys, threading
        from lockc_abi import Client, Queue
        from timing import within
        client, other = Client(sys.argv[1]), Client(sys.argv[1])
        held = client.acquire("key")
        def wait():
            other.acquire("key", wait_ms=-1)
        def leave():
            with Queue(client) as queue:
                queue.acquire(1, "key", wait_ms=-1)
                assert within(20, lambda: '"queue":[]' not in client.inspect("key"))
                print("exits", flush=True)
                ctypes.CDLL(None).exit(0)
        here, there = (leave, wait) if sys.argv[2] == "main" else (wait, leave)
        threading.Thread(target=there, daemon=True).start()
        here()
        """,
        server.url,
        who,
    )
    assert printed == "exits"
