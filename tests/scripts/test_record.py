"""record_read and record_write: what is refused, what is stored, and what is left alone."""

from __future__ import annotations

import pytest
from embedded import Script
from lock import Denied, FillMemory
from resp import Arg, Connection, Reply, ServerError

LARGEST = 2**53 - 1
MOST = 8 << 20
WRITTEN, STALE, CONFLICT = 1, 2, 3
FREE = [b"0", b"0", b""]


class Record:
    """One key as a record, driven by its raw scripts."""

    def __init__(self, scripts: dict[str, Script], connection: Connection) -> None:
        self.scripts = scripts
        self.connection = connection

    def read(self, most: int = MOST) -> Reply:
        return self.run("record_read", most)

    def write(self, value: Arg, token: int = 0, version: Arg = "", ttl: int = 0) -> Reply:
        return self.run("record_write", value, token, version, ttl)

    def run(self, script: str, *args: Arg) -> Reply:
        return self.connection.call("EVAL", self.scripts[script].text, 1, "k", *args)

    def by(self, connection: Connection) -> Record:
        return Record(self.scripts, connection)

    def put(self, **fields: Arg) -> None:
        """Makes K what these fields say, by whatever client."""
        self.connection.call("DEL", "k")
        self.connection.call("HSET", "k", *(part for field in fields.items() for part in field))

    def dump(self) -> bytes | None:
        return self.connection.call("DUMP", "k")

    def now_us(self) -> int:
        seconds, us = self.connection.call("TIME")
        return int(seconds) * 1_000_000 + int(us)


@pytest.fixture
def record(scripts: dict[str, Script], connection: Connection) -> Record:
    return Record(scripts, connection)


def test_record_that_is_not_there_reads_as_version_0(record: Record) -> None:
    assert record.read() == FREE
    assert record.dump() is None


@pytest.mark.parametrize("value", [b"", b"text", b"\0\xff\r\n$-1\r\n", b"7" * 100_000])
def test_what_was_written_is_read(record: Record, value: bytes) -> None:
    written, version = record.write(value, token=42)
    assert written == WRITTEN
    assert record.read() == [version, b"42", value]


def test_record_is_a_hash_of_three_fields(record: Record) -> None:
    _, version = record.write("v", token=42)
    fields = record.connection.call("HGETALL", "k")
    assert dict(zip(fields[::2], fields[1::2], strict=True)) == {
        b"value": b"v",
        b"version": version,
        b"token": b"42",
    }


def test_smaller_token_is_stale_and_changes_nothing(record: Record) -> None:
    record.write("new", token=42)
    before = record.dump()
    assert record.write("late", token=41) == [STALE, b"42"]
    assert record.dump() == before


def test_equal_token_passes(record: Record) -> None:
    record.write("first", token=42)
    assert record.write("second", token=42)[0] == WRITTEN
    assert record.read()[1:] == [b"42", b"second"]


def test_write_without_a_token_passes_and_keeps_the_stored_one(record: Record) -> None:
    record.write("fenced", token=42)
    assert record.write("not fenced")[0] == WRITTEN
    assert record.read()[1:] == [b"42", b"not fenced"]
    assert record.write("late", token=41)[0] == STALE


def test_expected_version_passes_once(record: Record) -> None:
    _, version = record.write("first")
    written, second = record.write("second", version=version)
    assert written == WRITTEN
    before = record.dump()
    assert record.write("third", version=version) == [CONFLICT, second]
    assert record.dump() == before


def test_version_0_expects_that_there_is_none(record: Record) -> None:
    written, version = record.write("first", version=0)
    assert written == WRITTEN
    assert record.write("second", version=0) == [CONFLICT, version]
    assert record.read()[2] == b"first"


def test_version_of_a_record_that_is_gone_is_a_conflict(record: Record) -> None:
    _, version = record.write("first")
    record.connection.call("DEL", "k")
    assert record.write("second", version=version) == [CONFLICT, b"0"]
    assert record.dump() is None


def test_token_and_version_must_both_hold_and_stale_is_told_first(record: Record) -> None:
    _, version = record.write("first", token=42)
    assert record.write("x", token=41, version=version) == [STALE, b"42"]
    assert record.write("x", token=43, version=1) == [CONFLICT, version]
    assert record.write("x", token=41, version=1) == [STALE, b"42"]
    assert record.write("x", token=43, version=version)[0] == WRITTEN


def test_versions_grow_though_the_record_is_deleted_between_writes(record: Record) -> None:
    last = 0
    for _ in range(100):
        version = int(record.write("v")[1])
        assert version > last
        last = version
        record.connection.call("DEL", "k")


def test_version_is_the_clock_or_one_more_than_the_last(record: Record) -> None:
    before = record.now_us()
    assert before <= int(record.write("v")[1]) <= record.now_us()
    ahead = record.now_us() + 3_600_000_000
    record.put(value="v", version=ahead, token=0)
    assert int(record.write("v")[1]) == ahead + 1


def test_numbers_are_exact_up_to_2_53(record: Record) -> None:
    record.put(value="v", version=LARGEST - 1, token=LARGEST - 1)
    assert record.write("w", token=LARGEST - 2) == [STALE, b"%d" % (LARGEST - 1)]
    assert record.write("w", version=LARGEST - 2) == [CONFLICT, b"%d" % (LARGEST - 1)]
    assert record.write("w", token=LARGEST) == [WRITTEN, b"%d" % LARGEST]
    assert record.read() == [b"%d" % LARGEST, b"%d" % LARGEST, b"w"]


