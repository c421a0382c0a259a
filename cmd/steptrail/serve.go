package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// shutdownLimit bounds the time from SIGTERM to the end of the process. What has not been drained by then stays in the
// queue on disk and is sent after the next start.
const shutdownLimit = 30 * time.Second

// serveCommand makes otelcol's root command our serve.
func serveCommand(cmd *cobra.Command) *cobra.Command {
	cmd.Use = "serve"
	cmd.Short = "Run the collector: take spans in, keep them, answer questions about them"
	cmd.Long = `Run the collector. Without --config it runs the built-in all-in-one config: OTLP in, the embedded ClickHouse (or the
server that STEPTRAIL_CLICKHOUSE_DSN names), the query API, all on loopback.

The built-in config reads these variables:
  STEPTRAIL_OTLP_GRPC_ENDPOINT  where OTLP/gRPC is taken in (127.0.0.1:4317)
  STEPTRAIL_OTLP_HTTP_ENDPOINT  where OTLP/HTTP is taken in (127.0.0.1:4318)
  STEPTRAIL_QUERY_ENDPOINT      the query API (127.0.0.1:8686)
  STEPTRAIL_HEALTH_ENDPOINT     health_check on a port of its own (any free port)
  STEPTRAIL_TELEMETRY_PORT      the collector's own metrics, on loopback (8888)
  STEPTRAIL_DATA_DIR            queue, embedded database, made keys (./steptrail-data)
  STEPTRAIL_CLICKHOUSE_DSN      "embedded", or clickhouse://host:9000/database (embedded)
  STEPTRAIL_POLICY_FILE         the policy (the demo policy that comes with the program)
  STEPTRAIL_REDACTION_KEY       key of the pseudonyms, read by the policy
  STEPTRAIL_INSECURE            true: listen beyond loopback without tokens (false)

SIGTERM and SIGINT drain what is in memory and end the process within 30 seconds with status 0; what the store has not
taken by then stays in the queue on disk. A second signal ends it at once.

Exit status: 0 after a clean shutdown, 1 on failure, 2 on wrong usage.`
	cmd.Example = `  steptrail serve
  STEPTRAIL_CLICKHOUSE_DSN=clickhouse://localhost:9000/steptrail steptrail serve
  steptrail serve --config builtin:all-in-one --config mine.yaml
  steptrail serve --set extensions.agentstorage.engine.max_memory_mib=4096`
	cmd.Version = "" // the root has --version
	cmd.Args = noArgs
	defaultToBuiltin(cmd)
	serve := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		defer boundShutdown(shutdownLimit)()
		return serve(cmd, args)
	}
	return cmd
}

// boundShutdown ends the process with status 1 if it still runs limit after the first SIGTERM or SIGINT, or when a
// second one comes: otelcol waits for its components without end and takes no notice of further signals. The function
// returned calls it off.
func boundShutdown(limit time.Duration) (cancel func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	done := make(chan struct{})
	go func() { // ends when cancel closes done, or with the process
		select {
		case <-done:
			return
		case <-signals:
		}
		timer := time.NewTimer(limit)
		defer timer.Stop()
		select {
		case <-done:
			return
		case <-signals:
			fmt.Fprintln(os.Stderr, "steptrail: second signal, stopped without draining")
		case <-timer.C:
			fmt.Fprintf(os.Stderr, "steptrail: shutdown took longer than %s, stopped\n", limit)
		}
		os.Exit(exitFailure)
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}
