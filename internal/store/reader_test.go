package store

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

func TestATenantNeverSeesAnothersRows(t *testing.T) {
	s := open(t)
	b := NewBatch()
	for i, tenant := range []string{"acme", "globex"} {
		b.AddSpan(span("u", 1, byte(i+1), func(st *agent.Step) { st.Tenant, st.RunID, st.User = tenant, "u", tenant }),
			[]agent.Body{{Ref: agent.Ref{1}, Text: tenant, Expires: inADay()}}, []agent.MessageFacts{{Ref: agent.Ref{byte(i + 1)}}})
	}
	require.NoError(t, s.Insert(t.Context(), b))
	now := time.Now().UnixNano()
	var d agent.Derived
	for i, tenant := range []string{"acme", "globex"} {
		d.Summaries = append(d.Summaries, agent.Summary{Tenant: tenant, RunID: "u", User: tenant, Started: now})
		d.Findings = append(d.Findings, agent.Finding{ID: agent.FindingID{byte(i + 1)}, Tenant: tenant, Run: "u", DetectedAt: now})
		d.Acts = append(d.Acts, agent.Act{Tenant: tenant, Run: "u", Unit: "u", Key: "k", Start: now})
	}
	require.NoError(t, s.WriteDerived(t.Context(), uint64(now), d))
	for _, tenant := range []string{"acme", "globex"} {
		r := s.Tenant(tenant)
		g, err := r.RunGroup(t.Context(), "u")
		require.NoError(t, err)
		require.Len(t, g.Input.Steps, 1)
		require.Equal(t, tenant, g.Input.Steps[0].User)
		require.Len(t, g.Input.Facts, 1)
		texts, err := r.Bodies(t.Context(), []string{"u"}, []agent.Ref{{1}})
		require.NoError(t, err)
		require.Equal(t, map[agent.Ref]string{{1}: tenant}, texts)
		runs, err := r.Summaries(t.Context(), RunFilter{})
		require.NoError(t, err)
		require.Len(t, runs, 1)
		require.Equal(t, tenant, runs[0].User)
		findings, err := r.Findings(t.Context(), FindingFilter{})
		require.NoError(t, err)
		require.Len(t, findings, 1)
		acts, err := s.ActsUnderKeys(t.Context(), tenant, []string{"k"})
		require.NoError(t, err)
		require.Len(t, acts, 1)
		require.Equal(t, tenant, acts[0].Tenant)
	}
	_, err := s.Tenant("nobody").RunGroup(t.Context(), "u")
	require.ErrorIs(t, err, ErrNotFound)
}

