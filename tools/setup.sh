#!/usr/bin/env bash
# Installs what the project needs and what isn't there yet: system packages by apt-get, Python tools
# into build/venv. Does nothing, quickly, when all is there.
#   tools/setup.sh [build] [bindings] [test] [fuzz] [lint] [bench] [rivals]     without arguments:
#   all but rivals, which are what other libraries of `make bench` need
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A packages=(
  [build]="g++ cmake make pkg-config libhiredis-dev nlohmann-json3-dev"
  [bindings]="golang-go python3-dev python3-venv redis-server"
  [test]="libcmocka-dev libgmock-dev libgtest-dev liblua5.1-0-dev postgresql valgrind zsh"
  [fuzz]="clang-14 libclang-rt-14-dev"
  [bench]="libbenchmark-dev"
  [rivals]="default-jdk-headless maven nodejs npm"
  [lint]="abigail-tools clang-format-14 clang-tidy-14 shellcheck swig"
)
[ $# -gt 0 ] || set -- build bindings test fuzz lint bench

say() { echo "setup: $*"; }
fail() { say "$*" >&2; exit 1; }

# $1 as something else than the Debian package of that name, good enough for us.
have_otherwise() {
  local minor
  case $1 in
    golang-go)
      minor=$(go env GOVERSION 2>/dev/null | sed -n 's/^go1\.\([0-9]*\).*/\1/p')
      [ "${minor:-0}" -ge 19 ] ;;
    cmake | make | npm | pkg-config | shellcheck | swig) command -v "$1" >/dev/null ;;
    default-jdk-headless) command -v javac >/dev/null ;;
    maven) command -v mvn >/dev/null ;;
    nodejs) command -v node >/dev/null ;;
    postgresql) compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null ;;
    redis-server) [ -x "${LOCKC_REDIS_SERVER:-}" ] || command -v redis-server >/dev/null ;;
    *) return 1 ;;
  esac
}

missing_packages() {
  local installed package
  installed=" $(dpkg-query -W -f '${db:Status-Status}=${Package} ' "$@" 2>/dev/null || true) "
  for package in "$@"; do
    [[ $installed == *" installed=$package "* ]] || have_otherwise "$package" || echo "$package"
  done
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    command -v sudo >/dev/null || fail "root or sudo is needed for: $*"
    sudo "$@"
  fi
}

# Debian starts a server as soon as its package is installed. Ours are started by the tests, on
# ports of their own; nobody asked for one on the default port.
forbid_services() {
  [ ! -e /usr/sbin/policy-rc.d ] || return 0
  trap 'as_root rm -f /usr/sbin/policy-rc.d' EXIT
  printf '#!/bin/sh\nexit 101\n' | as_root tee /usr/sbin/policy-rc.d >/dev/null
  as_root chmod 755 /usr/sbin/policy-rc.d
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 "$@"
}

install_packages() {
  local log=build/setup.log
  say "installing by apt-get: $*"
  mkdir -p build
  forbid_services
  if ! { apt_get update && apt_get install --no-install-recommends "$@"; } >$log 2>&1; then
    tail -n 15 $log >&2
    fail "apt-get failed; its whole output is in $log"
  fi
  local service
  for service in postgresql redis-server; do
    [[ " $* " == *" $service "* ]] || continue
    as_root update-rc.d $service disable >>$log 2>&1 ||
      say "the service $service may start with the machine; see $log"
  done
}

# A Python that can build extension modules and virtual environments.
find_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} /usr/bin/python3 python3; do
    if "$candidate" - 2>/dev/null <<'END'; then
import ensurepip, os, sys, sysconfig, venv
header = os.path.join(sysconfig.get_paths()["include"], "Python.h")
sys.exit(sys.version_info < (3, 9) or not os.path.exists(header))
END
      echo "$candidate"
      return
    fi
  done
  fail "no Python >= 3.9 with its headers and venv was found"
}

make_venv() {
  local venv=build/venv wanted=tools/requirements.txt python
  if cmp -s $wanted $venv/requirements.txt && $venv/bin/python -c '' 2>/dev/null; then
    return
  fi
  python=$(find_python)
  say "installing into $venv by pip: $(sed -n 's/[~>=<].*//p' $wanted | paste -sd' ')"
  "$python" -m venv $venv
  $venv/bin/python -m pip install --quiet --requirement $wanted
  cp $wanted $venv/requirements.txt
}

wanted=()
for group in "$@"; do
  [ -n "${packages[$group]:-}" ] || fail "there is no group $group; groups: ${!packages[*]}"
  read -ra names <<<"${packages[$group]}"
  wanted+=("${names[@]}")
done
mapfile -t missing < <(missing_packages "${wanted[@]}")
if [ ${#missing[@]} -gt 0 ]; then
  if command -v apt-get >/dev/null; then
    install_packages "${missing[@]}"
  else
    say "no apt-get here; if the build fails, install what these Debian packages hold: ${missing[*]}"
  fi
fi
case " $* " in *" bindings "* | *" test "* | *" lint "*) make_venv ;; esac
