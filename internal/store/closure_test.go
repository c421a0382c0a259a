package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

// groupsOf gives the units of the groups in which units stand.
func groupsOf(t *testing.T, s *Store, units ...string) [][]string {
	t.Helper()
	ids := make([]agent.UnitID, len(units))
	for i, u := range units {
		ids[i] = agent.UnitID{Tenant: "acme", Unit: u}
	}
	groups, err := s.Groups(t.Context(), ids)
	require.NoError(t, err)
	var out [][]string
	for _, g := range groups {
		require.Equal(t, "acme", g.Tenant)
		out = append(out, g.Units)
	}
	return out
}

func trace(b byte) string { return agent.TraceID{b}.String() }

func TestUnitsOfOneTraceAreOneGroupFromWhicheverSide(t *testing.T) {
	s := open(t)
	explicit := func(st *agent.Step) { st.RunID = st.Unit }
	insert(t, s,
		span("run-1", 1, 1, explicit), span(trace(1), 1, 2, nil), // a trace with spans without an id
		span("run-1", 2, 3, explicit), span("run-2", 2, 4, explicit), // a second trace, shared with another run
		span("run-9", 9, 5, explicit))
	want := [][]string{{trace(1), "run-1", "run-2"}}
	require.Equal(t, want, groupsOf(t, s, "run-1"))
	require.Equal(t, want, groupsOf(t, s, "run-2"))
	require.Equal(t, want, groupsOf(t, s, trace(1)))
	require.Equal(t, want, groupsOf(t, s, trace(1), "run-2", "run-1"), "asked for thrice, in one group")
	require.Len(t, groupsOf(t, s, "run-1", "run-9"), 2)
}

func TestALinkJoinsTheLinkedTraceFromBothSides(t *testing.T) {
	s := open(t)
	insert(t, s, span(trace(1), 1, 1, nil),
		span(trace(2), 2, 2, func(st *agent.Step) { st.Links = []agent.Link{{Trace: agent.TraceID{1}, Span: agent.SpanID{1}}} }))
	want := [][]string{{trace(1), trace(2)}}
	require.Equal(t, want, groupsOf(t, s, trace(1)))
	require.Equal(t, want, groupsOf(t, s, trace(2)))
}

func TestACallAskedHereAndExecutedThereJoinsAndOneThatStaysAtHomeDoesNot(t *testing.T) {
	s := open(t)
	b := NewBatch()
	ask := func(unit byte, id byte, call string) {
		b.AddSpan(span(trace(unit), unit, id, func(st *agent.Step) {
			st.Op, st.Model.Outputs = agent.OpModel, []agent.Ref{{unit, id}}
		}), nil, []agent.MessageFacts{{Ref: agent.Ref{unit, id}, Calls: []agent.RequestedCall{{ID: call}}}})
	}
	run := func(unit byte, id byte, call string, change func(*agent.Step)) {
		b.AddSpan(span(trace(unit), unit, id, func(st *agent.Step) {
			st.Op, st.Call.ID = agent.OpTool, call
			if change != nil {
				change(st)
			}
		}), nil, nil)
	}
	ask(1, 1, "call-a")
	run(2, 2, "call-a", nil) // resumed in another process
	for unit := byte(10); unit < 14; unit++ {
		ask(unit, 1, "call_1") // every unit counts its calls from 1
		run(unit, 2, "call_1", nil)
	}
	ask(20, 1, "call-d")
	run(20, 2, "call-d", func(st *agent.Step) { st.Sign = agent.SignDeferred })
	run(21, 3, "call-d", nil) // after the approval
	ask(30, 1, "call-s")
	run(31, 2, "call-s", func(st *agent.Step) { st.Service = "another" })
	require.NoError(t, s.Insert(t.Context(), b))
	require.Equal(t, [][]string{{trace(1), trace(2)}}, groupsOf(t, s, trace(1)))
	require.Equal(t, [][]string{{trace(1), trace(2)}}, groupsOf(t, s, trace(2)))
	require.Equal(t, [][]string{{trace(10)}}, groupsOf(t, s, trace(10)))
	require.Equal(t, [][]string{{trace(20), trace(21)}}, groupsOf(t, s, trace(21)))
	require.Equal(t, [][]string{{trace(30)}}, groupsOf(t, s, trace(30)), "another service")
}

func TestAUnitWhoseInputEndsWithAnotherUnitsAnswerIsInItsGroup(t *testing.T) {
	s := open(t)
	b := NewBatch()
	b.AddSpan(span(trace(1), 1, 1, func(st *agent.Step) { st.Op, st.Model.Outputs = agent.OpModel, []agent.Ref{{1}} }), nil,
		[]agent.MessageFacts{{Ref: agent.Ref{1}, Calls: []agent.RequestedCall{{ID: "call-x"}}}})
	b.AddSpan(span(trace(2), 2, 2, func(st *agent.Step) { st.Op, st.Model.Context = agent.OpModel, []agent.Ref{{1}, {2}} }), nil,
		[]agent.MessageFacts{{Ref: agent.Ref{1}, Calls: []agent.RequestedCall{{ID: "call-x"}}}, {Ref: agent.Ref{2}, Answers: []agent.CallAnswer{{ID: "call-x"}}}})
	b.AddSpan(span(trace(3), 3, 3, func(st *agent.Step) { st.Op, st.Model.Context = agent.OpModel, []agent.Ref{{2}, {3}} }), nil,
		[]agent.MessageFacts{{Ref: agent.Ref{2}, Answers: []agent.CallAnswer{{ID: "call-x"}}}, {Ref: agent.Ref{3}, UserText: true}})
	require.NoError(t, s.Insert(t.Context(), b))
	require.Equal(t, [][]string{{trace(1), trace(2)}}, groupsOf(t, s, trace(1)), "a later turn only repeats it")
}

