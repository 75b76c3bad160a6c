"""One exit code for each thing that a script may want to tell apart."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest
from conftest import Connection, Lockc, RedisServer

ONE_TRY = ("--wait", "0")


@pytest.mark.parametrize("code", [0, 1, 2, 64, 255])
def test_the_command_s_own(lockc: Lockc, key: str, code: int) -> None:
    assert lockc("run", "--key", key, "sh", "-c", f"exit {code}")[0] == code


@pytest.mark.parametrize("number", [2, 9, 15])
def test_killed_by_a_signal(lockc: Lockc, key: str, number: int) -> None:
    assert lockc("run", "--key", key, "sh", "-c", f"kill -{number} $$")[0] == 128 + number


def test_command_not_found(lockc: Lockc, raw: Connection, key: str) -> None:
    code, _, err = lockc("run", "--key", key, "no-such-command")
    assert code == 127
    assert 'cannot run "no-such-command"' in err
    assert raw.call("EXISTS", key) == 0


def test_command_not_executable(lockc: Lockc, raw: Connection, key: str, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    assert lockc("run", "--key", key, str(script))[0] == 126
    assert raw.call("EXISTS", key) == 0


def test_busy(lockc: Lockc, raw: Connection, key: str) -> None:
    raw.call("SET", key, "another", "PX", 60_000)
    code, out, err = lockc("run", "--key", key, *ONE_TRY, "echo", "never")
    assert (code, out) == (75, "")
    assert err == f'lockc: "{key}" is held by another owner\n'
    assert raw.call("GET", key) == b"another"


def test_timed_out(lockc: Lockc, raw: Connection, key: str) -> None:
    raw.call("SET", key, "another", "PX", 60_000)
    before = time.monotonic()
    code, out, _ = lockc("run", "--key", key, "--wait", "0.3", "echo", "never")
    assert (code, out) == (75, "")
    assert time.monotonic() - before >= 0.3


@pytest.mark.parametrize(
    "words", [("run", "--key", "k", *ONE_TRY, "echo", "never"), ("inspect", "k")]
)
def test_no_server(lockc: Lockc, words: tuple[str, ...]) -> None:
    with socket.socket() as bound:  # bound, but not listening: refuses all connections
        bound.bind(("127.0.0.1", 0))
        url = f"redis://127.0.0.1:{bound.getsockname()[1]}"
        code, out, err = lockc(*words, LOCKC_URL=url)
    assert (code, out) == (69, "")
    assert err.startswith("lockc: ")


@pytest.mark.parametrize(
    "words", [("run", "--key", "k", *ONE_TRY, "echo", "never"), ("inspect", "k")]
)
def test_silent_server(lockc: Lockc, words: tuple[str, ...]) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        before = time.monotonic()
        code, out, _ = lockc(*words, LOCKC_URL=f"redis://127.0.0.1:{silent.getsockname()[1]}")
    assert (code, out) == (69, "")
    assert time.monotonic() - before < 5


def test_waiting_for_a_server_ends_with_the_wait(lockc: Lockc) -> None:
    words = ("run", "--key", "k", "--wait", "0.5", "echo", "never")
    before = time.monotonic()
    code, out, _ = lockc(*words, LOCKC_URL="redis://127.0.0.1:1")
    assert (code, out) == (69, "")
    assert 0.4 < time.monotonic() - before < 5


@pytest.mark.parametrize(
    "words", [("run", "--key", "k", *ONE_TRY, "echo", "never"), ("inspect", "k")]
)
def test_wrong_password(lockc: Lockc, server: RedisServer, words: tuple[str, ...]) -> None:
    code, out, err = lockc(*words, LOCKC_URL=f"redis://nobody:wrong@127.0.0.1:{server.port}")
    assert (code, out) == (77, "")
    assert err.startswith("lockc: ")


def test_missing_right(lockc: Lockc, server: RedisServer, raw: Connection) -> None:
    raw.call("ACL", "SETUSER", "elsewhere", "reset", "on", ">pw", "~other:*", "&*", "+@all")
    url = f"redis://elsewhere:pw@127.0.0.1:{server.port}"
    code, out, _ = lockc("run", "--key", "k", "echo", "never", LOCKC_URL=url)
    assert (code, out) == (77, "")


def test_key_of_another_type(lockc: Lockc, raw: Connection, key: str) -> None:
    raw.call("HSET", key, "field", "value")
    code, out, err = lockc("run", "--key", key, "echo", "never")
    assert (code, out) == (69, "")
    assert err.startswith(f'lockc: "{key}": ')
    assert err.count(key) == 1
    assert raw.call("HGETALL", key) == [b"field", b"value"]


def test_full_memory(own_lockc: Lockc, own_raw: Connection, key: str) -> None:
    own_raw.call("CONFIG", "SET", "maxmemory", 1)
    code, out, err = own_lockc("run", "--key", key, *ONE_TRY, "echo", "never")
    assert (code, out) == (69, "")
    assert "memory" in err.lower()


def test_read_only_server(own_lockc: Lockc, own_raw: Connection, key: str) -> None:
    own_raw.call("REPLICAOF", "127.0.0.1", 1)
    code, out, _ = own_lockc("run", "--key", key, *ONE_TRY, "echo", "never")
    assert (code, out) == (69, "")
