package dialect_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/dialect"
)

// captures reads the real exports that stand beside the repository.
func captures(t testing.TB) map[string]ptrace.Traces {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "captures", "*.json"))
	all := map[string]ptrace.Traces{}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		if strings.HasSuffix(name, ".logs") || name == strings.ToUpper(name) || strings.HasPrefix(name, "synthetic-") {
			continue
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(data)
		require.NoError(t, err)
		all[name] = td
	}
	if len(all) == 0 {
		t.Skip("no captures here")
	}
	return all
}

func normalizeAll(td ptrace.Traces, st *canon.Stated) {
	var n dialect.Normalizer
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				n.Normalize(ss.Scope().Name(), span, st)
			}
		}
	}
}

func copied(td ptrace.Traces) ptrace.Traces {
	out := ptrace.NewTraces()
	td.CopyTo(out)
	return out
}

// maxAllocs is how many allocations a span of a real export costs at most, on
// average over the export.
const maxAllocs = 12

func TestNormalisingARealExportAllocatesLittle(t *testing.T) {
	for name, td := range captures(t) {
		var st canon.Stated
		copying := testing.AllocsPerRun(2, func() { copied(td) })
		both := testing.AllocsPerRun(2, func() { normalizeAll(copied(td), &st) })
		require.LessOrEqual(t, (both-copying)/float64(td.SpanCount()), float64(maxAllocs), "allocations per span of %s", name)
	}
}

// BenchmarkNormalize gives the time per span, the copy of the export included;
// BenchmarkCopy is that copy alone.
func BenchmarkNormalize(b *testing.B) { eachCapture(b, true) }

func BenchmarkCopy(b *testing.B) { eachCapture(b, false) }

func eachCapture(b *testing.B, normalize bool) {
	b.Helper()
	for name, td := range captures(b) {
		b.Run(name, func(b *testing.B) {
			size := (&ptrace.ProtoMarshaler{}).TracesSize(td)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			var st canon.Stated
			for b.Loop() {
				if c := copied(td); normalize {
					normalizeAll(c, &st)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*td.SpanCount()), "ns/span")
			b.ReportMetric(float64(size)/float64(td.SpanCount()), "B/span")
		})
	}
}
