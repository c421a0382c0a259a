package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

func TestWhatPeopleSaidIsReadByUnitOfItsTenantInTheOrderThatCounts(t *testing.T) {
	s := open(t)
	r := s.Tenant("acme")
	later := filled[agent.ResolutionRecord]()
	later.At, later.Expires, later.Unit = time.Now().UnixMilli()*1e6, inADay(), "u1"
	earlier := later
	earlier.ID, earlier.At, earlier.Way = agent.ResolutionID{1}, later.At-1e6, agent.SettlementNotApplied
	other := later
	other.ID, other.Unit = agent.ResolutionID{2}, "u2"
	for _, rec := range []agent.ResolutionRecord{later, earlier, other, later} {
		require.NoError(t, r.AddResolution(t.Context(), &rec))
	}
	got, err := r.Resolutions(t.Context(), []string{"u1", "none"})
	require.NoError(t, err)
	require.Equal(t, []agent.ResolutionRecord{earlier, later}, got)

	plain, err := s.ResolutionsOf(t.Context(), "acme", []string{"u1", "u2"})
	require.NoError(t, err)
	require.ElementsMatch(t, []agent.Resolution{earlier.Resolution, later.Resolution, other.Resolution}, plain)
	foreign, err := s.ResolutionsOf(t.Context(), "other", []string{"u1", "u2"})
	require.NoError(t, err)
	require.Empty(t, foreign)

	expired := later
	expired.ID, expired.Unit, expired.Expires = agent.ResolutionID{3}, "u3", time.Now().Add(-time.Hour).Unix()
	require.NoError(t, r.AddResolution(t.Context(), &expired))
	got, err = r.Resolutions(t.Context(), []string{"u3"})
	require.NoError(t, err)
	require.Empty(t, got)
}

// unknownFinding is a finding outcome.unknown about a span.
func unknownFinding(st *agent.Step, n int64, change func(*agent.Finding)) agent.Finding {
	f := agent.Finding{
		Tenant: st.Tenant, Run: st.Unit, Kind: "outcome.unknown", Severity: agent.SeverityWarning, Status: agent.StatusOpen, Tool: "refund", Agent: "a",
		DetectedAt: 1_700_000_000_000_000_000 + n, Expires: inADay(), Evidence: []agent.Evidence{{Unit: st.Unit, Trace: st.Trace, Span: st.Span, Attempt: 1}},
	}
	f.ID = agent.NewFindingID(f.Tenant, f.Run, f.Kind, st.Span.String())
	if change != nil {
		change(&f)
	}
	return f
}

func TestUnknownOutcomesComeOpenFirstAndOldestFirst(t *testing.T) {
	s := open(t)
	stated := span("u1", 1, 1, func(st *agent.Step) { st.Call.Target = "order/'1'" })
	plain := span("u2", 2, 2, nil)
	insert(t, s, stated, plain)
	old, young := unknownFinding(stated, 1, nil), unknownFinding(plain, 5, nil)
	settled := unknownFinding(span("u3", 3, 3, nil), 0, func(f *agent.Finding) { f.Status, f.Tool = agent.StatusResolved, "other" })
	gone := unknownFinding(span("u4", 4, 4, nil), 0, func(f *agent.Finding) { f.Status = agent.StatusWithdrawn })
	kind := unknownFinding(span("u5", 5, 5, nil), 0, func(f *agent.Finding) { f.Kind = "key.missing" })
	foreign := unknownFinding(span("u6", 6, 6, nil), 0, func(f *agent.Finding) { f.Tenant = "other" })
	require.NoError(t, s.WriteFindings(t.Context(), 1, []agent.Finding{young, settled, old, gone, kind, foreign}))
	require.NoError(t, s.WriteDerived(t.Context(), 1, agent.Derived{Acts: []agent.Act{{
		Tenant: "acme", Run: "u2", Unit: "u2", Trace: plain.Trace, Span: plain.Span, Target: "derived", Start: time.Now().UnixNano(), Kind: agent.KindAct,
	}}}))
	r := s.Tenant("acme")
	list := func(f UnknownFilter) (ids []agent.FindingID) {
		t.Helper()
		found, err := r.Unknowns(t.Context(), f)
		require.NoError(t, err)
		for i := range found {
			ids = append(ids, found[i].ID)
		}
		return ids
	}
	all := []agent.FindingID{old.ID, young.ID, settled.ID}
	require.Equal(t, all, list(UnknownFilter{}))
	for n, after := range []UnknownKey{{false, old.DetectedAt, old.ID}, {false, young.DetectedAt, young.ID}} {
		require.Equal(t, all[n+1:], list(UnknownFilter{After: after}))
	}
	require.Empty(t, list(UnknownFilter{After: UnknownKey{true, settled.DetectedAt, settled.ID}}))
	require.Equal(t, all[:1], list(UnknownFilter{Limit: 1}))
	require.Equal(t, all[2:], list(UnknownFilter{Status: agent.StatusResolved}))
	require.Equal(t, all[:2], list(UnknownFilter{Status: agent.StatusOpen, Tool: "refund", Agent: "a"}))
	require.Equal(t, all[1:2], list(UnknownFilter{Run: "u2"}))
	require.Equal(t, all[:1], list(UnknownFilter{Target: []string{"order/'1'"}}), "a target that the span states")
	require.Equal(t, all[1:2], list(UnknownFilter{Target: []string{"derived"}}), "a target that the sweep derived")
	require.Empty(t, list(UnknownFilter{Target: []string{"none"}}))
}

func TestASettledFindingOutranksWhatWasWrittenAndMakesItsUnitDue(t *testing.T) {
	s := open(t)
	st := span("u1", 1, 1, nil)
	f := unknownFinding(st, 1, nil)
	before := time.Now().Add(-time.Second)
	require.NoError(t, s.WriteFindings(t.Context(), uint64(before.UnixNano()), []agent.Finding{f}))
	f.Status, f.Tenant = agent.StatusResolved, "other"
	require.NoError(t, s.Tenant("acme").MarkSettled(t.Context(), f, "u1"))
	found, err := s.Tenant("acme").Findings(t.Context(), FindingFilter{ID: f.ID})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, agent.StatusResolved, found[0].Status)
	require.Equal(t, "acme", found[0].Tenant, "bound to the reader's tenant")
	f.Status = agent.StatusWithdrawn
	f.Tenant = "acme"
	require.NoError(t, s.WriteFindings(t.Context(), uint64(before.UnixNano())+2, []agent.Finding{f}))
	found, err = s.Tenant("acme").Findings(t.Context(), FindingFilter{ID: f.ID})
	require.NoError(t, err)
	require.Equal(t, agent.StatusWithdrawn, found[0].Status, "the next sweep has the last word")
	changes, err := s.Changes(t.Context(), before, time.Now().Add(time.Minute))
	require.NoError(t, err)
	require.Len(t, changes, 1)
	require.Equal(t, agent.UnitID{Tenant: "acme", Unit: "u1"}, changes[0].UnitID)
}
