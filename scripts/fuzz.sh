#!/usr/bin/env bash
# Runs fuzz tests, one after the other, each for the time given: scripts/fuzz.sh [10s [PACKAGE NAME]], without a name
# every one of the module.
set -euo pipefail
cd "$(dirname "$0")/.."

# fuzz TIME PACKAGE NAME: fails on what it finds, and not where Go takes the end of the time itself for a failure
# (go.dev/issue/75804, until Go 1.27): then there is that one message, and no input.
fuzz() {
  local out status=0
  out=$(mktemp)
  echo "== $2 $3"
  go test -run '^$' -fuzz "^$3\$" -fuzztime "$1" -fuzzminimizetime 100x "$2" 2>&1 | tee "$out" || status=$?
  if [ "$status" != 0 ] && grep -qx ' *context deadline exceeded' "$out" && ! grep -qE 'Failing input|panic:|_test\.go:|hung or terminated' "$out"; then
    echo "the time was over while an input ran; nothing was found"
    status=0
  fi
  rm -f "$out"
  return "$status"
}

if [ $# -gt 1 ]; then
  fuzz "$@"
  exit
fi
found=0
while IFS=: read -r file name; do
  found=$((found + 1))
  fuzz "${1:-10s}" "$(dirname "$file")" "$name"
done < <(grep -ro --include='*_test.go' --exclude-dir={node_modules,bin,.cache} '^func Fuzz[A-Za-z0-9_]*' . | sed 's/func //' | sort)
echo "fuzzed $found tests, ${1:-10s} each"
