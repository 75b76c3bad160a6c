#!/usr/bin/env bash
# Builds the workers of the demo and runs it: `make demo` has built everything else before.
#   DEMO_SECONDS   how long it runs; default 10
#   LOCKC_URL      the server to use; default: one of its own, on a free port
set -euo pipefail
cd "$(dirname "$0")/.."
build=$PWD/build
programs=$build/demo
python=$build/venv/bin/python
export PKG_CONFIG_PATH=$build/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PATH=$programs:$build:$PATH

mkdir -p "$programs"
# shellcheck disable=SC2046 # flags are words
"${CC:-cc}" -O2 -o "$programs/worker-c" examples/demo/worker.c $(pkg-config --cflags --libs lockc)
"${CC:-cc}" -O2 -o "$programs/now" examples/demo/now.c
(cd examples/demo && "${GO:-go}" build -o "$programs/worker-go" worker.go)

demo=("$python" examples/demo/demo.py "$programs")
if [ -n "${LOCKC_URL:-}" ]; then
  exec "${demo[@]}"
fi
exec "$python" tests/support/redis_server.py run -- "${demo[@]}"
