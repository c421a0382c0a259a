#!/usr/bin/env bash
# Runs the benchmarks that stand beside the code and prints their medians: scripts/bench-micro.sh [count]
# The raw output is kept in .cache/bench-micro.txt, to be compared with another one by benchstat.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p .cache
mapfile -t packages < <(grep -rl --include='*_test.go' --exclude-dir={node_modules,bin,.cache,peerbench} '^func Benchmark' . | xargs -r -n 1 dirname | sort -u)
if [ ${#packages[@]} -eq 0 ]; then
  echo "no package has a benchmark" >&2
  exit 1
fi
bench() { go test -run '^$' -bench . -benchmem -count "$1" "${@:2}"; }
bench "${1:-6}" "${packages[@]}" | tee .cache/bench-micro.txt
# The comparison with the contrib redaction processor has a module of its own.
(cd internal/redact/peerbench && bench "${1:-6}" .) | tee -a .cache/bench-micro.txt
go tool -modfile=tools/go.mod benchstat .cache/bench-micro.txt
