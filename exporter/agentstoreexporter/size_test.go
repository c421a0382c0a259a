package agentstoreexporter

import (
	"bufio"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/steptrail/steptrail/internal/engine/enginetest"
	"github.com/steptrail/steptrail/internal/policyfile"
	"github.com/steptrail/steptrail/internal/store"
	"github.com/steptrail/steptrail/internal/sweep"
	"github.com/steptrail/steptrail/processor/agentstepprocessor"
)

// maxTauBytes is what 100 real runs of 1,901 spans with their whole contexts,
// 19 MB as OTLP, may take in all tables together.
const maxTauBytes = 900_000

func TestRealRunsTakeLessThanAMegabyte(t *testing.T) {
	all := readReal(t)
	e := enginetest.Start(t)
	s, err := store.Open(t.Context(), e.Options(), store.Config{Database: e.Database})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.Migrate(t.Context()))

	ex, err := newExporter(exportertest.NewNopSettings(Type), createDefaultConfig().(*Config))
	require.NoError(t, err)
	ex.storage = &fakeStorage{store: s}
	spans := 0
	for _, td := range annotate(t, all) {
		req, err := ex.traces(t.Context(), td)
		require.NoError(t, err)
		spans += req.ItemsCount()
		require.NoError(t, ex.push(t.Context(), req))
	}
	require.Equal(t, 1901, spans)
	p, err := policyfile.LoadKeyless(policyfile.Demo)
	require.NoError(t, err)
	now := time.Now()
	_, err = sweep.New(s, p, sweep.Config{}).Range(t.Context(), now.Add(-time.Hour), now.Add(time.Minute), now.Add(time.Hour))
	require.NoError(t, err)

	conn := e.Conn()
	total := uint64(0)
	for _, table := range tables {
		require.NoError(t, conn.Exec(t.Context(), "OPTIMIZE TABLE "+table+" FINAL"))
		var bytes, rows, parts uint64
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT sum(bytes_on_disk), sum(rows), count() FROM system.parts WHERE active AND database = '"+
			e.Database+"' AND table = '"+table+"'").Scan(&bytes, &rows, &parts))
		t.Logf("%-14s %8d bytes %6d rows %2d parts", table, bytes, rows, parts)
		total += bytes
	}
	t.Logf("%-14s %8d bytes", "together", total)
	require.LessOrEqual(t, total, uint64(maxTauBytes))
}

var tables = []string{
	"steps", "messages", "message_facts", "unit_keys", "log_content", "run_links", "run_changes",
	"attempts", "acts", "runs", "findings", "resolutions", "holds", "erasures", "access_log",
}

// annotate sends telemetry through the processor with the shipped policy.
func annotate(t *testing.T, all []ptrace.Traces) []ptrace.Traces {
	t.Helper()
	return annotateWith(t, all, policyfile.Demo)
}

// annotateWith sends copies of telemetry through the processor with a policy.
func annotateWith(t *testing.T, all []ptrace.Traces, policyFile string) []ptrace.Traces {
	t.Helper()
	f := agentstepprocessor.NewFactory()
	cfg := f.CreateDefaultConfig().(*agentstepprocessor.Config)
	cfg.PolicyFile, cfg.DataDir = policyFile, t.TempDir()
	sink := new(consumertest.TracesSink)
	p, err := f.CreateTraces(t.Context(), processortest.NewNopSettings(f.Type()), cfg, sink)
	require.NoError(t, err)
	require.NoError(t, p.Start(t.Context(), componenttest.NewNopHost()))
	for _, td := range all {
		one := ptrace.NewTraces()
		td.CopyTo(one)
		require.NoError(t, p.ConsumeTraces(t.Context(), one))
	}
	require.NoError(t, p.(component.Component).Shutdown(t.Context()))
	return sink.AllTraces()
}

// readReal reads the recorded runs and moves them to end now.
func readReal(t *testing.T) []ptrace.Traces {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "real", "tau-bench-airline-0-99.otlp.jsonl.gz")
	file, err := os.Open(path)
	if err != nil {
		t.Skipf("the recorded runs are not here: %v", err)
	}
	defer func() { _ = file.Close() }()
	unpacked, err := gzip.NewReader(file)
	require.NoError(t, err)
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 64<<20)
	var all []ptrace.Traces
	var last pcommon.Timestamp
	for lines.Scan() {
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(lines.Bytes())
		require.NoError(t, err)
		eachSpan(td, func(span ptrace.Span) { last = max(last, span.EndTimestamp()) })
		all = append(all, td)
	}
	require.NoError(t, lines.Err())
	shift := pcommon.NewTimestampFromTime(time.Now()) - last
	for _, td := range all {
		eachSpan(td, func(span ptrace.Span) {
			span.SetStartTimestamp(span.StartTimestamp() + shift)
			span.SetEndTimestamp(span.EndTimestamp() + shift)
		})
	}
	return all
}

func eachSpan(td ptrace.Traces, f func(ptrace.Span)) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				f(span)
			}
		}
	}
}
