#!/usr/bin/env bash
# Runs every fuzz test of the module, one after the other, each for the time given: scripts/fuzz.sh [10s]
set -euo pipefail
cd "$(dirname "$0")/.."

found=0
while IFS=: read -r file name; do
  found=$((found + 1))
  echo "== $(dirname "$file") $name"
  go test -run '^$' -fuzz "^$name\$" -fuzztime "${1:-10s}" -fuzzminimizetime 100x "$(dirname "$file")"
done < <(grep -ro --include='*_test.go' --exclude-dir={node_modules,bin,.cache} '^func Fuzz[A-Za-z0-9_]*' . | sed 's/func //' | sort)
echo "fuzzed $found tests, ${1:-10s} each"
