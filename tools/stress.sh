#!/usr/bin/env bash
# Runs the contention and integration tests at their full numbers, and the Go tests of races many times
# over, on what `make stress` has built. About ten minutes on two cores. Ends with "stress: passed" or "stress: failed".
set -uo pipefail
cd "$(dirname "$0")/.." || exit
python=$PWD/build/venv/bin/python
go=${GO:-go}
export PKG_CONFIG_PATH=$PWD/build/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PYTHONDONTWRITEBYTECODE=1
status=0

# step NAME COMMAND...
step() {
  local start=$SECONDS outcome=passed
  echo "stress: $1"
  timeout --kill-after=10 900 "${@:2}" || outcome=failed
  echo "stress: $1: $outcome ($((SECONDS - start)) s)"
  [ $outcome = passed ] || status=1
}
# step_go NAME OPTION...: go test, with a server of its own
step_go() {
  step "go: $1" env --chdir=bindings/go "$python" ../../tests/support/redis_server.py run -- \
    "$go" test -count=1 "${@:2}" .
}

export LOCKC_SCALE=full
for suite in contention integration; do
  step $suite "$python" -m pytest -p no:cacheprovider -q --durations=10 tests/$suite
done
step_go "cancel while waiting and as it is granted" -race -run '^TestAcquire_Cancelled'
GOGC=1 step_go "close amid use and collection" -race -count=5 \
  -run '^TestClose_|^TestDo_Panic|^TestLock_Dropped'
step_go "many waiters" -count=3 -run '^TestWaiting_|^TestRelease_Many'
step_go "signals" -count=3 -run '^TestSignals_'
case $("$go" env GOVERSION) in # cgo's checks go by another variable since 1.21
  go1.19* | go1.20*) GODEBUG=cgocheck=2 step_go "cgo's checks" ;;
  *) GOEXPERIMENT=cgocheck2 step_go "cgo's checks" ;;
esac

[ $status -eq 0 ] && echo "stress: passed" || echo "stress: failed"
exit $status
