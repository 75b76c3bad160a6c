"""lockc run: the command has the lock while it runs, and nobody else has."""

from __future__ import annotations

import time
from pathlib import Path

from conftest import COMMAND, Connection, Lockc, RedisServer, until

# Says that it runs, then goes on until it is told to end by a file.
HOLD = 'echo running; while [ ! -e "$0" ]; do sleep 0.01; done'


def test_environment(lockc: Lockc, server: RedisServer, key: str) -> None:
    print_all = 'echo "$LOCKC_KEY"; echo "$LOCKC_TOKEN"; echo "$LOCKC_URL"; echo "$LOCKC_TEST_OWN"'
    code, out, err = lockc("run", "--key", key, "sh", "-c", print_all, LOCKC_TEST_OWN="kept")
    got_key, token, url, own = out.split("\n")
    assert (code, err) == (0, "")
    assert (got_key, url, own) == (key, server.url, "kept")
    assert int(token) > 0


def test_key_may_hold_any_byte_that_an_argument_can(lockc: Lockc, raw: Connection) -> None:
    key = b"any \xff\n\x1b*key"
    code, out, _ = lockc("run", "--key", key, "sh", "-c", 'printf %s "$LOCKC_KEY" | od -An -tx1')
    assert code == 0
    assert bytes.fromhex(out) == key


def test_command_gets_stdin_and_stdout(lockc: Lockc, key: str) -> None:
    assert lockc("run", "--key", key, "sh", "-c", "cat; echo out; echo err >&2") == (
        0,
        "out",
        "err\n",
    )


def test_held_while_the_command_runs(
    lockc: Lockc, raw: Connection, key: str, tmp_path: Path
) -> None:
    holder = lockc.start("run", "--key", key, "sh", "-c", HOLD, str(tmp_path / "end"))
    assert holder.line() == "running"
    assert raw.call("GET", key).startswith(b"lc1:")
    assert 0 < raw.call("PTTL", key) <= 30_000
    (tmp_path / "end").touch()
    assert holder.end() == (0, "", "")
    assert raw.call("EXISTS", key) == 0


def test_tokens_grow(lockc: Lockc, key: str) -> None:
    tokens = [int(lockc("run", "--key", key, "sh", "-c", "echo $LOCKC_TOKEN")[1]) for _ in range(3)]
    assert tokens == sorted(set(tokens))


def test_renewed_beyond_the_ttl(lockc: Lockc, key: str, tmp_path: Path) -> None:
    holder = lockc.start(
        "run", "--key", key, "--ttl", "1s", "sh", "-c", HOLD, str(tmp_path / "end")
    )
    assert holder.line() == "running"
    assert lockc("run", "--key", key, "--wait", "2", "echo", "never")[:2] == (75, "")
    (tmp_path / "end").touch()
    assert holder.end()[0] == 0


def test_waiter_follows_the_holder(lockc: Lockc, key: str, tmp_path: Path) -> None:
    holder = lockc.start("run", "--key", key, "sh", "-c", HOLD, str(tmp_path / "end"))
    assert holder.line() == "running"
    waiter = lockc.start("run", "--key", key, "--wait", "20s", "echo", "after")
    until(lambda: '"position"' in lockc("inspect", key, "--json")[1])
    (tmp_path / "end").touch()
    assert holder.end()[0] == 0
    assert waiter.end() == (0, "after", "")


def test_waits_for_ever_by_default(lockc: Lockc, raw: Connection, key: str) -> None:
    raw.call("SET", key, "another", "PX", 60_000)
    waiter = lockc.start("run", "--key", key, "echo", "after")
    until(lambda: raw.call("ZCARD", f"lockc:{{{key}}}:queue:{key}") == 1)
    raw.call("DEL", key)
    assert waiter.end() == (0, "after", "")


def test_fair_waiters_are_served_in_order(lockc: Lockc, key: str, tmp_path: Path) -> None:
    holder = lockc.start("run", "--key", key, "sh", "-c", HOLD, str(tmp_path / "end"))
    assert holder.line() == "running"
    order = tmp_path / "order"
    waiters = []
    for number in range(4):
        waiters.append(
            lockc.start("run", "--fair", "--key", key, "sh", "-c", f"echo {number} >>{order}")
        )
        until(lambda: lockc("inspect", key, "--json")[1].count('"position"') == len(waiters))
    (tmp_path / "end").touch()
    assert [one.end()[0] for one in waiters] == [0] * 4
    assert order.read_text().split() == ["0", "1", "2", "3"]


def test_many_exclude_one_another(lockc: Lockc, key: str, tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")
    increment = 'n=$(cat "$0"); sleep 0.005; echo $((n + 1)) >"$0"'
    words = ("run", "--key", key, "--wait", "60s", "sh", "-c", increment, str(counter))
    running = [lockc.start(*words) for _ in range(25)]
    assert [one.end()[0] for one in running] == [0] * 25
    assert counter.read_text() == "25\n"


def test_what_the_command_leaves_running_does_not_keep_the_lock(
    lockc: Lockc, raw: Connection, key: str, tmp_path: Path
) -> None:
    leave = 'sh -c "sleep 0.5; touch $0" >/dev/null 2>&1 & exit 3'
    mark = tmp_path / "mark"
    before = time.monotonic()
    assert lockc("run", "--key", key, "sh", "-c", leave, str(mark))[0] == 3
    assert raw.call("EXISTS", key) == 0
    assert time.monotonic() - before < 0.5
    until(mark.exists)


def test_closed_standard_descriptors_do_no_harm(lockc: Lockc, key: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    shut = '"$0" run --key "$1" touch "$2" <&- >&- 2>&-'
    assert lockc("run", "--key", f"outer:{key}", "sh", "-c", shut, COMMAND, key, str(mark))[0] == 0
    assert mark.exists()
