#!/usr/bin/env bash
# Checks the sources: include directions, headers that compile alone, format, types, shell.
#   tools/lint.sh            checks everything, fails if anything is wrong
#   tools/lint.sh --format   formats the sources in place instead
set -uo pipefail
cd "$(dirname "$0")/.." || exit
venv=build/venv/bin
clang_format=clang-format-14 # another version formats otherwise
go=${GO:-go}
jobs=$(nproc)
failures=0

# The files of the project whose names match, but not what is generated.
sources() {
  git ls-files --cached --others --exclude-standard -- "$@" ':!bindings/go/internal/raw' |
    while read -r file; do [ ! -e "$file" ] || echo "$file"; done
}
# lockc.h is laid out by hand: its comments are tables, which clang-format can't keep.
c_files=('*.c' 'bench/*.h' 'tests/capi/*.h')
cxx_files=('*.cc' '*.hpp' '*.h' ':!bench/*.h' ':!tests/capi/*.h' ':!capi/include/lockc/lockc.h')
shell_sources() { sources '*.sh' .ci/run cli/completions/lockc.bash; }
python_folders() { sources '*.py' '*.pyi' | sed 's|/.*||' | sort -u; }

# check NAME TOOL COMMAND...: one line when all is well, the command's output when not.
check() {
  local name=$1 tool=$2 output
  shift 2
  if ! command -v "$tool" >/dev/null; then
    output="$tool is missing; \`make setup\` installs it"
  elif output=$("$@" 2>&1); then
    echo "lint: $name: ok"
    [ -z "$output" ] || echo "$output"
    return
  fi
  echo "lint: $name: failed"
  echo "$output"
  failures=$((failures + 1))
}

# Reads lines "LANGUAGE STANDARD HEADER" and compiles each header as the only one of a file.
compile_headers() {
  # shellcheck disable=SC2016 # the inner shell expands its own arguments
  xargs -P "$jobs" -L 1 sh -c 'echo "#include \"$PWD/$2\"" |
    gcc -fsyntax-only -Wall -Wextra -Wpedantic -Werror -Icapi/include -Icore -Icapi -x $0 -std=$1 -'
}
check_headers() {
  local standard
  {
    for standard in c11 c17; do echo "c $standard capi/include/lockc/lockc.h"; done
    for standard in c++17 c++20; do
      sources 'capi/include/*.h' 'capi/include/*.hpp' | sed "s/^/c++ $standard /"
    done
    sources 'core/*.h' 'capi/*.h' ':!capi/include' | sed 's/^/c++ c++20 /'
  } | compile_headers
}
# format_c_and_cxx OPTION...: clang-format over all files of both languages.
format_c_and_cxx() {
  local status=0
  sources "${c_files[@]}" | xargs -r $clang_format --style=file:tools/c.clang-format "$@" || status=1
  sources "${cxx_files[@]}" | xargs -r $clang_format "$@" || status=1
  return $status
}
check_shell() { shell_sources | xargs -r shellcheck; }
# Docstrings are demanded only where users of the package read them.
check_ruff() {
  local status=0
  $venv/ruff check --quiet bindings || status=1
  python_folders | grep -v '^bindings$' | xargs -r $venv/ruff check --quiet --extend-ignore D1 || status=1
  return $status
}
check_ruff_format() { python_folders | xargs -r $venv/ruff format --quiet --check; }
check_gofmt() {
  local unformatted
  unformatted=$(sources '*.go' | xargs -r gofmt -l)
  echo -n "$unformatted"
  [ -z "$unformatted" ]
}
check_vet() {
  local tree=$PWD
  cd bindings/go && PKG_CONFIG_PATH=$tree/build/pkgconfig "$go" vet ./...
}

if [ "${1:-}" = --format ]; then
  format_c_and_cxx -i
  python_folders | xargs -r $venv/ruff format --quiet
  sources '*.go' | xargs -r gofmt -w
  exit
fi
check includes python3 python3 tools/lint_includes.py
check headers gcc check_headers
check clang-format $clang_format format_c_and_cxx --dry-run --Werror
check shellcheck shellcheck check_shell
check ruff $venv/ruff check_ruff
check "ruff format" $venv/ruff check_ruff_format
check mypy $venv/mypy $venv/mypy --strict bindings/python/lockc
check gofmt gofmt check_gofmt
check "go vet" "$go" check_vet
check "generated go" swig bindings/go/generate.sh --check
[ "$failures" -eq 0 ] || { echo "lint: $failures checks failed" >&2; exit 1; }
