package agentstepprocessor

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/canon"
)

// What a dialect reads off a span stands in the facts and in no attribute: it is
// protected all the same.
func TestWhatADialectReadsOffASpanIsProtectedToo(t *testing.T) {
	s := newTestState(t, taskPolicy)
	td, span := oneSpan(map[string]any{"openinference.span.kind": "TOOL", "output.value": "ana@example.com"})
	span.SetName("handoff to ana@example.com")
	out, err := s.processTraces(t.Context(), td)
	require.NoError(t, err)
	var r canon.Reader
	rs := out.ResourceSpans().At(0)
	r.Resource(rs.Resource())
	step := r.Span(rs.ScopeSpans().At(0).Spans().At(0)).Step
	require.Contains(t, step.HandoffTo, "[EMAIL:")
	require.NotContains(t, step.Name+step.Facts, "ana@example.com")

	td, _ = oneSpan(map[string]any{"temporalRunID": "run\xff1", "temporalActivityID": "a\xff"})
	out, err = s.processTraces(t.Context(), td)
	require.NoError(t, err)
	step = r.Span(out.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)).Step
	require.Equal(t, "run\uFFFD1", step.Unit)
	require.Equal(t, "run\uFFFD1", step.DialectRun)
}
