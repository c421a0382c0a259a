package dialect_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/dialect"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with a file, or writes the file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "write it with -update")
	require.Equal(t, string(want), got, "%s: compare, then write it anew with -update", path)
}

// describe says in a few lines what became of a span.
func describe(b *strings.Builder, span ptrace.Span, st *canon.Stated) {
	fmt.Fprintf(b, "%s\n  dialect=%s op=%s kind=%s/%s", span.Name(), st.Dialect, st.Op, st.Kind, st.KindSource)
	for _, f := range []struct{ name, value string }{
		{"run", st.DialectRun}, {"step", st.DialectStep}, {"checkpoint", st.Checkpoint}, {"handoff", st.HandoffTo}, {"effect", st.Effect.String()},
	} {
		if f.value != "" {
			fmt.Fprintf(b, " %s=%s", f.name, f.value)
		}
	}
	marks(b, span, st)
	if m := span.Status().Message(); m != "" {
		fmt.Fprintf(b, " status=%q", m)
	}
	b.WriteByte('\n')
	attributes(b, span.Attributes())
	for _, ev := range span.Events().All() {
		fmt.Fprintf(b, "  event %s\n", ev.Name())
	}
}

// marks writes what else the dialect told, where it told it.
func marks(b *strings.Builder, span ptrace.Span, st *canon.Stated) {
	for _, f := range []struct {
		name string
		on   bool
	}{
		{"refused", st.Refused},
		{"deferred", st.Deferred},
		{"result_error", st.ResultError},
		{"output_function", st.OutputFunction},
		{"error", span.Status().Code() == ptrace.StatusCodeError},
		{"no_exception", st.NoException},
		{"failed", st.Failed},
		{"cut_off", !st.Ended},
	} {
		if f.on {
			b.WriteString(" " + f.name)
		}
	}
	for _, w := range st.Words {
		fmt.Fprintf(b, " says=%s:%s", w.ID, w.Sign)
		if w.Outside {
			b.WriteString(":outside")
		}
	}
	if st.Open != agent.SignNone {
		fmt.Fprintf(b, " open=%s", st.Open)
	}
	if st.Attempts != 0 {
		fmt.Fprintf(b, " attempts=%d", st.Attempts)
	}
}

func attributes(b *strings.Builder, m pcommon.Map) {
	var lines []string
	for k, v := range m.All() {
		lines = append(lines, fmt.Sprintf("    %s = %s", k, cut(string(canon.AppendJSON(nil, v)))))
	}
	slices.Sort(lines)
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
}

func cut(s string) string {
	if len(s) > 300 {
		return fmt.Sprintf("%s… (%d bytes)", canon.Cut(s, 300), len(s))
	}
	return s
}

func normalized(t *testing.T, data []byte) string {
	t.Helper()
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(data)
	require.NoError(t, err)
	n := dialect.Normalizer{RunIDKeys: []string{"ai.telemetry.metadata.runId"}}
	var b strings.Builder
	var st canon.Stated
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				n.Normalize(ss.Scope().Name(), span, &st)
				describe(&b, span, &st)
			}
		}
	}
	return b.String()
}

func normalizedLogs(t *testing.T, data []byte) string {
	t.Helper()
	ld, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(data)
	require.NoError(t, err)
	kinds := []string{"other", "message", "call"}
	var b strings.Builder
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				kind := dialect.NormalizeLog(lr)
				fmt.Fprintf(&b, "%s of %s\n", kinds[kind], lr.SpanID())
				attributes(&b, lr.Attributes())
				if lr.Body().Type() != pcommon.ValueTypeEmpty {
					fmt.Fprintf(&b, "    body = %s\n", cut(string(canon.AppendJSON(nil, lr.Body()))))
				}
			}
		}
	}
	return b.String()
}

// Each testdata/NAME.json holds spans by hand, NAME.logs.json log records;
// NAME.golden says what becomes of them.
func TestSpansByHandBecomeCanonical(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			got := ""
			if strings.HasSuffix(name, ".logs") {
				got = normalizedLogs(t, data)
			} else {
				got = normalized(t, data)
			}
			golden(t, filepath.Join("testdata", name+".golden"), got)
		})
	}
}

// Real exports stand beside the repository; what must become of some of them
// stands in testdata/captures.
func TestCapturesBecomeCanonical(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "shared", "captures")
	for _, name := range []string{
		"otel-genai-human-gate", "otel-genai-tool-error", "otel-http-retry-same-idempotency-key",
		"otel-openai-undici-no-tool-spans-duplicate-refund", "otel-openai-undici-no-tool-spans-duplicate-refund.logs",
		"py-otelgenai-httpx-old-names-llm-retry", "py-otelgenai-httpx-retry-inside-tool-same-key", "py-otelgenai-openai-stream-parallel.logs",
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(folder, name+".json"))
			if err != nil {
				t.Skipf("not here: %s", name)
			}
			got := ""
			if strings.HasSuffix(name, ".logs") {
				got = normalizedLogs(t, data)
			} else {
				got = normalized(t, data)
			}
			golden(t, filepath.Join("testdata", "captures", name+".golden"), got)
		})
	}
}