func TestSummariesAreFilteredByTheirNewestVersion(t *testing.T) {
	s := open(t)
	now := time.Now().UnixNano()
	run := func(id string, change func(*agent.Summary)) agent.Summary {
		r := agent.Summary{Tenant: "acme", RunID: id, Started: now, Status: agent.RunStatusEnded}
		if change != nil {
			change(&r)
		}
		return r
	}
	require.NoError(t, s.WriteDerived(t.Context(), 1, agent.Derived{Summaries: []agent.Summary{
		run("a", func(r *agent.Summary) { r.Agent, r.Status = "old", agent.RunStatusRunning }),
	}}))
	want := run("a", func(r *agent.Summary) {
		r.Agent, r.TaskType, r.User, r.Session, r.Scenario = "support", "refund", "user", "session", "scenario"
		r.Outcome, r.Traces, r.Tools, r.Targets = agent.RunOutcomeSuccess, []agent.TraceID{{7}}, []string{"pay"}, []string{"order/1"}
		r.Models, r.PromptVersions, r.Findings = []string{"gpt"}, []string{"v2"}, map[string]int64{"key.duplicate": 1}
	})
	require.NoError(t, s.WriteDerived(t.Context(), 2, agent.Derived{Summaries: []agent.Summary{want, run("b", nil)}}))
	for name, f := range map[string]RunFilter{
		"from and to": {From: now, To: now + 1, Agent: "support"}, "trace": {Trace: agent.TraceID{7}}, "agent": {Agent: "support"},
		"task type": {TaskType: "refund"}, "outcome": {Outcome: agent.RunOutcomeSuccess}, "finding": {Finding: "key.duplicate"},
		"tool": {Tool: "pay"}, "target": {Target: []string{"order/1"}}, "user": {User: []string{"user"}}, "session": {Session: []string{"session"}},
		"model": {Model: "gpt"}, "prompt version": {PromptVersion: "v2"}, "scenario": {Scenario: "scenario"},
	} {
		got, err := s.Tenant("acme").Summaries(t.Context(), f)
		require.NoError(t, err, name)
		require.Equal(t, []agent.Summary{want}, got, name)
	}
	for name, f := range map[string]RunFilter{
		"an older version's agent": {Agent: "old"}, "an older version's status": {Status: agent.RunStatusRunning},
		"before": {To: now}, "after": {From: now + 1}, "another trace": {Trace: agent.TraceID{8}},
	} {
		got, err := s.Tenant("acme").Summaries(t.Context(), f)
		require.NoError(t, err, name)
		require.Empty(t, got, name)
	}
	unstated, err := s.Tenant("acme").Summaries(t.Context(), RunFilter{Unstated: true})
	require.NoError(t, err)
	require.Len(t, unstated, 1)
	require.Equal(t, "b", unstated[0].RunID)
}

func TestPagesOfRunsJoinWithoutGapOrOverlapInBothDirections(t *testing.T) {
	s := open(t)
	now := time.Now().UnixNano()
	var d agent.Derived
	for i := range 25 {
		d.Summaries = append(d.Summaries, agent.Summary{Tenant: "acme", RunID: "run-" + strconv.Itoa(i), Started: now + int64(i/3)}) // ties
	}
	require.NoError(t, s.WriteDerived(t.Context(), 1, d))
	for _, ascending := range []bool{false, true} {
		var all []agent.Summary
		f := RunFilter{Limit: 4, Ascending: ascending}
		for {
			page, err := s.Tenant("acme").Summaries(t.Context(), f)
			require.NoError(t, err)
			if len(page) == 0 {
				break
			}
			all = append(all, page...)
			last := page[len(page)-1]
			f.After = RunKey{Started: last.Started, RunID: last.RunID}
		}
		require.Len(t, all, 25)
		for i := 1; i < len(all); i++ {
			before := all[i-1].Started < all[i].Started || all[i-1].Started == all[i].Started && all[i-1].RunID < all[i].RunID
			require.Equal(t, ascending, before, "%d", i)
		}
	}
}

