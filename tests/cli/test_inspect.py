"""lockc inspect: the same facts for people and, as JSON, for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import COMMAND, Connection, Lockc, until

MEMBERS = {"key", "state", "type", "owner", "client_name", "pttl_ms", "token", "queue", "grace_ms"}


def facts(lockc: Lockc, key: str) -> dict[str, Any]:
    code, out, err = lockc("inspect", key, "--json")
    assert (code, err) == (0, "")
    assert "\n" not in out
    found = json.loads(out)
    assert set(found) == MEMBERS
    assert found["key"] == key
    return found


def text(lockc: Lockc, key: str | bytes) -> dict[str, str]:
    """The lines of the text, by their first words."""
    code, out, err = lockc("inspect", key)
    assert (code, err) == (0, "")
    return dict(line.split(maxsplit=1) for line in out.split("\n") if line)


def test_free(lockc: Lockc, key: str) -> None:
    found = facts(lockc, key)
    assert (found["state"], found["owner"], found["queue"]) == ("free", None, [])
    assert text(lockc, key) == {"key": key, "state": "free", "queue": "nobody waits"}


def test_held(lockc: Lockc, raw: Connection, key: str, tmp_path: Path) -> None:
    hold = "echo $LOCKC_TOKEN; while [ ! -e $0 ]; do sleep 0.01; done"
    holder = lockc.start("run", "--key", key, "sh", "-c", hold, str(tmp_path / "end"))
    token = int(holder.line())
    owner = raw.call("GET", key).decode()
    found = facts(lockc, key)
    assert (found["state"], found["type"], found["owner"]) == ("held", "string", owner)
    assert 0 < found["pttl_ms"] <= 30_000
    assert found["token"] >= token
    shown = text(lockc, key)
    assert (shown["state"], shown["owner"]) == ("held", owner)
    assert 0 < float(shown["ttl"].removesuffix(" s")) <= 30
    (tmp_path / "end").touch()
    assert holder.end()[0] == 0
    assert facts(lockc, key)["state"] == "free"


def test_client_of_the_holder_is_named(lockc: Lockc, key: str) -> None:
    inspect = 'exec "$0" inspect "$LOCKC_KEY" --json'
    code, out, _ = lockc("run", "--key", key, "sh", "-c", inspect, COMMAND)
    assert code == 0
    assert "/" in json.loads(out)["client_name"]


def test_queue(lockc: Lockc, raw: Connection, key: str) -> None:
    raw.call("SET", key, "another", "PX", 60_000)
    waiters = []
    for _ in range(2):
        waiters.append(lockc.start("run", "--key", key, "true"))
        until(lambda: len(facts(lockc, key)["queue"]) == len(waiters))
    queue = facts(lockc, key)["queue"]
    assert [set(entry) for entry in queue] == [{"owner", "position", "age_ms", "live"}] * 2
    assert [entry["position"] for entry in queue] == [0, 1]
    assert all(entry["live"] and entry["age_ms"] >= 0 for entry in queue)
    lines = lockc("inspect", key)[1].split("\n")
    assert "queue    2 waiting" in lines
    assert lines[-1].split()[-1] == queue[1]["owner"]


def test_foreign(lockc: Lockc, raw: Connection, key: str) -> None:
    raw.call("SET", key, "another", "PX", 60_000)
    found = facts(lockc, key)
    assert (found["state"], found["owner"], found["token"]) == ("foreign", "another", None)
    assert text(lockc, key)["state"] == "foreign"


def test_zombie(lockc: Lockc, raw: Connection, key: str) -> None:
    raw.call("SET", key, "another")
    found = facts(lockc, key)
    assert (found["state"], found["pttl_ms"]) == ("zombie", -1)
    shown = text(lockc, key)
    assert shown["state"] == "zombie"
    assert "ttl" not in shown


@pytest.mark.parametrize("expiry", [(), ("--ttl", "60")])
def test_record(lockc: Lockc, key: str, expiry: tuple[str, ...]) -> None:
    assert lockc("fence", "write", key, "v", *expiry)[0] == 0
    found = facts(lockc, key)
    assert (found["state"], found["type"], found["owner"]) == ("record", "hash", None)
    shown = text(lockc, key)
    assert (shown["state"], "ttl" in shown) == ("record", bool(expiry))


@pytest.mark.parametrize(("command", "kind"), [(("LPUSH", "x"), "list"), (("SADD", "x"), "set")])
def test_other(
    lockc: Lockc, raw: Connection, key: str, command: tuple[str, str], kind: str
) -> None:
    raw.call(command[0], key, command[1])
    found = facts(lockc, key)
    assert (found["state"], found["type"], found["owner"]) == ("other", kind, None)
    assert text(lockc, key)["type"] == kind


def test_text_cannot_command_a_terminal(lockc: Lockc, raw: Connection) -> None:
    raw.call("SET", b"key\x1b[2J", b"owner\x1b]0;title\x07\n", "PX", 60_000)
    shown = text(lockc, b"key\x1b[2J")
    assert shown["key"] == r"key\x1b[2J"
    assert shown["owner"] == r"owner\x1b]0;title\x07\x0a"


def test_any_bytes_give_json(lockc: Lockc, raw: Connection) -> None:
    raw.call("SET", b'\xff"\\\x00\xf0', b'\xfe"\\\x01', "PX", 60_000)
    code, out, _ = lockc("inspect", b'\xff"\\', "--json")
    assert code == 0
    assert json.loads(out)["state"] == "free"
    raw.call("SET", b'\xff"\\', b'\xfe"\\\x01', "PX", 60_000)
    code, out, _ = lockc("inspect", b'\xff"\\', "--json")
    assert json.loads(out)["state"] == "foreign"
    assert lockc("inspect", b'\xff"\\')[0] == 0


def test_nothing_is_changed(lockc: Lockc, raw: Connection, key: str) -> None:
    facts(lockc, key)
    assert raw.call("KEYS", f"*{key}*") == []
