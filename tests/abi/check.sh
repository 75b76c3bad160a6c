#!/usr/bin/env bash
# Compares the ABI of build/liblockc.so with the one stored here for its version; any difference but
# a new function or a member appended to an options struct fails.
#   tests/abi/check.sh            compares, after `make build`
#   tests/abi/check.sh --update   stores today's ABI; only right before a version is released
set -euo pipefail
cd "$(dirname "$0")/../.."
for tool in abidw abidiff; do
  command -v $tool >/dev/null || { echo "abi: $tool is missing; \`make setup\` installs it" >&2; exit 1; }
done
version=$(sed -nE 's/^#define LOCKC_VERSION_(MAJOR|MINOR) ([0-9]+)$/\2/p' capi/include/lockc/lockc.h |
  paste -sd.)
stored=tests/abi/lockc-$version
today=build/lockc-$version

abidw --exported-interfaces-only --headers-dir capi/include --drop-private-types --no-corpus-path \
  --no-comp-dir-path --no-show-locs --no-parameter-names --no-elf-needed --type-id-style hash \
  --out-file "$today.abi" build/liblockc.so
# No function has the type of the unnamed enums, so abidw doesn't see their constants.
grep -oE '\bLOCKC_[A-Z_]+ = -?[0-9a-fx]+' capi/include/lockc/lockc.h | sort >"$today.constants"

if [ "$(grep -c '<function-decl' "$today.abi")" -ne "$(grep -c '^    lockc_' capi/lockc.map)" ]; then
  echo "abi: the debug information doesn't tell of every function in lockc.map" >&2
  exit 1
elif [ "${1:-}" = --update ]; then
  cp "$today.abi" "$today.constants" tests/abi/
  echo "abi: stored $stored.abi and $stored.constants"
  exit
fi
failed=
# abidiff answers 4 both for harmless changes and for a narrowed parameter: any but 0 fails.
abidiff --no-added-syms --suppressions tests/abi/lockc.suppr "$stored.abi" "$today.abi" || failed=yes
python3 tests/abi/option_structs.py "$stored.abi" "$today.abi" || failed=yes
changed=$(comm -23 "$stored.constants" "$today.constants")
[ -z "$changed" ] || { echo "abi: constants that are gone or changed:"; echo "$changed"; failed=yes; }
[ -z "$failed" ] || { echo "abi: build/liblockc.so differs from $stored.abi" >&2; exit 1; }
echo "abi: build/liblockc.so keeps to $stored.abi"
