#!/usr/bin/env bash
# Runs the contention tests at their full numbers, and the Go tests of races many times over, on what
# `make stress` has built. About 15 minutes on two cores. Ends with "stress: passed" or "stress: failed".
set -uo pipefail
cd "$(dirname "$0")/.." || exit
python=$PWD/build/venv/bin/python
go=${GO:-go}
export PKG_CONFIG_PATH=$PWD/build/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PYTHONDONTWRITEBYTECODE=1
status=0

# step NAME COMMAND...
step() {
  local start=$SECONDS
  echo "stress: $1"
  shift
  timeout --kill-after=10 900 "$@" || status=1
  echo "stress: $((SECONDS - start)) s"
}
# go_tests OPTION...: with a server of their own
go_tests() {
  env --chdir=bindings/go "$python" ../../tests/support/redis_server.py run -- \
    "$go" test -count=1 "$@" .
}
# Go tells cgo's checks by another variable since 1.21.
cgo_checks() {
  case $("$go" env GOVERSION) in
    go1.19* | go1.20*) GODEBUG=cgocheck=2 go_tests ;;
    *) GOEXPERIMENT=cgocheck2 go_tests ;;
  esac
}
export -f go_tests cgo_checks
export python go

step "contention" env LOCKC_SCALE=full "$python" -m pytest -p no:cacheprovider -q --durations=10 \
  tests/contention
step "go: cancel races with the grant" bash -c \
  'go_tests -race -count=20 -run "CancelledAsItIsGranted|CancelledWhileWaiting"'
step "go: close amid use and collection" env GOGC=1 bash -c \
  'go_tests -race -count=5 -run "^TestClose_|^TestDo_Panic|^TestLock_Dropped"'
step "go: many waiters" bash -c 'go_tests -count=3 -run "^TestWaiting_|^TestRelease_Many"'
step "go: signals" bash -c 'go_tests -count=3 -run "^TestSignals_"'
step "go: all tests under cgo's checks" bash -c cgo_checks

[ $status -eq 0 ] && echo "stress: passed" || echo "stress: failed"
exit $status
