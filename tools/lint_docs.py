#!/usr/bin/env python3
"""Checks that every relative link in the Markdown files leads to a file, and to a heading there."""

import re
import subprocess
import sys
from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
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


def main() -> int:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    broken = [line for page in listing if Path(page).exists() for line in broken_links(Path(page))]
    print("\n".join(broken), end="\n" if broken else "")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
