"""Servers that answer nonsense: an error, a dropped connection, bounded memory; never a lock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fake_server import HANG_UP, SILENCE, Answer, FakeServer, error, raw
from lockc_abi import Client, OpenClient, Queue, Refused
from timing import TOLERANCE, Stopwatch

MEMORY_LIMIT = 50 << 20
FAILURES = {"E_SERVER", "E_UNCERTAIN", "E_UNREACHABLE"}
GRANT = [1, b"1000", 1]
BUSY = [0, 30000, 0, 1]

BROKEN_STREAMS = {
    "array without end": raw(b"*2147483647\r\n"),
    "array of negative size": raw(b"*-2\r\n"),
    "bulk of negative size": raw(b"$-2\r\n"),
    "bulk of a gigabyte": raw(b"$1073741824\r\n" + b"x" * 1000),
    "bulk longer than any number": raw(b"$99999999999999999999\r\n"),
    "nested ten thousand deep": raw(b"*1\r\n" * 10000),
    "integer that is none": raw(b":abc\r\n"),
    "integer out of range": raw(b":99999999999999999999\r\n"),
    "unknown type": raw(b"!4\r\nboom\r\n"),
    "push of RESP3": raw(b">2\r\n+message\r\n+x\r\n"),
    "another protocol": raw(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "line without end": raw(b"+" + b"x" * 100000),
    "flood in one text": raw(b"$1073741824\r\n" + b"x" * (64 << 20)),
    "flood in one line": raw(b"+" + b"x" * (64 << 20)),
    "flood of small elements": raw(b"*4096\r\n" + (b"*4096\r\n" + b":1\r\n" * 4096) * 1024),
    "zeros": raw(b"\0" * 4096),
    "silence": SILENCE,
    "hang-up": HANG_UP,
}

broken = pytest.mark.parametrize("answer", BROKEN_STREAMS.values(), ids=BROKEN_STREAMS)

WRONG_SHAPES = {
    "nil": None,
    "status": "OK",
    "integer of no token": 0,
    "integer below zero": -1,
    "integer beyond all tokens": 2**53,
    "text": b"1",
    "empty array": [],
    "too short": [1],
    "unknown verdict": [9, b"1", 1],
    "token that is no number": [1, b"token", 1],
    "token of zero": [1, b"0", 1],
    "token beyond 64 bits": [1, b"99999999999999999999999", 1],
    "nested": [[1, b"1000", 1]],
    "arrays for numbers": [[], [], []],
    "busy without numbers": [0, None, None, None],
    "queued without numbers": [2, None, b"", [], None, None],
}


@pytest.fixture
def fake() -> Iterator[FakeServer]:
    with FakeServer() as fake:
        yield fake


@pytest.fixture
def client(fake: FakeServer, open_client: OpenClient) -> Client:
    return open_client(fake.url)


@contextmanager
def little_memory() -> Iterator[None]:
    """Bounds what the process takes at its peak; the answers themselves are there already."""
    Path("/proc/self/clear_refs").write_text("5")  # forgets the former peak
    before = peak()
    yield
    assert peak() - before < MEMORY_LIMIT


def peak() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) << 10


@broken
def test_broken_stream_fails_in_time_and_memory(
    answer: Answer, fake: FakeServer, client: Client
) -> None:
    fake.answer_scripts(answer)
    for wait_ms in (0, 400):
        watch = Stopwatch()
        with little_memory(), pytest.raises(Refused) as refused:
            client.acquire("key", wait_ms=wait_ms)
        assert refused.value.status in FAILURES | ({"TIMEOUT"} if wait_ms else set())
        assert watch.seconds < 1 + TOLERANCE


@broken
def test_broken_stream_at_log_in_fails_in_time_and_memory(
    answer: Answer, fake: FakeServer, client: Client
) -> None:
    fake.answer("INFO", answer)
    watch = Stopwatch()
    with little_memory(), pytest.raises(Refused) as refused:
        client.connect(500)
    assert refused.value.status in FAILURES
    assert watch.seconds < 0.5 + TOLERANCE


@broken
def test_broken_wake_stream_leaves_polling_in_little_memory(
    answer: Answer, fake: FakeServer, client: Client
) -> None:
    fake.answer("SUBSCRIBE", answer)
    fake.answer_scripts(*[BUSY] * 6, GRANT)
    with little_memory():
        assert client.acquire("key", wait_ms=5000).token == 1000
    assert fake.count("SUBSCRIBE") >= 1


@pytest.mark.parametrize("wait_ms", [0, 200])
@pytest.mark.parametrize("answer", WRONG_SHAPES.values(), ids=WRONG_SHAPES)
def test_answer_of_a_wrong_shape_is_never_a_grant(
    answer: Answer, wait_ms: int, fake: FakeServer, client: Client
) -> None:
    fake.answer_scripts(answer)
    with Queue(client) as queue:
        queue.acquire(1, "key", wait_ms=wait_ms)
        completion = queue.poll(2000)
    assert completion is not None, "no answer in time"
    assert completion.status in FAILURES | {"BUSY", "TIMEOUT"}


def test_nonsense_on_the_wake_channel_is_never_a_grant(fake: FakeServer, client: Client) -> None:
    nonsense = b"".join(
        b"*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$%d\r\n%s\r\n" % (len(payload), payload)
        for payload in (
            b"",
            b" ",
            b"lc1",
            b"V 1 2 key",
            b"lc1:AAAAAAAAAAAAAAAAAAAAAA:1:x:30000:1 9007199254740992 1 key",
            b"lc1:AAAAAAAAAAAAAAAAAAAAAA:1:x:30000:1 -1 -1 key",
            b"\0" * 1000,
        )
    )
    fake.answer("SUBSCRIBE", raw(b"*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n" + nonsense))
    fake.answer_scripts(BUSY, [2, 30000, 1, b"5", b"5", 1])
    with pytest.raises(Refused) as refused:
        client.acquire("key", wait_ms=500)
    assert refused.value.status == "TIMEOUT"


@pytest.mark.parametrize(
    ("text", "status"),
    {
        "OOM command not allowed when used memory > 'maxmemory'.": "E_SERVER_OOM",
        "READONLY You can't write against a read only replica.": "E_READONLY",
        "NOREPLICAS Not enough good replicas to write.": "E_READONLY",
        "MISCONF Redis is configured to save RDB snapshots": "E_READONLY",
        "WRONGTYPE Operation against a key": "E_WRONG_TYPE",
        "BUSY Redis is busy running a script.": "E_NOT_READY",
        "LOADING Redis is loading the dataset in memory": "E_NOT_READY",
        "MASTERDOWN Link with MASTER is down": "E_NOT_READY",
        "CLUSTERDOWN The cluster is down": "E_NOT_READY",
        "TRYAGAIN Multiple keys request during rehashing of slot": "E_NOT_READY",
        "NOAUTH Authentication required.": "E_DENIED",
        "NOPERM this user has no permissions": "E_DENIED",
        "ERR ACL failure in script: this user": "E_DENIED",
        "LOCKCFENCE unusable": "E_SERVER",
        "ERR something else": "E_SERVER",
        "ERR Error running script (call to f_0): @user_script:1: -READONLY You can't": "E_READONLY",
        "ERR Error running script (call to f_0): @user_script:1: -OOM command not": "E_SERVER_OOM",
        "ERR Error running script (call to f_0): @user_script:1: WRONGTYPE Op": "E_WRONG_TYPE",
    }.items(),
)
def test_error_words_have_their_status(
    text: str, status: str, fake: FakeServer, client: Client
) -> None:
    fake.answer_scripts(error(text))
    with pytest.raises(Refused) as refused:
        client.acquire("key")
    assert refused.value.status == status
    assert text.split(" ")[0] in refused.value.message


@pytest.mark.parametrize("word", ["CLUSTERDOWN", "LOADING", "MASTERDOWN", "TRYAGAIN", "BUSY"])
def test_trouble_that_passes_is_waited_for(word: str, fake: FakeServer, client: Client) -> None:
    fake.answer_scripts(*[error(f"{word} for now")] * 5, GRANT)
    lock = client.acquire("key", wait_ms=5000)
    assert lock.token == 1000
    assert fake.count("EVAL", "EVALSHA") == 6


@pytest.mark.parametrize("word", ["MOVED 1 127.0.0.1:1", "CLUSTERDOWN for ever", "LOADING"])
def test_trouble_that_stays_ends_at_the_deadline_without_a_storm(
    word: str, fake: FakeServer, client: Client
) -> None:
    fake.answer_scripts(error(word))
    watch = Stopwatch()
    with pytest.raises(Refused) as refused:
        client.acquire("key", wait_ms=1500)
    assert refused.value.status == "E_NOT_READY"
    assert 1.49 <= watch.seconds <= 1.5 + TOLERANCE
    assert 2 <= fake.count("EVAL", "EVALSHA") <= 1.5 * 20 + 2


def test_log_in_without_conveniences_is_enough(fake: FakeServer, client: Client) -> None:
    fake.answer("CLIENT", error("ERR unknown command 'CLIENT'"))
    fake.answer("INFO", error("ERR unknown command 'INFO'"))
    fake.answer_scripts(GRANT)
    assert client.acquire("key").token == 1000


def test_waiting_without_subscription_polls(fake: FakeServer, client: Client) -> None:
    fake.answer("SUBSCRIBE", error("NOPERM no channels for you"))
    fake.answer_scripts([0, 200, 0, 1], [0, 200, 0, 1], GRANT)
    assert client.acquire("key", wait_ms=5000).token == 1000


def test_server_without_scripts_is_unsupported(fake: FakeServer, client: Client) -> None:
    for command in ("EVALSHA", "EVAL", "SCRIPT"):
        fake.answer(command, error(f"ERR unknown command '{command}'"))
    with pytest.raises(Refused) as refused:
        client.acquire("key", wait_ms=2000)
    assert refused.value.status == "E_UNSUPPORTED"


def test_old_server_is_unsupported_and_named(fake: FakeServer, client: Client) -> None:
    fake.answer("INFO", b"# Server\r\nredis_version:6.0.16\r\n")
    with pytest.raises(Refused) as refused:
        client.connect()
    assert refused.value.status == "E_UNSUPPORTED"
    assert "6.0.16" in refused.value.message
