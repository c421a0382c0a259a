package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

func TestWhatEarlierSweepsWroteIsKnownByItsNames(t *testing.T) {
	s := open(t)
	now := time.Now()
	call := span("unit", 1, 1, nil)
	call.Start, call.End = now.UnixNano(), now.UnixNano()+1e9
	attempt := func(part uint16, id string, outcome agent.Outcome) agent.Attempt {
		return agent.Attempt{
			Unit: "unit", Trace: call.Trace, Span: call.Span, Part: part, CallID: id, Outcome: outcome, Start: call.Start, End: call.End,
			Spans: []*agent.Step{call},
		}
	}
	run := &agent.Run{Tenant: call.Tenant, ID: "run", Units: []string{"unit"}, Spans: []*agent.Step{call}, Steps: []agent.RunStep{{
		ID: "step", Attempts: []agent.Attempt{attempt(1, "a", agent.OutcomeOK), attempt(2, "b", agent.OutcomeUnset), attempt(3, "c", agent.OutcomeRefused)},
	}}}
	write := func(version uint64, status agent.RunStatus) {
		t.Helper()
		sum := agent.Summary{Tenant: run.Tenant, RunID: run.ID, Status: status, Started: call.Start, Units: run.Units}
		require.NoError(t, s.WriteDerived(t.Context(), version, agent.Derived{Runs: []*agent.Run{run}, Summaries: []agent.Summary{sum}}))
	}
	written := func() agent.Written {
		t.Helper()
		w, err := s.WrittenOf(t.Context(), run.Tenant, []string{"unit", "none"}, []string{"run", "none"})
		require.NoError(t, err)
		return w
	}
	require.Equal(t, agent.Written{Attempts: map[agent.AttemptName]struct{}{}, Ended: map[string]struct{}{}}, written())

	want := agent.Written{Ended: map[string]struct{}{}, Attempts: map[agent.AttemptName]struct{}{
		run.Steps[0].Attempts[0].Name(): {}, run.Steps[0].Attempts[2].Name(): {},
	}}
	write(1, agent.RunStatusRunning)
	require.Equal(t, want, written(), "what has no outcome yet is not among them")
	write(2, agent.RunStatusEnded)
	want.Ended["run"] = struct{}{}
	require.Equal(t, want, written())
	write(3, agent.RunStatusRunning)
	delete(want.Ended, "run")
	require.Equal(t, want, written(), "the newest summary counts")

	other, err := s.WrittenOf(t.Context(), "another tenant", []string{"unit"}, []string{"run"})
	require.NoError(t, err)
	require.Empty(t, other.Attempts)
}

func TestOpenFindingsAreCountedByTheNewestVersionOfEach(t *testing.T) {
	s := open(t)
	finding := func(id byte, tenant, kind string, severity agent.Severity, status agent.Status) agent.Finding {
		return agent.Finding{
			ID: agent.FindingID{id}, Tenant: tenant, Run: "run", Kind: kind, Severity: severity, Status: status,
			DetectedAt: time.Now().UnixNano(), Expires: inADay(),
		}
	}
	const c, w, o, r = agent.SeverityCritical, agent.SeverityWarning, agent.StatusOpen, agent.StatusResolved
	require.NoError(t, s.WriteFindings(t.Context(), 0, []agent.Finding{
		finding(1, "a", "key.duplicate", c, o), finding(1, "a", "key.duplicate", c, o), // the stream sends again
		finding(2, "b", "key.duplicate", c, o), finding(3, "a", "outcome.unknown", w, o), finding(4, "a", "loop.repeat", w, o),
	}))
	require.NoError(t, s.WriteFindings(t.Context(), 7, []agent.Finding{
		finding(3, "a", "outcome.unknown", c, o), finding(4, "a", "loop.repeat", w, r), finding(5, "a", "retry.storm", w, agent.StatusWithdrawn),
	}))
	expired := finding(6, "a", "key.duplicate", c, o)
	expired.Expires = time.Now().Add(-time.Hour).Unix()
	require.NoError(t, s.WriteFindings(t.Context(), 7, []agent.Finding{expired}))
	got, err := s.OpenFindings(t.Context())
	require.NoError(t, err)
	require.Equal(t, []OpenFindings{{"key.duplicate", c, 2}, {"outcome.unknown", c, 1}}, got)
}
