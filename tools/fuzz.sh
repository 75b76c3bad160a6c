#!/usr/bin/env bash
# Runs the fuzz targets that `make fuzz` has built and ends with the line "N passed, N failed".
#   tools/fuzz.sh [TARGET...]    these, or all; FUZZ_SECONDS for each, 20 by default
# Each begins with its seeds in tests/fuzz/corpus and with what earlier runs found worth keeping, in
# build/fuzz/corpus. An input that breaks a rule is kept in build/fuzz/found.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
folder=build/fuzz
seconds=${FUZZ_SECONDS:-20}
[ $# -gt 0 ] || set -- url resp replies inspect options calls
TMPDIR=$(mktemp -d)
export TMPDIR # for the sockets that a crash leaves behind
trap 'rm -rf "$TMPDIR"' EXIT
mkdir -p $folder/found $folder/logs

fuzz() {
  local name=$1 program=$folder/tests/fuzz/fuzz_$1 log=$folder/logs/$1.log dictionary=() found
  case $name in resp | replies | inspect) dictionary=(-dict=tests/fuzz/resp.dict) ;; esac
  mkdir -p "$folder/corpus/$name"
  if "$program" -max_total_time="$seconds" -max_len=1000 -timeout=60 -rss_limit_mb=1500 \
    -malloc_limit_mb=64 -artifact_prefix=$folder/found/ "${dictionary[@]}" \
    "$folder/corpus/$name" "tests/fuzz/corpus/$name" >"$log" 2>&1; then
    echo "fuzz: $name: ok, $(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log") inputs"
    return
  fi
  echo "fuzz: $name: failed; the end of $log:"
  tail -n 40 "$log"
  found=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
  [ -z "$found" ] || echo "fuzz: to repeat it: $program $found"
  return 1
}

passed=0
failed=0
count() { if wait -n; then passed=$((passed + 1)); else failed=$((failed + 1)); fi; }
for name in "$@"; do
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do count; done
  fuzz "$name" &
done
while [ $((passed + failed)) -lt $# ]; do count; done

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
