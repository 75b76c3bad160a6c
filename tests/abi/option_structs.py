"""Tells whether each options struct in one ABI dump has grown at its end only in another.

    python3 tests/abi/option_structs.py OLD.abi NEW.abi

abidiff is told to accept members that come at the end, and then accepts changed ones along with
them; so this compares what was there before.
"""

import sys
import xml.etree.ElementTree as ET


def option_structs(path: str) -> dict[str, list[tuple[str | None, ...]]]:
    """By name: offset, name and type of each member, in the order of the struct."""
    return {
        struct.get("name", ""): [
            (
                member.get("layout-offset-in-bits"),
                member.find("var-decl").get("name"),
                member.find("var-decl").get("type-id"),
            )
            for member in struct.iter("data-member")
        ]
        for struct in ET.parse(path).iter("class-decl")
        if struct.get("name", "").endswith("_options")
        and struct.get("is-declaration-only") != "yes"
    }


def main() -> int:
    old, new = option_structs(sys.argv[1]), option_structs(sys.argv[2])
    broken = [name for name, members in old.items() if new.get(name, [])[: len(members)] != members]
    for name in broken:
        print(f"abi: {name} is gone or differs in members that were there before")
    return 1 if broken or not old else 0


if __name__ == "__main__":
    sys.exit(main())
