#!/usr/bin/env bash
# Runs the test suites on what `make test` has built and ends with the line "N passed, N failed".
#   tools/test.sh              every suite
#   tools/test.sh build/asan   the C and C++ suites of that build folder only
# A suite that stops before its end, lasts longer than 15 minutes, or runs no test at all counts as one
# failure. The whole output of each is kept in test-logs/ of the build folder.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
build=${1:-build}
logs=$build/test-logs
python=$PWD/build/venv/bin/python
export PKG_CONFIG_PATH=$PWD/build/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PYTHONDONTWRITEBYTECODE=1
passed=0
failed=0
rm -rf "$logs"
mkdir -p "$logs"

# Each of these prints "PASSED FAILED SKIPPED" as told by the log of one kind of test runner.
count_ctest() { # GoogleTest and CMocka close a program with lines of the same form
  awk '/\[  PASSED  \].* tests?(\(s\))?\./ { passed += number($0) }
       /\[  FAILED  \].* tests?(\(s\))?, listed/ { failed += number($0) }
       /\[  SKIPPED \].* tests?(\(s\))?, listed/ { skipped += number($0) }
       /% tests passed, [0-9]+ tests failed out of/ { programs = $4 }
       function number(line) { match(line, /[0-9]+ tests?/); return substr(line, RSTART) + 0 }
       END { print passed + 0, (failed < programs ? programs : failed) + 0, skipped + 0 }' "$1"
}
count_pytest() {
  awk '/ in [0-9.]+s/ { summary = $0 }
       function count(word) {
         return match(summary, "[0-9]+ " word) ? substr(summary, RSTART) + 0 : 0
       }
       END { print count("passed"), count("failed") + count("error"), count("skipped") }' "$1"
}
count_go() {
  awk '/^ *--- / { count[$2]++ }
       END { print count["PASS:"] + 0, count["FAIL:"] + 0, count["SKIP:"] + 0 }' "$1"
}

# What a reader of the console needs of the log of a suite that failed: where it failed, and its end.
show_failures() {
  echo "--- from $1:"
  grep -E -B 8 -A 4 '\[  (FAILED|ERROR)|^(FAILED|ERROR|E  )|: Failure$|^ *--- FAIL|panic:|Sanitizer:' "$1" |
    head -n 120
  echo "--- its end:"
  tail -n 20 "$1"
  echo "---"
}

# run NAME KIND COMMAND...
run() {
  local name=$1 kind=$2 log=$logs/${1//[^a-z]/-}.log start=$SECONDS status=0 good bad skipped
  shift 2
  printf '%-28s ' "$name"
  timeout --kill-after=10 900 "$@" >"$log" 2>&1 || status=$?
  read -r good bad skipped < <("count_$kind" "$log")
  if [ $((good + bad)) -eq 0 ] || { [ $status -ne 0 ] && [ "$bad" -eq 0 ]; }; then
    bad=$((bad + 1))
  fi
  [ "$skipped" -eq 0 ] && skipped='' || skipped=", $skipped skipped"
  echo "$good passed, $bad failed$skipped ($((SECONDS - start)) s)"
  [ "$bad" -eq 0 ] || show_failures "$log"
  passed=$((passed + good))
  failed=$((failed + bad))
}

run "c and c++" ctest ctest --test-dir "$build" --verbose --timeout 300
if [ "$build" = build ]; then
  for folder in tests/*/; do
    folder=${folder%/}
    if compgen -G "$folder/test_*.py" >/dev/null; then
      run "$folder" pytest "$python" -m pytest -p no:cacheprovider -ra "$folder"
    fi
  done
  run bindings/go go env --chdir=bindings/go "$python" ../../tests/support/redis_server.py run -- \
    "${GO:-go}" test -race -count=1 -v ./...
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
