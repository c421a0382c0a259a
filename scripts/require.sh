#!/usr/bin/env bash
# Makes sure that the named tools are there: scripts/require.sh [--try] TOOL...   (go, npm, cc, git, make, prometheus)
#
# A missing Debian package is installed where this is allowed (root, apt-get); elsewhere the command that installs it is
# named and the exit status is 1; with --try it is 0, and the tests that need the tool are skipped. Go itself is never installed: its version is a choice of the machine's owner.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()     # Debian packages to install
problems=()    # what this script cannot mend

# go: at least the version that go.mod asks for.
check_go() {
  local want have
  want=$(awk '$1 == "go" {print $2; exit}' go.mod)
  if ! command -v go >/dev/null; then
    problems+=("Go $want or newer is not installed: see https://go.dev/doc/install")
    return
  fi
  # Outside the module, so that an old Go can answer.
  have=$(cd / && go env GOVERSION)
  have=${have#go}
  if [ "$(printf '%s\n' "$want" "${have%% *}" | sort -V | head -n 1)" != "$want" ] && [ "$(go env GOTOOLCHAIN)" = local ]; then
    problems+=("Go $have is too old, $want or newer is needed: see https://go.dev/doc/install")
  fi
}

try=
if [ "${1:-}" = --try ]; then
  try=1
  shift
fi

for tool in "$@"; do
  case $tool in
    go) check_go ;;
    npm) command -v npm >/dev/null || missing+=(npm) ;;
    git) command -v git >/dev/null || missing+=(git) ;;
    make) command -v make >/dev/null || missing+=(make) ;;
    cc) # the race detector needs a C compiler and the C library's headers
      command -v gcc >/dev/null || missing+=(gcc)
      echo '#include <stdlib.h>' | gcc -E - >/dev/null 2>&1 || missing+=(libc6-dev) ;;
    prometheus) # the alerts' tests: promtool, amtool, and both servers for the black-box test
      command -v promtool >/dev/null && command -v prometheus >/dev/null || missing+=(prometheus)
      command -v amtool >/dev/null || missing+=(prometheus-alertmanager) ;;
    *) problems+=("scripts/require.sh does not know the tool \"$tool\"") ;;
  esac
done

if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing ${missing[*]}" >&2
    if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >&2; then
      problems+=("could not install ${missing[*]}")
    fi
  else
    problems+=("missing Debian packages; install them with: sudo apt-get install -y ${missing[*]}")
  fi
fi

if [ ${#problems[@]} -gt 0 ]; then
  printf 'steptrail: %s\n' "${problems[@]}" >&2
  [ -n "$try" ] || exit 1
fi
