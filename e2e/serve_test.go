package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
)

func TestServeIsReadyAndEndsOnSIGTERM(t *testing.T) {
	RequireEngine(t)
	in := Start(t, Options{})
	status, _, err := in.get(t.Context(), "/healthz", "")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	_, found, err := in.Metric(t.Context(), "otelcol_process_uptime_seconds_total", nil)
	require.NoError(t, err)
	require.True(t, found, "the collector's own metrics are served")

	engine, err := in.EnginePID()
	require.NoError(t, err)
	t.Logf("stopped in %s", in.Stop())
	require.False(t, Alive(engine), "the engine ends with the program")
}

func TestSecondOwnerOfADataFolderIsRefused(t *testing.T) {
	RequireEngine(t)
	in := Start(t, Options{})
	addresses := freeAddresses(t, 3)
	cmd := exec.CommandContext(t.Context(), Binary(t), "serve")
	cmd.Env = append(cleanEnvironment(), "STEPTRAIL_DATA_DIR="+in.DataDir, "STEPTRAIL_OTLP_GRPC_ENDPOINT="+addresses[0],
		"STEPTRAIL_OTLP_HTTP_ENDPOINT="+addresses[1], "STEPTRAIL_QUERY_ENDPOINT="+addresses[2], "STEPTRAIL_TELEMETRY_PORT=0")
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "a second process on one data folder must not run")
	require.Equal(t, 1, cmd.ProcessState.ExitCode())
	last := lastLine(string(out))
	require.True(t, strings.HasPrefix(last, "steptrail: "), "the last line says why: %s", last)
	require.Contains(t, last, fmt.Sprint(in.PID()), "and who holds the folder")
}

func TestEveryTransportBringsARunIntoTheAPI(t *testing.T) {
	RequireEngine(t)
	in := Start(t, Options{})
	start := time.Now().Add(-time.Minute)
	send := map[string]func(ctx context.Context, request ptraceotlp.ExportRequest) error{
		"protobuf over HTTP": in.PostTraces,
		"protobuf over HTTP with gzip": func(ctx context.Context, request ptraceotlp.ExportRequest) error {
			body, err := request.MarshalProto()
			return postOK(ctx, in, Request{Path: TracesPath, ContentType: Protobuf, Gzip: true, Body: body}, err)
		},
		"JSON over HTTP": func(ctx context.Context, request ptraceotlp.ExportRequest) error {
			body, err := request.MarshalJSON()
			return postOK(ctx, in, Request{Path: TracesPath, ContentType: JSON, Body: body}, err)
		},
		"JSON over HTTP with gzip": func(ctx context.Context, request ptraceotlp.ExportRequest) error {
			body, err := request.MarshalJSON()
			return postOK(ctx, in, Request{Path: TracesPath, ContentType: JSON, Gzip: true, Body: body}, err)
		},
		"gRPC": func(ctx context.Context, request ptraceotlp.ExportRequest) error {
			return exportGRPC(ctx, in, request)
		},
		"gRPC with gzip": func(ctx context.Context, request ptraceotlp.ExportRequest) error {
			return exportGRPC(ctx, in, request, grpc.UseCompressor(gzip.Name))
		},
	}
	for name, send := range send {
		t.Run(name, func(t *testing.T) {
			id := "run over " + name
			require.NoError(t, send(t.Context(), ptraceotlp.NewExportRequestFromTraces(agentRun(id, 4, start))))
			Eventually(t, limit, func() error {
				runs, err := Collect[run](t.Context(), in, "/runs?trace="+traceID(id).String(), "runs")
				if err != nil {
					return err
				}
				if len(runs) != 1 || runs[0].RunID != id || runs[0].Spans != 5 {
					return fmt.Errorf("want the run %q with 5 spans, got %+v", id, runs)
				}
				if think, read := runs[0].Counts["think"].Attempts, runs[0].Counts["read"].Attempts; think != 2 || read != 2 {
					return fmt.Errorf("want 2 model calls and 2 reads, got %d and %d", think, read)
				}
				return nil
			})
		})
	}
}

func TestLogRecordsAreTaken(t *testing.T) {
	RequireEngine(t)
	in := Start(t, Options{})
	logs := plog.NewLogs()
	record := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	record.SetTraceID(traceID("log"))
	record.SetSpanID(spanID("log", 1))
	record.SetEventName("gen_ai.user.message")
	record.Body().SetEmptyMap().PutStr("content", "hello")
	require.NoError(t, in.PostLogs(t.Context(), plogotlp.NewExportRequestFromLogs(logs)))
}

func postOK(ctx context.Context, in *Instance, r Request, err error) error {
	if err != nil {
		return err
	}
	status, answer, err := in.Post(ctx, r)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("%s says %d: %s", r.Path, status, answer)
	}
	return nil
}

func exportGRPC(ctx context.Context, in *Instance, request ptraceotlp.ExportRequest, opts ...grpc.CallOption) error {
	conn, err := grpc.NewClient(in.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = ptraceotlp.NewGRPCClient(conn).Export(ctx, request, opts...)
	return err
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