def test_expiry_is_set_only_when_asked_and_else_stays(record: Record) -> None:
    record.write("v")
    assert record.connection.call("PTTL", "k") == -1
    record.write("v", ttl=60_000)
    assert 50_000 < record.connection.call("PTTL", "k") <= 60_000
    record.write("v")
    assert 50_000 < record.connection.call("PTTL", "k") <= 60_000
    record.write("v", ttl=20_000)
    assert 10_000 < record.connection.call("PTTL", "k") <= 20_000


@pytest.mark.parametrize(
    "fields",
    [
        {"field": "1"},
        {"value": "v"},
        {"value": "v", "version": "1"},
        {"value": "v", "token": "1"},
        *(
            {"value": "v", "version": "1", "token": "1", name: odd}
            for name in ("version", "token")
            for odd in ("", "x", "-1", "1.5", "1e3", " 7", "0x10", "nan", str(2**53), "9" * 400)
        ),
        {"value": "v", "version": "0", "token": "1"},
    ],
)
def test_hash_that_is_no_record_is_refused_and_left_alone(
    record: Record, fields: dict[str, str]
) -> None:
    record.put(**fields)
    before = record.dump()
    with pytest.raises(ServerError, match=r"^LOCKCRECORD"):
        record.read()
    for version in ("", 0, 1):
        with pytest.raises(ServerError, match=r"^LOCKCRECORD"):
            record.write("v", token=7, version=version)
    assert record.dump() == before


def test_record_without_its_value_is_not_read(record: Record) -> None:
    record.put(version=1, token=1)
    with pytest.raises(ServerError, match=r"^LOCKCRECORD"):
        record.read()


def test_version_that_has_no_successor_is_not_written_over(record: Record) -> None:
    record.put(value="v", version=LARGEST, token=0)
    with pytest.raises(ServerError, match=r"^LOCKCRECORD"):
        record.write("w")
    assert record.read()[2] == b"v"


def test_other_fields_of_a_record_are_left_alone(record: Record) -> None:
    record.write("v")
    record.connection.call("HSET", "k", "note", "mine")
    record.write("w")
    assert record.connection.call("HGET", "k", "note") == b"mine"


@pytest.mark.parametrize(
    "command",
    [("SET", "k", "1"), ("RPUSH", "k", "1"), ("SADD", "k", "1"), ("ZADD", "k", "1", "1")],
)
def test_key_of_another_type_is_refused_and_left_alone(
    record: Record, command: tuple[str, ...]
) -> None:
    record.connection.call(*command)
    before = record.dump()
    for ask in (record.read, lambda: record.write("v", token=7)):
        with pytest.raises(ServerError, match="WRONGTYPE"):
            ask()
    assert record.dump() == before


def test_value_longer_than_the_client_takes_is_not_told(record: Record) -> None:
    record.write("x" * 11)
    assert record.read(most=11)[2] == b"x" * 11
    with pytest.raises(ServerError, match=r"^LOCKCRECORD the value has more than 10 bytes"):
        record.read(most=10)


def test_full_memory_refuses_a_write_whole_and_tells_the_rest(
    record: Record, full_memory: FillMemory
) -> None:
    _, version = record.write("first", token=42, ttl=60_000)
    before = record.dump()
    full_memory()
    with pytest.raises(ServerError, match="OOM"):
        record.write("second", token=43, ttl=90_000)
    assert record.dump() == before
    assert record.connection.call("PTTL", "k") <= 60_000
    assert record.read() == [version, b"42", b"first"]
    assert record.write("late", token=41)[0] == STALE


def test_reading_needs_the_right_to_hmget_and_exists(record: Record, denied: Denied) -> None:
    record.write("v", token=42)
    reader = record.by(denied("-@all", "+eval", "+hmget", "+exists"))
    assert reader.read()[1:] == [b"42", b"v"]
    record.connection.call("DEL", "k")
    assert reader.read() == FREE


def test_writing_needs_time_hset_and_for_a_ttl_pexpire_besides(
    record: Record, denied: Denied
) -> None:
    rules = ("-@all", "+eval", "+hmget", "+exists", "+time", "+hset")
    writer = record.by(denied(*rules))
    assert writer.write("v", token=42)[0] == WRITTEN
    assert writer.write("v", token=41)[0] == STALE
    assert record.by(denied(*rules, "+pexpire")).write("v", ttl=60_000)[0] == WRITTEN


def test_missing_right_to_write_changes_nothing(record: Record, denied: Denied) -> None:
    with pytest.raises(ServerError, match=r"ACL failure in script|can't run"):
        record.by(denied("-hset")).write("v", token=42)
    assert record.dump() is None


def test_keys_are_declared(record: Record, denied: Denied) -> None:
    record.write("v")
    elsewhere = record.by(denied("resetkeys", "~other:*"))
    for ask in (elsewhere.read, lambda: elsewhere.write("w")):
        with pytest.raises(ServerError, match=r"^NOPERM|ACL failure in script|can't access"):
            ask()
