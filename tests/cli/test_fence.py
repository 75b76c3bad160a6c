"""lockc fence: records read and written by scripts, and writers that come too late."""

from __future__ import annotations

import json
import subprocess

from conftest import COMMAND, Connection, Lockc, RedisServer

STALE, CONFLICT = 79, 80


def written(lockc: Lockc, *words: str) -> int:
    """Writes a record and returns its new version."""
    code, out, err = lockc("fence", "write", *words)
    assert (code, err) == (0, "")
    return int(out)


def facts(lockc: Lockc, key: str) -> dict[str, object]:
    code, out, err = lockc("fence", "read", key, "--json")
    assert (code, err) == (0, "")
    found: dict[str, object] = json.loads(out)
    return found


def test_what_was_written_is_read(lockc: Lockc, key: str) -> None:
    version = written(lockc, key, "text", "--token", "42")
    assert lockc("fence", "read", key) == (0, "text", "")
    assert facts(lockc, key) == {"key": key, "value": "text", "version": version, "token": 42}


def test_no_record_reads_as_nothing_of_version_0(lockc: Lockc, key: str) -> None:
    assert lockc("fence", "read", key) == (0, "", "")
    assert facts(lockc, key) == {"key": key, "value": "", "version": 0, "token": None}


def test_value_goes_through_byte_by_byte(server: RedisServer, key: str) -> None:
    value = b"\0\xff\r\n--help" * 50_000
    command = [COMMAND, "fence"]
    end = ["--url", server.url, key]
    subprocess.run([*command, "write", *end], input=value, check=True, capture_output=True)
    read = subprocess.run([*command, "read", *end], check=True, capture_output=True)
    assert read.stdout == value


def test_too_long_a_value_is_a_usage_error(server: RedisServer, key: str) -> None:
    command = [COMMAND, "fence", "write", "--url", server.url, key]
    done = subprocess.run(command, input=bytes(8 * 2**20 + 1), check=False, capture_output=True)
    assert (done.returncode, done.stdout) == (64, b"")
    assert b"8388608" in done.stderr


def test_smaller_token_is_stale(lockc: Lockc, key: str) -> None:
    written(lockc, key, "new", "--token", "42")
    code, out, err = lockc("fence", "write", key, "late", "--token", "41")
    assert (code, out) == (STALE, "")
    assert err == f'lockc: "{key}": a larger token came before; nothing was written\n'
    assert lockc("fence", "read", key)[1] == "new"


def test_other_version_is_a_conflict(lockc: Lockc, key: str) -> None:
    first = written(lockc, key, "first", "--if-version", "0")
    written(lockc, key, "second", "--if-version", str(first))
    code, out, err = lockc("fence", "write", key, "third", f"--if-version={first}")
    assert (code, out) == (CONFLICT, "")
    assert err == f'lockc: "{key}" has another version; nothing was written\n'
    assert lockc("fence", "read", key)[1] == "second"


def test_ttl_is_the_expiry(lockc: Lockc, raw: Connection, key: str) -> None:
    written(lockc, key, "v")
    assert raw.call("PTTL", key) == -1
    written(lockc, key, "v", "--ttl", "1m")
    assert 50_000 < raw.call("PTTL", key) <= 60_000


def test_lock_is_no_record(lockc: Lockc, raw: Connection, key: str) -> None:
    raw.call("SET", key, "somebody")
    for words in (("read", key), ("write", key, "v")):
        code, out, err = lockc("fence", *words)
        assert (code, out) == (69, "")
        assert err.startswith(f'lockc: "{key}": ')


def test_late_writer_with_the_token_of_an_earlier_run_is_stale(lockc: Lockc, key: str) -> None:
    early = lockc("run", "--key", key, "--", "sh", "-c", "echo $LOCKC_TOKEN")[1]
    save = '"$0" fence write "$1" next --token "$LOCKC_TOKEN"'
    assert lockc("run", "--key", key, "--", "sh", "-c", save, COMMAND, f"{key}:data")[0] == 0
    assert lockc("fence", "write", f"{key}:data", "late", "--token", early)[0] == STALE
    assert lockc("fence", "read", f"{key}:data")[1] == "next"
