"""Locks between processes, and what interrupts, forks and exits do to them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lockc
import pytest
from conftest import WITHIN, Script, until
from resp import Connection

Start = Callable[..., Script]


def test_processes_exclude_one_another(script: Start, tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")
    adders = [
        script(
            """
            import sys, pathlib, lockc
            counter = pathlib.Path(sys.argv[3])
            with lockc.Client(sys.argv[1]) as client:
                for _ in range(50):
                    with client.lock(sys.argv[2], timeout=20):
                        counter.write_text(str(int(counter.read_text()) + 1))
            """,
            counter,
        )
        for _ in range(3)
    ]
    for adder in adders:
        adder.end()
    assert counter.read_text() == "150"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_lock_of_a_killed_process_is_free_after_its_ttl(
    script: Start, client: lockc.Client, key: str, number: signal.Signals
) -> None:
    holder = script(
        """
        import sys, time, lockc
        with lockc.Client(sys.argv[1], default_ttl=0.5) as client, client.lock(sys.argv[2]):
            print("held")
            time.sleep(60)
        """
    )
    assert holder.line() == "held"
    assert not client.lock(key).acquire(timeout=1)
    holder.process.send_signal(number)
    holder.process.communicate()
    with client.lock(key, timeout=10):
        pass


def test_interrupt_ends_a_wait_and_leaves_nothing(
    script: Start, client: lockc.Client, key: str
) -> None:
    waiter = script(
        """
        import sys, lockc
        client = lockc.Client(sys.argv[1])
        try:
            client.lock(sys.argv[2]).acquire()
        except KeyboardInterrupt:
            print("interrupted", client.inspect(sys.argv[2])["queue"])
        client.close()
        """
    )
    with client.lock(key) as held:
        until(lambda: client.inspect(key)["queue"])
        waiter.process.send_signal(signal.SIGINT)
        assert waiter.end() == "interrupted []"
        assert client.inspect(key)["owner"] == held.owner
    assert client.inspect(key)["state"] == "free"


def test_interrupt_of_a_busy_loop_leaves_nothing(
    script: Start, client: lockc.Client, key: str
) -> None:
    for _ in range(5):
        loop = script(
            """
            import sys, lockc
            client = lockc.Client(sys.argv[1])
            lock = client.lock(sys.argv[2])
            try:
                with lock:
                    pass
                print("turn")
                while True:
                    with lock:
                        pass
            except KeyboardInterrupt:
                print("held" if lock.held else "interrupted")
            with client.lock(sys.argv[2], timeout=5):
                pass
            client.close()
            """
        )
        assert loop.line() == "turn"
        loop.process.send_signal(signal.SIGINT)
        assert loop.end().splitlines()[-1] == "interrupted"


def test_exception_of_a_signal_handler_ends_a_wait_for_loss(script: Start) -> None:
    watcher = script(
        """
        import signal, sys, lockc
        class Alarm(Exception): pass
        def ring(*_): raise Alarm
        signal.signal(signal.SIGALRM, ring)
        with lockc.Client(sys.argv[1]) as client:
            try:
                with client.lock(sys.argv[2]) as held:
                    signal.setitimer(signal.ITIMER_REAL, 0.1)
                    held.lost.wait()
            except Alarm:
                print(client.inspect(sys.argv[2])["state"])
        """
    )
    assert watcher.end() == "free"


FORK = """
    import os, sys, warnings, lockc
    warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of threads at fork
    url, key = sys.argv[1:3]
    client = lockc.Client(url)
    lock = client.lock(key)
    lock.acquire()
    held = lock.held
    child = os.fork()
    if child == 0:
        try:
            inside()
        except BaseException as error:
            print(f"child: {error!r}")
        finally:
            os._exit(0)
    assert os.waitpid(child, 0) == (child, 0)
    print("parent:", held.lost.is_set(), lock.release())
    client.close()
