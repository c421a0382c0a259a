package agentstepprocessor

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/canon"
)

// snapshot copies what a record says, deeply, with empty lists as nil.
func snapshot(rec *canon.Record) map[string]any {
	return map[string]any{
		"step": deep(reflect.ValueOf(rec.Step)), "bodies": deep(reflect.ValueOf(rec.Bodies)), "facts": deep(reflect.ValueOf(rec.Facts)),
	}
}

// deep gives a value as maps and lists of its parts.
func deep(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Struct:
		out := map[string]any{}
		for i := range v.NumField() {
			out[v.Type().Field(i).Name] = deep(v.Field(i))
		}
		return out
	case reflect.Slice:
		if v.Len() == 0 {
			return nil
		}
		out := make([]any, v.Len())
		for i := range out {
			out[i] = deep(v.Index(i))
		}
		return out
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return deep(v.Elem())
	case reflect.String:
		return strings.Clone(v.String())
	default:
		return v.Interface()
	}
}

// roundTrip checks for each span that the exporter reads what the processor saw.
func roundTrip(t *testing.T, s *state, td ptrace.Traces) {
	t.Helper()
	w := <-s.workers
	defer func() { s.workers <- w }()
	w.start()
	for _, rs := range td.ResourceSpans().All() {
		w.resource(rs.Resource(), defaultTenant)
		for _, ss := range rs.ScopeSpans().All() {
			name := ss.Scope().Name()
			w.resourceSpans, w.scopeSpans = rs, ss
			w.scope(ss.Scope())
			for _, span := range ss.Spans().All() {
				want := snapshot(w.span(name, span))
				var r canon.Reader
				r.Resource(rs.Resource())
				r.Scope(ss.Scope())
				require.Equal(t, want, snapshot(r.Span(span)), "span %s %s", span.Name(), span.SpanID())
			}
		}
	}
}

func TestTheExporterReadsWhatTheProcessorSaw(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(shared, "captures", "*.json"))
	if len(files) == 0 {
		t.Skip("no captures here")
	}
	s := newTestState(t, taskPolicy)
	n := 0
	for _, path := range files {
		if strings.HasSuffix(path, ".logs.json") {
			continue
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(data)
		if err != nil {
			continue // EXPECTED.json and the like
		}
		n += td.SpanCount()
		roundTrip(t, s, td)
	}
	require.Greater(t, n, 1000)
}

func TestTheExporterReadsWhatTheProcessorSawOfRecordedRuns(t *testing.T) {
	s := newTestState(t, taskPolicy)
	for _, td := range realRuns(t) {
		roundTrip(t, s, td)
	}
}
