#!/usr/bin/env python3
"""Checks what Markdown files name: that relative links lead to a file, and to a heading there, and
that tests exist."""

import re
import subprocess
import sys
from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
TEST = re.compile(r"`((?:test_|Test[A-Z])\w+(?:\.\w+)?)")
HEADING = re.compile(r"^#+\s+(.+?)\s*$", re.MULTILINE)


def anchors(path: Path) -> set[str]:
    """The names by which the headings of a Markdown file can be linked to."""
    headings = HEADING.findall(path.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> list[str]:
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    broken = []
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists():
            broken.append(f"{page}: {link}: there is no such file")
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            broken.append(f"{page}: {link}: there is no such heading")
    return broken


def unknown_tests(page: Path, tests: str) -> list[str]:
    """Names, perhaps shortened at their end, of functions and files that are no test."""
    names = TEST.findall(page.read_text(encoding="utf-8"))
    return [f"{page}: {name}: there is no such test" for name in names if name not in tests]


def sources(*patterns: str) -> list[Path]:
    """The files of the project that match and are there."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return [path for path in map(Path, listing) if path.exists()]


def main() -> int:
    files = sources("tests/**.py", "tests/**.c", "bindings/go/*_test.go")
    tests = "\n".join(f"{path}\n{path.read_text(encoding='utf-8')}" for path in files)
    broken = [
        line for page in sources("*.md") for line in broken_links(page) + unknown_tests(page, tests)
    ]
    print("\n".join(broken), end="\n" if broken else "")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
