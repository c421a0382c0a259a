package dialect_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/dialect"
)

// The budget of normalising a real export, per span.
const (
	budgetNanoseconds = 3000
	budgetPerByte     = 5 // nanoseconds per byte of the span
	budgetAllocs      = 12
)

// capturesByDialect groups the real exports by the dialect that most of their
// spans with an operation are written in.
func capturesByDialect(t testing.TB) map[string][]ptrace.Traces {
	t.Helper()
	by := map[string][]ptrace.Traces{}
	for _, td := range captures(t) {
		count := map[string]int{}
		var st canon.Stated
		var n dialect.Normalizer
		for _, rs := range copied(td).ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					if n.Normalize(ss.Scope().Name(), span, &st); st.Dialect != "" {
						count[st.Dialect]++
					}
				}
			}
		}
		name := ""
		for d, k := range count {
			if name == "" || k > count[name] || k == count[name] && d < name {
				name = d
			}
		}
		by[name] = append(by[name], td)
	}
	return by
}

// BenchmarkDialect gives, per dialect, what normalising its real exports costs:
// time, bytes and allocations per span, the bytes of a span, and the time as a
// share of the budget of 3 µs and 5 ns a byte.
func BenchmarkDialect(b *testing.B) {
	by := capturesByDialect(b)
	names := make([]string, 0, len(by))
	for name := range by {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b.Run(name, func(b *testing.B) { benchExports(b, by[name]) })
	}
}

// benchExports normalises the exports one after the other, from copies that are
// made while the clock stands.
func benchExports(b *testing.B, exports []ptrace.Traces) {
	b.Helper()
	spans, size := 0, 0
	for _, td := range exports {
		spans += td.SpanCount()
		size += (&ptrace.ProtoMarshaler{}).TracesSize(td)
	}
	// Few enough copies that they are as warm as spans that were just received.
	round := max(1, 1<<18/size)
	var st canon.Stated
	var ready []ptrace.Traces
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if len(ready) < len(exports) {
			b.StopTimer()
			for range round {
				for _, td := range exports {
					ready = append(ready, copied(td))
				}
			}
			b.StartTimer()
		}
		for range exports {
			last := len(ready) - 1
			normalizeAll(ready[last], &st)
			ready[last] = ptrace.Traces{}
			ready = ready[:last]
		}
	}
	perSpan := float64(b.Elapsed().Nanoseconds()) / float64(b.N*spans)
	bytes := float64(size) / float64(spans)
	b.ReportMetric(perSpan, "ns/span")
	b.ReportMetric(bytes, "B/span")
	b.ReportMetric(100*perSpan/(budgetNanoseconds+budgetPerByte*bytes), "%budget")
}

// What a dialect's span costs in allocations does not hang on the machine, so it
// is a test. Time is looked at in the benchmark.
func TestEachDialectKeepsItsBudgetOfAllocations(t *testing.T) {
	for name, exports := range capturesByDialect(t) {
		var st canon.Stated
		spans, allocs := 0, 0.0
		for _, td := range exports {
			copying := testing.AllocsPerRun(2, func() { copied(td) })
			allocs += testing.AllocsPerRun(2, func() { normalizeAll(copied(td), &st) }) - copying
			spans += td.SpanCount()
		}
		if perSpan := allocs / float64(spans); perSpan > budgetAllocs {
			t.Errorf("%s: %.1f allocations per span, not %d", name, perSpan, budgetAllocs)
		}
	}
}

// BenchmarkDetect tells the first dialect of the order, one in its middle and the
// last ones on spans of one size: the order costs nothing.
func BenchmarkDetect(b *testing.B) {
	for _, c := range []struct{ name, scope, mark string }{
		{"first", "", "span.type"},
		{"claude_code", "com.anthropic.claude_code.tracing", "x"},
		{"openinference", "", "openinference.span.kind"},
		{"otel_genai", "", "gen_ai.operation.name"},
		{"mlflow", "", "mlflow.spanType"},
		{"agenttelemetry", "", "agenttelemetry.span.kind"},
		{"rpc", "", "rpc.system"},
		{"none", "", "x"},
	} {
		b.Run(c.name, func(b *testing.B) {
			span := ptrace.NewSpan()
			for i := range 20 {
				span.Attributes().PutStr("app.attribute."+string(rune('a'+i)), "value")
			}
			span.Attributes().PutStr(c.mark, "x")
			b.ReportAllocs()
			for b.Loop() {
				dialect.Detect(c.scope, span)
			}
		})
	}
}

// TestManyAttributesCostNoMoreThanTheirNumber: a span with ten thousand attributes
// is read in one pass.
func TestManyAttributesCostNoMoreThanTheirNumber(t *testing.T) {
	work := func(n int) time.Duration {
		best := time.Hour
		for range 5 {
			raw := map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.system": "x", "tool_arguments": "{}"}
			for i := range n {
				raw["gen_ai.usage.prompt_tokens."+strconv.Itoa(i)] = int64(i)
			}
			span := ptrace.NewSpan()
			require.NoError(t, span.Attributes().FromRaw(raw))
			var st canon.Stated
			var norm dialect.Normalizer
			start := time.Now()
			norm.Normalize("pydantic-ai", span, &st)
			best = min(best, time.Since(start))
		}
		return best
	}
	for try := 1; ; try++ { // on a busy machine one measurement says little; what grows faster fails each
		small, large := work(1000), work(10_000)
		if large <= 60*small+5*time.Millisecond {
			return
		}
		if try == 20 {
			t.Fatalf("%s for 10,000 attributes, %s for 1,000", large, small)
		}
	}
}