"""


def fork_script(body: str) -> str:
    inside = "def inside():\n" + "".join(f"    {line}\n" for line in body.splitlines())
    return inside + "\n".join(line.removeprefix("    ") for line in FORK.splitlines())


def test_forked_child_locks_by_the_same_client(script: Start) -> None:
    forked = script(
        fork_script(
            "with client.lock(key + ':child', timeout=5) as mine:\n"
            "    print('child:', mine.token > 0, client.lock(key).acquire(timeout=0.1))\n"
            "client.close()"
        )
    )
    assert forked.end().splitlines() == ["child: True False", "parent: False True"]


def test_forked_child_does_not_hold_what_its_parent_holds(script: Start) -> None:
    forked = script(
        fork_script(
            "print('child:', held.lost.is_set(), held.lost.reason, held.remaining)\n"
            "print('child:', lock.acquire(blocking=False))\n"
            "held.release()"
        )
    )
    lines = forked.end().splitlines()
    assert lines[:2] == ["child: True forked 0.0", "child: False"]
    assert lines[2].startswith("child: Forked(")
    assert lines[3] == "parent: False True"


def test_forked_child_and_its_parent_draw_nothing_twice(script: Start) -> None:
    parent = script(
        """
        import json, os, sys, warnings, lockc
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads at fork
        url, key = sys.argv[1:3]
        client = lockc.Client(url)
        def draw():
            drawn = []
            for number in range(500):
                name = f"{key}:{number % 10}"
                with client.lock(name, timeout=20) as held:
                    drawn.append((held.owner, f"{name} {held.token}"))
            return drawn
        draw()
        read, write = os.pipe()
        child = os.fork()
        drawn = draw()
        if child == 0:
            with os.fdopen(write, "w") as pipe:
                json.dump(drawn, pipe)
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            drawn += json.load(pipe)
        owners, tokens = map(set, zip(*drawn))
        print(os.waitpid(child, 0)[1], len(owners), len(tokens))
        client.close()
        """
    )
    assert parent.end() == "0 1000 1000"


def test_preforked_workers_leave_the_lock_of_their_parent_renewed(script: Start) -> None:
    parent = script(
        """
        import os, sys, time, warnings, lockc
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads at fork
        url, key = sys.argv[1:3]
        client = lockc.Client(url, default_ttl=1)
        lock = client.lock(key)
        assert lock.acquire()
        workers = []
        for number in range(8):
            workers.append(os.fork())
            if workers[-1] == 0:
                busy = not client.lock(key).acquire(timeout=0)
                with client.lock(f"{key}:worker", timeout=20):
                    pass
                sys.exit(0 if busy and lock.held.lost.is_set() else 1)  # as Python exits
        codes = {os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]) for worker in workers}
        time.sleep(1.5)  # longer than the ttl
        print(codes, client.inspect(key)["owner"] == lock.held.owner)
        lock.release()
        client.close()
        """
    )
    assert parent.end() == "{0} True"


@pytest.mark.parametrize(
    ("ending", "code", "complaint"),
    [("pass", 0, []), ("sys.exit(3)", 3, []), ("raise ValueError", 1, ["ValueError"])],
)
def test_exit_gives_back_what_is_held(
    script: Start, raw: Connection, key: str, ending: str, code: int, complaint: list[str]
) -> None:
    leaver = script(
        """
        import sys, lockc
        client = lockc.Client(sys.argv[1])
        lock = client.lock(sys.argv[2])
        print(lock.acquire())
        exec(sys.argv[3])
        """,
        ending,
    )
    out, err = leaver.process.communicate(timeout=WITHIN)
    assert (out, leaver.process.returncode) == ("True\n", code)
    assert err.splitlines()[-1:] == complaint
    assert raw.call("EXISTS", key) == 0


def test_exit_while_daemon_threads_wait_is_quick_and_gives_back(
    script: Start, client: lockc.Client, key: str, raw: Connection
) -> None:
    with client.lock(key):
        leaver = script(
            """
            import contextlib, sys, threading, lockc
            client = lockc.Client(sys.argv[1])
            def wait():
                with contextlib.suppress(lockc.Closed):
                    client.lock(sys.argv[2]).acquire()
            lock = client.lock(sys.argv[2] + ":mine")
            lock.acquire()
            for _ in range(4):
                threading.Thread(target=wait, daemon=True).start()
            sys.stdin.readline()
            """
        )
        until(lambda: client.inspect(key)["queue"])
        leaver.process.communicate(timeout=10)
        assert leaver.process.returncode == 0
    assert raw.call("EXISTS", f"{key}:mine") == 0


def test_threads_that_come_and_go_leave_no_descriptors(client: lockc.Client, key: str) -> None:
    def turn(number: int) -> None:
        with client.lock(f"{key}:{number % 3}"):
            pass

    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    counts = []
    for _ in range(3):
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(turn, range(64)))
        counts.append(descriptors())
    assert max(counts) <= counts[0] + 8
