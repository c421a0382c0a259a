package agentstepprocessor

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processorhelper"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// Whatever comes in: no panic, as many spans leave as came with ids, all that
// leaves is valid UTF-8, and the exporter can read it.
func FuzzProcessor(f *testing.F) {
	files, _ := filepath.Glob(filepath.Join("..", "..", "internal", "dialect", "testdata", "*.json"))
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(data)
		if err != nil {
			continue
		}
		pb, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(pb)
	}
	pb, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(keyCase())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(pb)
	s := newTestState(f, taskPolicy, func(c *Config) { c.MaxBodyBytes, c.MaxAttributeBytes, c.MaxAttributes = 1<<10, 1<<8, 64 })
	f.Fuzz(func(t *testing.T, data []byte) {
		td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(data)
		if err != nil {
			return
		}
		want := 0
		eachSpan(td, func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span) {
			if !span.TraceID().IsEmpty() && !span.SpanID().IsEmpty() {
				want++
			}
		})
		out, err := s.processTraces(t.Context(), td)
		if err != nil && !errors.Is(err, processorhelper.ErrSkipProcessingData) {
			t.Fatal(err)
		}
		if got := out.SpanCount(); got != want {
			t.Fatalf("%d spans left, %d came with ids", got, want)
		}
		js, err := (&ptrace.JSONMarshaler{}).MarshalTraces(out)
		if err == nil && (!utf8.Valid(js) || !json.Valid(js)) {
			t.Fatal("what leaves is no valid JSON in UTF-8")
		}
		eachSpan(out, func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, span ptrace.Span) {
			validMap(t, span.Attributes())
			var r canon.Reader
			r.Resource(rs.Resource())
			r.Scope(ss.Scope())
			for _, a := range r.Span(span).Step.Attributes {
				if a.JSON {
					require.True(t, cjson.Valid(a.Value), "%s = %s", a.Key, a.Value)
				}
			}
		})
	})
}
