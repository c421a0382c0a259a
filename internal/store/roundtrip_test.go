package store

import (
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

func TestColumnsHaveTheTypesOfTheirTables(t *testing.T) {
	s, e := openEngine(t)
	for table, set := range map[string]*column.Set{
		"steps": &newStepTable().Set, "messages": &newMessageTable().Set, "message_facts": &newFactTable().Set,
		"log_content": &newLogTable().Set, "unit_keys": &newKeyTable().Set, "run_changes": &newChangeTable().Set,
		"run_links": &newLinkTable().Set, "attempts": &newAttemptTable().Set, "acts": &newActTable().Set,
		"runs": &newRunTable().Set, "findings": &newFindingTable().Set,
	} {
		types := map[string]string{}
		rows, err := s.conn.Query(t.Context(), "SELECT name, type FROM system.columns WHERE database = '"+e.Database+"' AND table = '"+table+"'")
		require.NoError(t, err)
		for rows.Next() {
			var name, typ string
			require.NoError(t, rows.Scan(&name, &typ))
			types[name] = typ
		}
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
		delete(types, "inserted_at") // the server's own
		got := map[string]string{}
		set.Each(func(name string, typ proto.ColumnType) { got[name] = string(typ) })
		require.Equal(t, types, got, table)
	}
}

func TestAStepComesBackAsItWasWritten(t *testing.T) {
	s := open(t)
	want := filledStep()
	empty := span("unit2", 9, 9, nil)
	insert(t, s, want, empty)
	g, err := s.Tenant("acme").RunGroup(t.Context(), want.Unit)
	require.NoError(t, err)
	require.Equal(t, []*agent.Step{want}, g.Input.Steps)
	g, err = s.Tenant("acme").RunGroup(t.Context(), "unit2")
	require.NoError(t, err)
	require.Equal(t, []*agent.Step{empty}, g.Input.Steps)
	require.WithinDuration(t, time.Now(), time.Unix(0, g.LastArrival), time.Minute)
}

func TestMessageFactsAndBodiesComeBackAsTheyWereWritten(t *testing.T) {
	s := open(t)
	st := span("unit", 1, 1, nil)
	facts := []agent.MessageFacts{filled[agent.MessageFacts](), {Ref: agent.Ref{1}, Role: agent.RoleUser}}
	bodies := []agent.Body{
		{Ref: agent.Ref{1}, Text: "a\n\nSELECT 42; '\\\x00\xff", Expires: inADay()},
		{Ref: agent.Ref{2}, Text: "", Expires: inADay()},
	}
	b := NewBatch()
	b.AddSpan(st, bodies, facts)
	require.NoError(t, s.Insert(t.Context(), b))

	in, _, err := s.Tenant("acme").RunInput(t.Context(), "unit")
	require.NoError(t, err)
	require.Equal(t, map[agent.Ref]*agent.MessageFacts{facts[0].Ref: &facts[0], facts[1].Ref: &facts[1]}, in.Facts)
	texts, err := s.Tenant("acme").Bodies(t.Context(), []string{"unit"}, []agent.Ref{{1}, {2}, {3}, {}})
	require.NoError(t, err)
	require.Equal(t, map[agent.Ref]string{{1}: bodies[0].Text, {2}: ""}, texts)
}

func TestLogContentComesBackWithItsTrace(t *testing.T) {
	s := open(t)
	l := filled[agent.LogContent]()
	l.Tenant, l.Trace, l.Expires = "acme", agent.TraceID{7}, inADay()
	l.Unit = l.Trace.String()
	b := NewBatch()
	b.AddSpan(span(l.Unit, 7, 1, nil), nil, nil)
	b.AddLog(l, agent.Body{Ref: l.Message, Text: "hello", Expires: inADay()}, agent.MessageFacts{Ref: l.Message, Role: agent.RoleUser})
	require.NoError(t, s.Insert(t.Context(), b))
	in, _, err := s.Tenant("acme").RunInput(t.Context(), l.Unit)
	require.NoError(t, err)
	l.Expires = 0 // a term of the row, no content
	require.Equal(t, []agent.LogContent{l}, in.Logs)
	require.Contains(t, in.Facts, l.Message)
}

func TestSummariesComeBackAsTheyWereWritten(t *testing.T) {
	s := open(t)
	want := filled[agent.Summary]()
	want.Tenant, want.AttemptsVisible, want.Started = "acme", agent.VisibleAll, time.Now().UnixNano()
	small := agent.Summary{Tenant: "acme", RunID: "small", Started: want.Started - 1}
	require.NoError(t, s.WriteDerived(t.Context(), 5, agent.Derived{Summaries: []agent.Summary{want, small}}))
	got, err := s.Tenant("acme").Summaries(t.Context(), RunFilter{})
	require.NoError(t, err)
	require.Equal(t, []agent.Summary{want, small}, got)
}

func TestFindingsComeBackAsTheyWereWritten(t *testing.T) {
	s := open(t)
	want := filled[agent.Finding]()
	want.Tenant, want.Expires = "acme", inADay()
	require.NoError(t, s.WriteFindings(t.Context(), 3, []agent.Finding{want}))
	got, err := s.Tenant("acme").Findings(t.Context(), FindingFilter{})
	require.NoError(t, err)
	require.Equal(t, []agent.Finding{want}, got)
	stored, err := s.FindingsOf(t.Context(), "acme", []string{want.Run})
	require.NoError(t, err)
	require.Equal(t, []agent.StoredFinding{{Finding: want, Version: 3}}, stored)
}

func TestActsAndLinksComeBackAsTheyWereWritten(t *testing.T) {
	s := open(t)
	act := filled[agent.Act]()
	act.Tenant, act.Start = "acme", time.Now().UnixNano()
	link := agent.RunLink{Tenant: "acme", Unit: act.Unit, Run: act.Run}
	gone := agent.RunLink{Tenant: "acme", Unit: act.Unit, Run: "other", Gone: true}
	version := uint64(time.Now().UnixNano())
	require.NoError(t, s.WriteDerived(t.Context(), version, agent.Derived{Acts: []agent.Act{act}, Links: []agent.RunLink{link, gone}}))
	acts, err := s.ActsUnderKeys(t.Context(), "acme", []string{act.Key, "none"})
	require.NoError(t, err)
	require.Equal(t, []agent.Act{act}, acts)
	acts, err = s.ActsOf(t.Context(), "acme", []string{act.Unit})
	require.NoError(t, err)
	require.Equal(t, []agent.Act{act}, acts)
	links, err := s.LinksOf(t.Context(), "acme", []string{act.Unit})
	require.NoError(t, err)
	require.ElementsMatch(t, []agent.RunLink{link, gone}, links)
	at, err := s.LastSweep(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(version), at.UnixNano())

	require.NoError(t, s.WriteDerived(t.Context(), version+1, agent.Derived{GoneActs: []agent.Act{act}}))
	acts, err = s.ActsUnderKeys(t.Context(), "acme", []string{act.Key})
	require.NoError(t, err)
	require.Empty(t, acts)
}
