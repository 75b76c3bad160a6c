#!/usr/bin/env bash
# Searches the protocol for ways to break it, with all of its rules and without each of them.
#   tests/model/run.sh       about a minute and 0.7 GB; ends with "N passed, N failed"
#   tests/model/run.sh -v    prints the shortest way to each failure, too
set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${CXX:-g++}" -std=c++20 -O2 -Wall -Wextra -Wpedantic -Wshadow main.cc protocol.cc -o "$folder/model"
"$folder/model" "$@"
