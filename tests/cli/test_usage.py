"""Help, version, and bad command lines, which are refused before anything is sent."""

from __future__ import annotations

import pytest
from conftest import ROOT, Lockc, RedisServer


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("-h",),
        ("run", "--help"),
        ("inspect", "--help"),
        ("fence", "--help"),
        ("fence", "read", "--help"),
        ("fence", "write", "-h"),
    ],
)
def test_help_goes_to_stdout(lockc: Lockc, words: tuple[str, ...]) -> None:
    code, out, err = lockc(*words)
    assert (code, err) == (0, "")
    assert out.startswith("usage: lockc ")


def test_help_names_every_option_of_run(lockc: Lockc) -> None:
    help_text = lockc("run", "--help")[1]
    for option in ("--key", "--url", "--wait", "--ttl", "--max-hold", "--fair"):
        assert f"  {option} " in help_text


def test_version_is_that_of_the_header(lockc: Lockc) -> None:
    header = (ROOT / "capi/include/lockc/lockc.h").read_text()
    numbers = [
        header.split(f"#define LOCKC_VERSION_{part} ")[1].split("\n")[0]
        for part in ("MAJOR", "MINOR", "PATCH")
    ]
    assert lockc("--version") == (0, f"lockc {'.'.join(numbers)}", "")


BAD = [
    ((), "no subcommand"),
    (("walk",), 'unknown subcommand "walk"'),
    (("run",), "needs --key"),
    (("run", "--key"), "--key needs a value"),
    (("run", "--key", "", "true"), "needs --key"),
    (("run", "--key", "k"), "needs a command"),
    (("run", "--key", "k", "--"), "needs a command"),
    (("run", "--key", "k", "--colour", "true"), "unknown option --colour"),
    (("run", "--key", "k", "--fair=yes", "true"), "--fair takes no value"),
    (("run", "--key", "k" * 4097, "true"), "4096"),
    (("run", "--key", "lockc:k", "true"), "lockc:"),
    (("run", "--key", "k", "--ttl", "0", "true"), "--ttl must be more than 0"),
    (("run", "--key", "k", "--ttl", "9ms", "true"), "ttl"),
    (("run", "--key", "k", "--ttl", "9000h", "true"), "ttl"),
    (("run", "--key", "k", "--max-hold", "0", "true"), "--max-hold must be more than 0"),
    (("inspect",), "needs a KEY"),
    (("inspect", ""), "needs a KEY"),
    (("inspect", "a", "b"), "takes one KEY"),
    (("inspect", "a", "--yaml"), "unknown option --yaml"),
    (("inspect", "--json"), "needs a KEY"),
    (("fence",), "needs read or write"),
    (("fence", "erase"), 'has no "erase"'),
    (("fence", "--json"), "unknown option --json"),
    (("fence", "read"), "needs a KEY"),
    (("fence", "read", "a", "b"), "takes one KEY"),
    (("fence", "read", "a", "--token", "1"), "unknown option --token"),
    (("fence", "write", ""), "needs a KEY"),
    (("fence", "write", "k", "v", "w"), "takes one KEY and one VALUE"),
    (("fence", "write", "k", "v", "--json"), "unknown option --json"),
    (("fence", "write", "k", "v", "--token", ""), '--token "" is no whole number'),
    (("fence", "write", "k", "v", "--token", "-1"), '--token "-1" is no whole number'),
    (("fence", "write", "k", "v", "--token", "0"), "--token must be more than 0"),
    (("fence", "write", "k", "v", "--token", str(2**53)), "token"),
    (("fence", "write", "k", "v", "--if-version", "1.5"), '--if-version "1.5" is no whole number'),
    (("fence", "write", "k", "v", "--if-version", "9" * 30), "is no whole number"),
    (("fence", "write", "k", "v", "--ttl", "0"), "--ttl must be more than 0"),
    (("fence", "write", "k", "v", "--ttl", "9ms"), "ttl"),
    (("fence", "write", "lockc:k", "v"), "lockc:"),
]


@pytest.mark.parametrize(("words", "complaint"), BAD)
def test_bad_command_line(lockc: Lockc, words: tuple[str, ...], complaint: str) -> None:
    code, out, err = lockc(*words)
    assert (code, out) == (64, "")
    assert complaint in err
    assert err.startswith("lockc: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "time",
    ["", "x", "5x", "-1", "+1", " 1", "nan", "inf", "1e3", "0x10", "5s5", "1 s", "1d", "9" * 30],
)
@pytest.mark.parametrize("option", ["--wait", "--ttl", "--max-hold"])
def test_bad_durations(lockc: Lockc, option: str, time: str) -> None:
    code, _, err = lockc("run", "--key", "k", option, time, "true")
    assert code == 64
    assert f'{option} "{time}" is no duration' in err


@pytest.mark.parametrize("time", ["1", "1.5", "500ms", "10s", "5m", "1h", "0.5s"])
def test_durations(lockc: Lockc, key: str, time: str) -> None:
    assert lockc("run", "--key", key, f"--ttl={time}", "--wait", time, "true") == (0, "", "")


@pytest.mark.parametrize(
    "url", ["", "localhost", "http://h", "redis://h:port", "rediss://h", "redis://h:0"]
)
@pytest.mark.parametrize(
    "words", [("run", "--key", "k", "true"), ("inspect", "k"), ("fence", "read", "k")]
)
def test_bad_urls(lockc: Lockc, words: tuple[str, ...], url: str) -> None:
    code, _, err = lockc(*words[:-1], "--url", url, words[-1])
    assert code == 64
    assert err.startswith("lockc: ")


def test_options_of_the_command_are_its_own(lockc: Lockc, key: str) -> None:
    assert lockc("run", "--key", key, "echo", "--key", "x", "--", "-h") == (0, "--key x -- -h", "")


def test_two_dashes_end_the_options(lockc: Lockc, key: str) -> None:
    assert lockc("run", f"--key={key}", "--", "echo", "hello") == (0, "hello", "")
    assert lockc("inspect", "--json", "--", "--help")[0] == 0


def test_url_option_wins_over_the_environment(lockc: Lockc, server: RedisServer, key: str) -> None:
    words = ("run", "--key", key, "--url", server.url, "true")
    assert lockc(*words, LOCKC_URL="redis://127.0.0.1:1")[0] == 0


SECRET = "s3cret-word"


@pytest.mark.parametrize(
    "url",
    [
        f"redis://:{SECRET}@127.0.0.1:1",
        f"redis://user:{SECRET}@127.0.0.1:1/0",
        f"redis://user:{SECRET}@127.0.0.1:port",
        f"redis//user:{SECRET}@127.0.0.1",
        f"rediss://user:{SECRET}@127.0.0.1",
        "redis://:" + SECRET + "@127.0.0.1:{port}",
        "redis://user:" + SECRET + "@127.0.0.1:{port}/77",
    ],
)
@pytest.mark.parametrize("words", [("run", "--key", "k", "--wait", "0", "true"), ("inspect", "k")])
def test_password_is_never_shown(
    lockc: Lockc, server: RedisServer, words: tuple[str, ...], url: str
) -> None:
    code, out, err = lockc(*words, LOCKC_URL=url.replace("{port}", str(server.port)))
    assert code != 0
    assert err
    assert SECRET not in out + err
