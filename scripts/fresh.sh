#!/usr/bin/env bash
# Fails if generated files differ from what their sources give: generates again and compares with what was there.
set -euo pipefail
cd "$(dirname "$0")/.."

before=$(git status --porcelain; git diff)
make --no-print-directory generate
after=$(git status --porcelain; git diff)
if [ "$before" != "$after" ]; then
  git --no-pager diff --stat >&2
  git status --short >&2
  echo "steptrail: generated files are stale: run 'make generate' and commit the result" >&2
  exit 1
fi
