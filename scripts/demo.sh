#!/usr/bin/env bash
# The worked example, live: starts Steptrail on an empty data folder, lets a support agent play its story (a refund whose
# answer is lost, once naive, once designed), prints both histories and what was found, and stays up until interrupted.
#
# The STEPTRAIL_ variables choose other addresses. STEPTRAIL_DEMO_EXIT=1 ends it after printing.
set -euo pipefail
cd "$(dirname "$0")/.."

export STEPTRAIL_DATA_DIR=${STEPTRAIL_DATA_DIR:-$PWD/.cache/demo-data}
export STEPTRAIL_OTLP_GRPC_ENDPOINT=${STEPTRAIL_OTLP_GRPC_ENDPOINT:-127.0.0.1:4317}
export STEPTRAIL_OTLP_HTTP_ENDPOINT=${STEPTRAIL_OTLP_HTTP_ENDPOINT:-127.0.0.1:4318}
export STEPTRAIL_QUERY_ENDPOINT=${STEPTRAIL_QUERY_ENDPOINT:-127.0.0.1:8686}

steptrail=bin/steptrail
agent=bin/support-agent
log=$STEPTRAIL_DATA_DIR/steptrail.log

if [ -e "$STEPTRAIL_DATA_DIR" ] && [ ! -e "$STEPTRAIL_DATA_DIR/demo" ]; then
  echo "demo: $STEPTRAIL_DATA_DIR is there and was not made by the demo; name another folder in STEPTRAIL_DATA_DIR" >&2
  exit 1
fi
# A running demo holds the lock of its engine: its data stays.
if [ -e "$STEPTRAIL_DATA_DIR/engine/lock" ] && ! flock --nonblock "$STEPTRAIL_DATA_DIR/engine/lock" true; then
  echo "demo: a Steptrail runs on $STEPTRAIL_DATA_DIR; stop it (Ctrl-C where it was started), or name another folder in STEPTRAIL_DATA_DIR" >&2
  exit 1
fi
rm -rf "$STEPTRAIL_DATA_DIR"
mkdir -p "$STEPTRAIL_DATA_DIR"
touch "$STEPTRAIL_DATA_DIR/demo"

"$steptrail" serve >"$log" 2>&1 &
server=$!
stop() {
  kill -TERM "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
}
trap stop EXIT
trap 'exit 0' INT TERM

# wait_for TRIES COMMAND...: until it succeeds, twice a second, as long as the server lives.
wait_for() {
  local tries=$1
  shift
  for ((i = 0; i < tries; i++)); do
    if "$@" >/dev/null 2>&1; then return 0; fi
    if ! kill -0 "$server" 2>/dev/null; then break; fi
    sleep 0.5
  done
  echo "demo: gave up; the end of $log:" >&2
  tail -n 20 "$log" >&2
  return 1
}
found() { "$steptrail" findings --run-id "$1" --kind "$2" --json | grep -q "\"status\":\"$3\""; }

wait_for 240 "$steptrail" runs
story=$(date -u +%Y%m%d-%H%M%S)
"$agent" -endpoint "http://$STEPTRAIL_OTLP_HTTP_ENDPOINT" -run "$story"
wait_for 120 found "naive-$story" outcome.unsafe_retry open
wait_for 120 found "designed-$story" outcome.unknown resolved

for run in naive designed; do
  printf '\n'
  "$steptrail" run "$run-$story"
done

# What is printed is to be typed in another terminal, where the variables are not set.
at=
if [ "$STEPTRAIL_QUERY_ENDPOINT" != 127.0.0.1:8686 ]; then at=" --api $STEPTRAIL_QUERY_ENDPOINT"; fi

cat <<MESSAGE

Steptrail is up. Send it spans, and ask it:
  OTLP/HTTP   http://$STEPTRAIL_OTLP_HTTP_ENDPOINT    OTLP/gRPC   $STEPTRAIL_OTLP_GRPC_ENDPOINT
  API         http://$STEPTRAIL_QUERY_ENDPOINT/api/v1/runs
  terminal    $steptrail runs$at; $steptrail run naive-$story$at; $steptrail findings$at
Data and log are in $STEPTRAIL_DATA_DIR. Ctrl-C stops it.
MESSAGE
if [ -z "${STEPTRAIL_DEMO_EXIT:-}" ]; then
  wait "$server"
fi
