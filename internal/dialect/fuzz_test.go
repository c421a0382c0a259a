package dialect_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/dialect"
)

// maxSeed is the largest file that a fuzz test begins with: mutating a large one
// takes its time from the others.
const maxSeed = 32 << 10

// seeds adds the files of a folder to a fuzz test, as protobuf.
func seeds(f *testing.F, pattern string, encode func([]byte) ([]byte, error)) {
	f.Helper()
	files, _ := filepath.Glob(pattern)
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) > maxSeed {
			continue
		}
		if pb, err := encode(data); err == nil {
			f.Add(pb)
		}
	}
}

// maxSpanSeed is the largest span of a capture that is a seed.
const maxSpanSeed = 3000

// spanSeeds adds single spans of the real exports: of each scope and name, without
// what differs from span to span, the first small one.
func spanSeeds(f *testing.F) {
	f.Helper()
	files, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "captures", "*.json"))
	seen := map[string]bool{}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(data)
		if err != nil {
			continue
		}
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					word, _, _ := strings.Cut(span.Name(), " ")
					one := ptrace.NewTraces()
					to := one.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
					to.Scope().SetName(ss.Scope().Name())
					span.CopyTo(to.Spans().AppendEmpty())
					pb, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(one)
					if key := ss.Scope().Name() + "\x00" + word; err == nil && len(pb) <= maxSpanSeed && !seen[key] {
						seen[key] = true
						f.Add(pb)
					}
				}
			}
		}
	}
}

// Whatever a span holds, normalising does not panic, adds and removes no span,
// and changes nothing the second time.
func FuzzNormalize(f *testing.F) {
	encode := func(data []byte) ([]byte, error) {
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(data)
		if err != nil {
			return nil, err
		}
		return (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	}
	seeds(f, "testdata/*.json", encode)
	spanSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(data)
		if err != nil {
			return
		}
		n := dialect.Normalizer{RunIDKeys: []string{"a", "b"}}
		count := td.SpanCount()
		var first, second canon.Stated
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					dialect.Detect(ss.Scope().Name(), span)
					n.Normalize(ss.Scope().Name(), span, &first)
					n.Normalize(ss.Scope().Name(), span, &second)
					if first.Dialect != second.Dialect || first.DialectRun != second.DialectRun {
						t.Fatalf("a second time: %+v, first %+v", second, first)
					}
				}
			}
		}
		if td.SpanCount() != count {
			t.Fatalf("%d spans, were %d", td.SpanCount(), count)
		}
	})
}

func FuzzNormalizeLog(f *testing.F) {
	encode := func(data []byte) ([]byte, error) {
		ld, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(data)
		if err != nil {
			return nil, err
		}
		return (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	}
	seeds(f, "testdata/*.logs.json", encode)
	seeds(f, filepath.Join("..", "..", "..", "shared", "captures", "otel-*.logs.json"), encode)
	f.Fuzz(func(t *testing.T, data []byte) {
		ld, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(data)
		if err != nil {
			return
		}
		count := ld.LogRecordCount()
		for _, rl := range ld.ResourceLogs().All() {
			for _, sl := range rl.ScopeLogs().All() {
				for _, lr := range sl.LogRecords().All() {
					dialect.NormalizeLog(lr)
				}
			}
		}
		if ld.LogRecordCount() != count {
			t.Fatalf("%d records, were %d", ld.LogRecordCount(), count)
		}
	})
}