func TestACheckpointJoins(t *testing.T) {
	s := open(t)
	at := func(st *agent.Step) { st.Checkpoint = "agent:5f3c" }
	insert(t, s, span(trace(1), 1, 1, at), span(trace(2), 2, 2, at))
	require.Equal(t, [][]string{{trace(1), trace(2)}}, groupsOf(t, s, trace(2)))
}

func TestATokenOfTooManyUnitsDoesNotPullThemAllIn(t *testing.T) {
	s := open(t)
	b := NewBatch()
	for i := range 500 {
		b.AddSpan(span(fmt.Sprintf("run-%03d", i), 1, byte(i%250+1), func(st *agent.Step) {
			st.RunID, st.Start = st.Unit, time.Now().UnixNano()+int64(i)
		}), nil, nil)
	}
	require.NoError(t, s.Insert(t.Context(), b))
	groups, err := s.Groups(t.Context(), []agent.UnitID{{Tenant: "acme", Unit: "run-000"}})
	require.NoError(t, err)
	require.Len(t, groups, 1)
	require.LessOrEqual(t, len(groups[0].Units), maxUnitsPerToken+1)
}

func TestARunIsReadFromAllUnitsItWasLinkedTo(t *testing.T) {
	s := open(t)
	insert(t, s, span("run-1", 1, 1, nil), span(trace(7), 7, 2, nil))
	version := uint64(time.Now().UnixNano())
	require.NoError(t, s.WriteDerived(t.Context(), version, agent.Derived{
		Links: []agent.RunLink{{Tenant: "acme", Unit: trace(7), Run: "run-1"}},
	}))
	g, err := s.Tenant("acme").RunGroup(t.Context(), "run-1")
	require.NoError(t, err)
	require.Equal(t, []string{trace(7), "run-1"}, g.Units)
}

func TestTheIdOfAMergedRunAnswersWithTheOther(t *testing.T) {
	s := open(t)
	insert(t, s, span("run-2", 2, 2, nil))
	version := uint64(time.Now().UnixNano())
	require.NoError(t, s.WriteDerived(t.Context(), version, agent.Derived{
		Summaries: []agent.Summary{{Tenant: "acme", RunID: "run-2", Started: time.Now().UnixNano()}},
		GoneRuns:  []agent.GoneRun{{Tenant: "acme", RunID: "run-1", MergedInto: "run-2"}},
	}))
	g, err := s.Tenant("acme").RunGroup(t.Context(), "run-1")
	require.NoError(t, err)
	require.Equal(t, []string{"run-2"}, g.Units)
	list, err := s.Tenant("acme").Summaries(t.Context(), RunFilter{})
	require.NoError(t, err)
	require.Len(t, list, 1, "the merged run is not listed")
	for _, id := range []string{"run-1", "run-2", "nobody's"} {
		now, err := s.Tenant("acme").RunNow(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, map[string]string{"run-1": "run-2", "run-2": "run-2", "nobody's": "nobody's"}[id], now)
	}
}

func TestChangesTellWhichUnitsGotRowsAndWhen(t *testing.T) {
	s := open(t)
	before := time.Now().Add(-time.Second)
	insert(t, s, span("a", 1, 1, nil), span("a", 1, 2, nil), span("b", 2, 3, nil))
	changes, err := s.Changes(t.Context(), before, time.Now().Add(time.Second))
	require.NoError(t, err)
	rows := map[string]int64{}
	for _, c := range changes {
		rows[c.Unit] = c.Rows
		require.Equal(t, "acme", c.Tenant)
		require.WithinDuration(t, time.Now(), time.Unix(0, c.InsertedAt), time.Minute)
	}
	require.Equal(t, map[string]int64{"a": 2, "b": 1}, rows)
	changes, err = s.Changes(t.Context(), before.Add(-time.Hour), before)
	require.NoError(t, err)
	require.Empty(t, changes)
}

func TestChangedGivesWhatTheSweepHasNotSummedUp(t *testing.T) {
	s := open(t)
	r := s.Tenant("acme")
	changed := func() []string {
		groups, err := r.Changed(t.Context(), 10)
		require.NoError(t, err)
		var units []string
		for _, g := range groups {
			units = append(units, g.Units...)
		}
		return units
	}
	insert(t, s, span("a", 1, 1, nil))
	require.Equal(t, []string{"a"}, changed())
	require.NoError(t, s.WriteDerived(t.Context(), uint64(time.Now().Add(time.Minute).UnixNano()), agent.Derived{
		Summaries: []agent.Summary{{Tenant: "acme", RunID: "a", Started: time.Now().UnixNano(), Units: []string{"a"}}},
		Links:     []agent.RunLink{{Tenant: "acme", Unit: "a", Run: "a"}},
	}))
	require.Empty(t, changed())
}
