#!/usr/bin/env python3
"""Checks that includes go in the allowed directions, and warns of files that have grown too long.

base <- net <- redis <- lock <- client <- capi, never back; hiredis is known to one file; whatever
stands outside of core/ and capi/ knows lockc by its public headers alone.
"""

import re
import subprocess
import sys
from pathlib import Path

LAYERS = ["base", "net", "redis", "lock", "client", "capi"]
PUBLIC = {"lockc/lockc.h", "lockc/lockc.hpp"}
OUTSIDE = ("bindings/", "cli/", "examples/")
SOURCES = {".c", ".cc", ".h", ".hpp", ".go", ".i", ".py", ".lua", ".sh"}
GENERATED = "bindings/go/internal/raw/"
MAX_LINES = 400
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)


def layer_of(path: str) -> str | None:
    """The layer that a file of the project belongs to, or None."""
    parts = path.split("/")
    if parts[0] == "core":
        return parts[1]
    return "capi" if parts[0] == "capi" and "include" not in parts else None


def complaint(path: str, included: str) -> str | None:
    """What is wrong with this include, or None."""
    target = included.split("/")[0]
    layer = layer_of(path)
    if layer is not None and layer not in LAYERS:
        return f"core/{layer} is no known layer"
    if layer is not None and target in LAYERS and LAYERS.index(target) > LAYERS.index(layer):
        return f"{layer} must not know {target}"
    if layer not in (None, "capi") and target == "lockc":
        return "the core must not know its C ABI"
    if path.startswith(OUTSIDE):
        if target in LAYERS or target == "hiredis":
            return "only lockc/lockc.h and lockc/lockc.hpp are known here"
        if target == "lockc" and included not in PUBLIC:
            return "only lockc/lockc.h and lockc/lockc.hpp are known here"
    return None


def main() -> int:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    errors = []
    hiredis_users = []
    for path in sorted(listing):
        if (
            Path(path).suffix not in SOURCES
            or not Path(path).exists()
            or path.startswith(GENERATED)
        ):
            continue
        text = Path(path).read_text(encoding="utf-8")
        lines = text.count("\n")
        if lines > MAX_LINES:
            print(f"{path}: warning: {lines} lines; split by responsibility past {MAX_LINES}")
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start(1)) + 1
            error = complaint(path, match[1])
            if error:
                errors.append(f"{path}:{line}: includes {match[1]}: {error}")
            if match[1].startswith("hiredis/") and layer_of(path):
                hiredis_users.append(path)
    if len(set(hiredis_users)) > 1:
        errors.append(f"hiredis is included by more than one file: {', '.join(hiredis_users)}")
    print("\n".join(errors), end="\n" if errors else "")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