func TestFindingsAreFilteredByTheirNewestVersionAndPaged(t *testing.T) {
	s := open(t)
	now := time.Now().UnixNano()
	finding := func(id byte, change func(*agent.Finding)) agent.Finding {
		f := agent.Finding{
			ID: agent.FindingID{id}, Tenant: "acme", Run: "run", Kind: "loop.repeat", Status: agent.StatusOpen, Severity: agent.SeverityWarning,
			DetectedAt: now + int64(id), Tool: "pay", Agent: "support", Expires: inADay(),
		}
		if change != nil {
			change(&f)
		}
		return f
	}
	require.NoError(t, s.WriteFindings(t.Context(), 0, []agent.Finding{finding(1, nil), finding(2, nil), finding(3, nil)}))
	withdrawn := finding(2, func(f *agent.Finding) { f.Status = agent.StatusWithdrawn })
	require.NoError(t, s.WriteFindings(t.Context(), 9, []agent.Finding{withdrawn}))
	require.NoError(t, s.WriteFindings(t.Context(), 0, []agent.Finding{finding(2, nil)}), "a replay of the stream revives nothing")
	r := s.Tenant("acme")
	got, err := r.Findings(t.Context(), FindingFilter{Status: agent.StatusOpen})
	require.NoError(t, err)
	require.Equal(t, []agent.Finding{finding(3, nil), finding(1, nil)}, got)
	for name, f := range map[string]FindingFilter{
		"id": {ID: agent.FindingID{2}}, "status": {Status: agent.StatusWithdrawn},
		"after": {After: FindingKey{DetectedAt: now + 3, ID: agent.FindingID{3}}, Limit: 1},
		"from":  {From: now + 2, To: now + 3}, "runs": {Runs: []string{"other", "run"}, ID: agent.FindingID{2}},
		"prefix": {Kind: "loop.", IsPrefix: true, Status: agent.StatusWithdrawn}, "kind": {Kind: "loop.repeat", Status: agent.StatusWithdrawn},
		"tool, agent and severity": {Tool: "pay", Agent: "support", Severity: agent.SeverityWarning, Status: agent.StatusWithdrawn},
	} {
		got, err := r.Findings(t.Context(), f)
		require.NoError(t, err, name)
		require.Equal(t, []agent.Finding{withdrawn}, got, name)
	}
	for name, f := range map[string]FindingFilter{
		"kind": {Kind: "loop."}, "runs": {Runs: []string{"other"}}, "tool": {Tool: "x"}, "severity": {Severity: agent.SeverityCritical},
	} {
		got, err := r.Findings(t.Context(), f)
		require.NoError(t, err, name)
		require.Empty(t, got, name)
	}
}

func TestHostileIdsReachTheServerAsTheyAre(t *testing.T) {
	s := open(t)
	echo := func(ctx *rapid.T, p params, sql string) []string {
		var set column.Set
		v := column.Add(&set, "v", column.NewString())
		var got []string
		err := s.wire.query(t.Context(), sql, p, &set, func() error {
			for i := range set.Rows() {
				got = append(got, v.Row(i))
			}
			return nil
		})
		if err != nil {
			ctx.Fatal(err)
		}
		return got
	}
	hostile := rapid.OneOf(
		rapid.String(),
		rapid.StringOfN(rapid.SampledFrom([]rune("'\"\\\t\n\r\x00\x08[],;`-{}:N")), 0, 12, -1),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) }),
	)
	rapid.Check(t, func(r *rapid.T) {
		text := hostile.Draw(r, "text")
		if got := echo(r, params{}.text("x", text), "SELECT {x:String} AS v"); len(got) != 1 || got[0] != text {
			r.Fatalf("text: got %q, want %q", got, text)
		}
		list := rapid.SliceOfN(hostile, 1, 5).Draw(r, "list")
		got := echo(r, params{}.texts("x", list), "SELECT arrayJoin({x:Array(String)}) AS v")
		if len(got) != len(list) {
			r.Fatalf("list: got %q, want %q", got, list)
		}
		for i := range list {
			if got[i] != list[i] {
				r.Fatalf("list: got %q, want %q", got, list)
			}
		}
	})
}

func TestAValueThatLooksLikeAnExceptionIsOnlyAValue(t *testing.T) {
	s := open(t)
	text := "\r\n__exception__\r\nCode: 60. DB::Exception: no such table\r\n__exception__\r\n"
	b := NewBatch()
	b.AddSpan(span("u", 1, 1, nil), []agent.Body{{Ref: agent.Ref{1}, Text: text, Expires: inADay()}}, nil)
	require.NoError(t, s.Insert(t.Context(), b))
	texts, err := s.Tenant("acme").Bodies(t.Context(), []string{"u"}, []agent.Ref{{1}})
	require.NoError(t, err)
	require.Equal(t, text, texts[agent.Ref{1}])
}

func TestAnIdOfAnyLengthIsLookedFor(t *testing.T) {
	s := open(t)
	long := make([]string, 0, 4000)
	for i := range 4000 {
		long = append(long, "unit with a rather long and unusual name, number "+strconv.Itoa(i))
	}
	links, err := s.LinksOf(t.Context(), "acme", long)
	require.NoError(t, err)
	require.Empty(t, links)
}
