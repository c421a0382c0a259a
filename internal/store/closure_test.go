package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

// aSpan gives a span of a unit in a trace; an empty run makes the trace its
// unit.
func aSpan(run string, trace, span uint16) *agent.Step {
	now := time.Now()
	s := &agent.Step{
		Tenant: "default", RunID: run, Unit: run, Index: -1, Service: "svc", Op: agent.OpTool, Sign: agent.SignOK,
		Trace: agent.TraceID{14: byte(trace >> 8), 15: byte(trace), 0: 1}, Span: agent.SpanID{6: byte(span >> 8), 7: byte(span), 0: 1},
		Start: now.UnixNano(), End: now.UnixNano() + 1, Received: now.UnixNano(),
		Expires: now.Add(time.Hour).Unix(), ContentExpires: now.Add(time.Hour).Unix(),
	}
	if run == "" {
		s.Unit = s.Trace.String()
	}
	return s
}

func insertSpans(t *testing.T, s *Store, spans ...*agent.Step) {
	t.Helper()
	b := NewBatch()
	for _, sp := range spans {
		b.AddSpan(sp, nil, nil)
	}
	require.NoError(t, s.Insert(t.Context(), b))
}

func TestManyRunsAtOnceAreManyWholeGroups(t *testing.T) {
	s := open(t)
	var spans []*agent.Step
	var units []agent.UnitID
	for i := range uint16(400) {
		run := fmt.Sprintf("run-%03d", i)
		spans = append(spans, aSpan(run, i+1, i+1))
		units = append(units, agent.UnitID{Tenant: "default", Unit: run})
	}
	insertSpans(t, s, spans...)
	groups, err := s.Groups(t.Context(), units)
	require.NoError(t, err)
	require.Len(t, groups, 400)
	for _, g := range groups {
		require.False(t, g.Truncated)
		require.Len(t, g.Units, 1)
		require.Len(t, g.Input.Steps, 1)
	}
}

func TestOnlyTheGroupBeyondItsBoundIsCut(t *testing.T) {
	s := open(t)
	var spans []*agent.Step
	for i := range uint16(maxUnitsPerToken) { // a run whose traces each hold many other runs
		spans = append(spans, aSpan("hub", i+1, 1))
		for j := range uint16(8) {
			spans = append(spans, aSpan(fmt.Sprintf("spoke-%d-%d", i, j), i+1, j+2))
		}
	}
	spans = append(spans, aSpan("alone", 9000, 1))
	insertSpans(t, s, spans...)
	groups, err := s.Groups(t.Context(), []agent.UnitID{{Tenant: "default", Unit: "hub"}, {Tenant: "default", Unit: "alone"}})
	require.NoError(t, err)
	require.Len(t, groups, 2)
	for _, g := range groups {
		if g.Units[0] == "alone" {
			require.False(t, g.Truncated)
			continue
		}
		require.True(t, g.Truncated)
		require.LessOrEqual(t, len(g.Units), maxGroupUnits+1)
		require.Greater(t, len(g.Units), maxGroupUnits/4)
	}
}

func TestAUnitIsFoundFromItsTraceAndTheTraceFromIt(t *testing.T) {
	s := open(t)
	insertSpans(t, s, aSpan("run-1", 1, 1), aSpan("", 1, 2), aSpan("run-1", 2, 3), aSpan("", 2, 4), aSpan("", 3, 5))
	byTrace := aSpan("", 2, 4).Unit
	groups, err := s.Groups(t.Context(), []agent.UnitID{{Tenant: "default", Unit: byTrace}})
	require.NoError(t, err)
	require.Len(t, groups, 1)
	require.Equal(t, []string{aSpan("", 1, 2).Unit, byTrace, "run-1"}, groups[0].Units)
	require.Len(t, groups[0].Input.Steps, 4)
}
