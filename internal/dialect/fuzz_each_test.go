package dialect_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/dialect"
)

// A fuzz test for the reader of each dialect of the clients that must be
// understood, seeded with the spans that are written in it.

func FuzzOpenInference(f *testing.F) { fuzzReader(f, dialect.OpenInference) }
func FuzzVercelAI(f *testing.F)      { fuzzReader(f, dialect.VercelAI) }
func FuzzOpenLLMetry(f *testing.F)   { fuzzReader(f, dialect.OpenLLMetry) }
func FuzzOTelGenAI(f *testing.F)     { fuzzReader(f, dialect.OTelGenAI) }
func FuzzClaudeCode(f *testing.F)    { fuzzReader(f, dialect.ClaudeCode) }
func FuzzMCP(f *testing.F)           { fuzzReader(f, dialect.MCP) }
func FuzzLogfire(f *testing.F)       { fuzzReader(f, dialect.Logfire) }
func FuzzAnthropicSDK(f *testing.F)  { fuzzReader(f, dialect.AnthropicSDK) }
func FuzzADK(f *testing.F)           { fuzzReader(f, dialect.ADK) }
func FuzzTemporal(f *testing.F)      { fuzzReader(f, dialect.Temporal) }
func FuzzLangSmith(f *testing.F)     { fuzzReader(f, dialect.LangSmith) }
func FuzzToolOnly(f *testing.F)      { fuzzReader(f, dialect.ToolOnly) }
func FuzzExplicit(f *testing.F)      { fuzzReader(f, dialect.Explicit) }
func FuzzGenkit(f *testing.F)        { fuzzReader(f, dialect.Genkit) }
func FuzzLiveKit(f *testing.F)       { fuzzReader(f, dialect.LiveKit) }

// maxReaderSeeds bounds the spans that one test begins with.
const maxReaderSeeds = 60

// fuzzReader: whatever becomes of a span of the dialect, reading it does not
// panic, adds and removes no span, and leaves a span of the same dialect.
func fuzzReader(f *testing.F, d dialect.Dialect) {
	f.Helper()
	for n, pb := range spansOf(f, d) {
		if n < maxReaderSeeds {
			f.Add(pb)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(data)
		if err != nil {
			return
		}
		n := dialect.Normalizer{}
		count := td.SpanCount()
		var st canon.Stated
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					if dialect.Detect(ss.Scope().Name(), span) != d {
						continue
					}
					n.Normalize(ss.Scope().Name(), span, &st)
					if st.Dialect != d.String() {
						t.Fatalf("read as %q, detected as %q", st.Dialect, d)
					}
				}
			}
		}
		if td.SpanCount() != count {
			t.Fatalf("%d spans, were %d", td.SpanCount(), count)
		}
	})
}

// spansOf gives small spans of the real exports, and of those made by hand, that
// are of one dialect, each in a request of its own.
func spansOf(f *testing.F, d dialect.Dialect) (out [][]byte) {
	f.Helper()
	all := captures(f)
	made, err := filepath.Glob("testdata/*.json")
	require.NoError(f, err)
	for _, path := range made {
		data, err := os.ReadFile(path)
		require.NoError(f, err)
		if td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(data); err == nil {
			all[path] = td
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, rs := range all[name].ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					if dialect.Detect(ss.Scope().Name(), span) != d {
						continue
					}
					one := ptrace.NewTraces()
					to := one.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
					to.Scope().SetName(ss.Scope().Name())
					span.CopyTo(to.Spans().AppendEmpty())
					if pb, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(one); err == nil && len(pb) <= maxSpanSeed {
						out = append(out, pb)
					}
				}
			}
		}
	}
	if len(out) == 0 {
		f.Fatalf("no small span of %s is at hand", d)
	}
	return out
}
