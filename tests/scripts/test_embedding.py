"""The embed step: includes, what it strips, and the digest of what is left."""

from __future__ import annotations

import hashlib
from pathlib import Path

import embedded

NAMES = {
    "acquire",
    "release",
    "requeue",
    "renew",
    "drop",
    "inspect",
    "probe",
    "record_read",
    "record_write",
}


def test_every_script_is_there_and_parts_are_none_of_them(
    scripts: dict[str, embedded.Script],
) -> None:
    assert set(scripts) == NAMES
    assert all(name == script.name for name, script in scripts.items())


def test_digest_is_that_of_the_text(scripts: dict[str, embedded.Script]) -> None:
    for script in scripts.values():
        assert hashlib.sha1(script.text.encode()).hexdigest() == script.sha1


def test_no_comment_or_include_is_left(scripts: dict[str, embedded.Script]) -> None:
    for script in scripts.values():
        lines = script.text.split("\n")
        assert not any(line != line.strip() or line.startswith("--") or not line for line in lines)


def test_code_survives_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "part.lua").write_text(
        "-- a part\nlocal a = {[1] = ';', [[x]], '\\\\n', \"$a@b@\"}\n"
    )
    (tmp_path / "whole.lua").write_text(
        "-- head\n\n--\nlocal b = 1 -- 2\n-- include part.lua\n"
        "  if a then\n\treturn b - -1\n  end\n"
    )
    whole = embedded.embed(tmp_path, tmp_path / "out.cc")
    assert set(whole) == {"whole"}
    assert whole["whole"].text == (
        "local b = 1 -- 2\nlocal a = {[1] = ';', [[x]], '\\\\n', \"$a@b@\"}\n"
        "if a then\nreturn b - -1\nend"
    )
