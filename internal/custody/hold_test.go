package custody

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
	"github.com/steptrail/steptrail/internal/store"
)

// expire lets every row of the tables expire that no hold keeps, as time would.
func (b *bench) expire() {
	b.t.Helper()
	for _, table := range []string{"steps", "messages", "message_facts", "log_content", "unit_keys", "run_links", "attempts", "acts", "findings", "runs", "resolutions"} {
		b.engine.Exec("ALTER TABLE " + table + " DELETE WHERE expires_at < toDateTime('2100-01-01 00:00:00', 'UTC') SETTINGS mutations_sync = 2")
	}
}

// answers is what the reader says of a run, wherever it can be asked.
func (b *bench) answers(run string) string {
	b.t.Helper()
	r := b.Tenant(tenant)
	g, err := r.RunGroup(b.t.Context(), run)
	if err != nil {
		return err.Error()
	}
	var refs []agent.Ref
	tools := ""
	for _, s := range g.Input.Steps {
		refs = append(refs, s.Call.Arguments.Ref)
		tools += s.Call.Tool + s.Call.Target + " "
	}
	bodies, err := r.Bodies(b.t.Context(), g.Units, refs)
	require.NoError(b.t, err)
	found, err := r.Findings(b.t.Context(), store.FindingFilter{Runs: []string{run}})
	require.NoError(b.t, err)
	acts, err := b.ActsOf(b.t.Context(), tenant, g.Units)
	require.NoError(b.t, err)
	links, err := b.LinksOf(b.t.Context(), tenant, g.Units)
	require.NoError(b.t, err)
	said, err := r.Resolutions(b.t.Context(), g.Units)
	require.NoError(b.t, err)
	byTarget, err := r.Summaries(b.t.Context(), store.RunFilter{Target: []string{"account/" + run}})
	require.NoError(b.t, err)
	return fmt.Sprint(tools, len(bodies), " bodies ", len(g.Input.Facts), " facts ", len(found), " findings ", len(acts), " acts ",
		len(links), " links ", len(said), " said ", len(byTarget), " by target")
}

func TestAHeldRunSurvivesItsTermAndEndsWithTheHold(t *testing.T) {
	for name, sel := range map[string]agent.Selector{
		"by run":    {Scope: agent.ScopeRun, Subject: "run-1"},
		"by target": {Scope: agent.ScopeTarget, Subject: "account/run-1"},
		"by user":   {Scope: agent.ScopeUser, Subject: "jane"},
		"by time":   {Scope: agent.ScopeTime},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, enginetest.Start(t))
			b.stopMerges()
			held := span("run-1", 1, func(s *agent.Step) { s.User = "jane" })
			if sel.Scope == agent.ScopeTime {
				sel.From, sel.To = held.Start-30e9, held.Start+30e9
			}
			b.insert(held, span("run-1", 2, func(s *agent.Step) { s.User = "jane" }))
			b.insert(span("run-2", 1, func(s *agent.Step) { s.Start, s.End = s.Start-3600e9, s.End-3600e9 }))
			require.NoError(t, b.WriteFindings(t.Context(), 0, []agent.Finding{{
				Tenant: tenant, Run: "run-1", ID: agent.FindingID{1}, Kind: "rule.x", Status: agent.StatusOpen, DetectedAt: held.End, Expires: held.Expires,
			}}))
			b.sweep()
			before := b.answers("run-1")
			require.Contains(t, before, "2 bodies 2 facts")
			parts := b.parts()

			h := b.place(sel)
			b.tick()
			require.Equal(t, parts, b.parts(), "nothing that was there is rewritten")
			require.Equal(t, before, b.answers("run-1"), "nothing counts twice")
			h = b.hold(h.ID)
			require.Equal(t, agent.HoldCopied, h.Event)
			require.Equal(t, int64(1), h.Runs)
			require.NotZero(t, h.Rows)
			copied := b.count("steps", "expires_at > '2100-01-01'")
			b.restart()
			b.tick()
			require.Equal(t, copied, b.count("steps", "expires_at > '2100-01-01'"), "a second look copies nothing")

			b.expire()
			require.Equal(t, before, b.answers("run-1"))
			require.Equal(t, map[string]int64{"run-1": 2}, b.runs(), "the other run went with its term")
			require.Contains(t, b.answers("run-2"), "not found")

			b.release(h.ID)
			b.tick()
			require.Equal(t, agent.HoldEnded, b.hold(h.ID).Event)
			require.Contains(t, b.answers("run-1"), "not found")
			require.Empty(t, b.runs())
		})
	}
}

// stopMerges keeps the engine from merging by itself, which would change the names of parts. What alters rows still runs.
func (b *bench) stopMerges() {
	b.t.Helper()
	for _, t := range b.tables() {
		b.engine.Exec("ALTER TABLE " + t + " MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 1")
	}
}

// parts are the active parts that a hold did not make.
func (b *bench) parts() []string {
	b.t.Helper()
	rows, err := b.engine.Conn().Query(b.t.Context(), `SELECT table || '/' || name FROM system.parts
		WHERE database = currentDatabase() AND active AND rows > 0 AND partition < '2100' AND partition != 'tuple()' AND table != 'run_changes' ORDER BY 1`)
	require.NoError(b.t, err)
	var out []string
	for rows.Next() {
		var name string
		require.NoError(b.t, rows.Scan(&name))
		out = append(out, name)
	}
	require.NoError(b.t, rows.Err())
	return out
}

func TestEndingAHoldLeavesTheRowsThatAreStillInTheirTerm(t *testing.T) {
	b := newBench(t, enginetest.Start(t))
	b.insert(span("run-1", 1, nil))
	b.sweep()
	h := b.place(agent.Selector{Scope: agent.ScopeRun, Subject: "run-1"})
	b.tick()
	b.sweep() // judged while it is held: what is written down has the term of the spans
	b.release(h.ID)
	b.tick()
	require.Equal(t, agent.HoldEnded, b.hold(h.ID).Event)
	require.Equal(t, map[string]int64{"run-1": 1}, b.runs())
	require.Contains(t, b.answers("run-1"), "1 bodies 1 facts")
	require.Zero(t, b.count("steps", "expires_at > '2100-01-01'"))
}

func TestOfTwoHoldsOnARunTheOtherStillHolds(t *testing.T) {
	b := newBench(t, enginetest.Start(t))
	b.insert(span("run-1", 1, nil))
	b.sweep()
	first := b.place(agent.Selector{Scope: agent.ScopeRun, Subject: "run-1"})
	b.place(agent.Selector{Scope: agent.ScopeTarget, Subject: "account/run-1"})
	b.tick()
	b.release(first.ID)
	b.tick()
	require.Equal(t, agent.HoldEnded, b.hold(first.ID).Event)
	b.expire()
	require.Equal(t, map[string]int64{"run-1": 1}, b.runs())
}

func TestARunCanBeHeldAgain(t *testing.T) {
	b := newBench(t, enginetest.Start(t))
	b.insert(span("run-1", 1, nil))
	b.sweep()
	for range 2 {
		h := b.place(agent.Selector{Scope: agent.ScopeRun, Subject: "run-1"})
		b.tick()
		require.Equal(t, 1, b.count("steps", "expires_at > '2100-01-01'"))
		b.release(h.ID)
		b.tick()
		require.Zero(t, b.count("steps", "expires_at > '2100-01-01'"))
	}
}

func TestLateSpansOfAHeldRunAreHeld(t *testing.T) {
	b := newBench(t, enginetest.Start(t))
	b.insert(span("run-1", 1, nil))
	b.sweep()
	h := b.place(agent.Selector{Scope: agent.ScopeUser, Subject: "jane"})
	b.tick()
	require.Zero(t, b.hold(h.ID).Runs)
	b.insert(span("run-1", 2, func(s *agent.Step) { s.User = "jane" }))
	b.sweep()
	b.tick()
	require.Equal(t, int64(1), b.hold(h.ID).Runs, "a run that came to be meant")
	b.insert(span("run-1", 3, nil))
	b.sweep()
	b.tick()
	b.expire()
	require.Equal(t, map[string]int64{"run-1": 3}, b.runs())
	require.Contains(t, b.answers("run-1"), "3 bodies 3 facts")
}

func TestAnErasureWaitsForTheHold(t *testing.T) {
	b := newBench(t, enginetest.Start(t))
	jane := func(s *agent.Step) { s.User = "jane" }
	b.insert(span("run-1", 1, jane), span("run-2", 1, jane))
	b.sweep()
	before := b.answers("run-1")
	h := b.place(agent.Selector{Scope: agent.ScopeRun, Subject: "run-1"})
	b.tick()
	id := b.request(agent.Selector{Scope: agent.ScopeUser, Subject: "jane"}, false)
	require.Equal(t, 1, b.tick().Waiting)
	e := b.erasureOf(id)
	require.Equal(t, agent.ErasureResolved, e.Event)
	require.Equal(t, int64(2), e.Waiting, "the unit of its span, and that of its trace")
	require.Empty(t, e.Subject, "whom it was about is forgotten")
	require.Equal(t, before, b.answers("run-1"))
	require.Zero(t, b.count("messages", "unit = 'run-2'"), "what no hold keeps is erased")
	certified := len(e.Removed)
	b.restart()
	b.tick()
	require.Len(t, b.erasureOf(id).Removed, certified, "waiting certifies nothing anew")

	b.release(h.ID)
	b.tick()
	require.Equal(t, agent.ErasureErased, b.erasureOf(id).Event)
	require.Zero(t, b.erasureOf(id).Waiting)
	require.Zero(t, b.count("messages", "1"))
	require.Zero(t, b.count("steps", "user = 'jane' OR target LIKE 'account%'"))
	require.Equal(t, map[string]int64{"run-1": 1, "run-2": 1}, b.runs())
}

func TestAHoldThatAnErasureWaitedForForgetsWhomItNamed(t *testing.T) {
	b := newBench(t, enginetest.Start(t))
	b.insert(span("run-1", 1, func(s *agent.Step) { s.User = "jane-doe" }))
	b.sweep()
	h := b.place(agent.Selector{Scope: agent.ScopeUser, Subject: "jane-doe"})
	b.tick()
	id := b.request(agent.Selector{Scope: agent.ScopeRun, Subject: "run-1"}, false)
	b.tick()
	require.Contains(t, b.holding("jane-doe"), "holds")
	b.release(h.ID)
	b.tick()
	b.tick()
	require.Equal(t, agent.ErasureErased, b.erasureOf(id).Event)
	require.Equal(t, agent.HoldEnded, b.hold(h.ID).Event)
	require.Empty(t, b.holding("jane-doe"))
}

func TestAnEndedHoldNamesNobody(t *testing.T) {
	for scope, subject := range map[agent.Scope]string{agent.ScopeUser: "jane-doe", agent.ScopeTarget: "account/jane-doe"} {
		b := newBench(t, enginetest.Start(t))
		h := b.place(agent.Selector{Scope: scope, Subject: "somebody else", Also: subject})
		b.tick()
		require.Equal(t, []string{"holds"}, b.holding("jane-doe"))
		b.release(h.ID)
		b.tick()
		require.Equal(t, agent.Selector{Scope: scope}, b.hold(h.ID).Selector)
		require.Empty(t, b.holding("jane-doe"))
		require.Empty(t, b.holding("somebody else"))
	}
}

func TestAJobMeansEitherSpellingOfItsSubject(t *testing.T) {
	b := newBench(t, enginetest.Start(t))
	b.insert(span("run-1", 1, func(s *agent.Step) { s.User = "jane@example.com" }), span("run-2", 1, func(s *agent.Step) { s.User = "[EMAIL:0]" }),
		span("run-3", 1, func(s *agent.Step) { s.User = "" }))
	b.sweep()
	both := agent.Selector{Scope: agent.ScopeUser, Subject: "[EMAIL:0]", Also: "jane@example.com"}
	h := b.place(both)
	b.tick()
	require.Equal(t, both, b.hold(h.ID).Selector)
	require.Equal(t, int64(2), b.hold(h.ID).Runs)
	b.release(h.ID)
	id := b.request(both, false)
	b.tick()
	require.Equal(t, int64(2), b.erasureOf(id).Runs)
	require.Equal(t, agent.Selector{Scope: agent.ScopeUser}, b.erasureOf(id).Selector)
	require.Empty(t, b.holding("jane@example.com"))
	require.Empty(t, b.holding("[EMAIL:0]"))
}

func TestNothingIsErasedWhileAHoldCannotBeLookedUp(t *testing.T) {
	b := newBench(t, enginetest.Start(t))
	b.insert(span("run-1", 1, nil))
	b.sweep()
	h := b.place(agent.Selector{Scope: agent.ScopeTarget, Subject: "account/run-1"})
	id := b.request(agent.Selector{Scope: agent.ScopeRun, Subject: "run-1"}, true)

	b.engine.Exec("RENAME TABLE attempts TO attempts_away") // the hold's look needs it, the erasure's does not
	_, err := b.keeper.Tick(t.Context(), b.now())
	require.ErrorContains(t, err, "hold "+h.ID.String())
	require.Equal(t, agent.ErasureResolved, b.erasureOf(id).Event)
	require.Equal(t, 1, b.count("steps", "run_id = 'run-1'"))

	b.engine.Exec("RENAME TABLE attempts_away TO attempts")
	b.tick()
	require.Equal(t, agent.HoldCopied, b.hold(h.ID).Event)
	require.Equal(t, int64(2), b.erasureOf(id).Waiting)
	b.release(h.ID)
	b.tick()
	b.tick()
	require.Zero(t, b.count("steps", "run_id = 'run-1'"))
}

func TestLateSpansOfAHeldRunAreKeptWhileItsErasureWaits(t *testing.T) {
	b := newBench(t, enginetest.Start(t))
	b.insert(span("run-1", 1, nil), span("run-2", 1, nil))
	b.sweep()
	h := b.place(agent.Selector{Scope: agent.ScopeRun, Subject: "run-1"})
	b.tick()
	id := b.request(agent.Selector{Scope: agent.ScopeRun, Subject: "run-1"}, false)
	b.request(agent.Selector{Scope: agent.ScopeRun, Subject: "run-2"}, false)
	require.Equal(t, 1, b.tick().Waiting)

	arrive := func(n byte) {
		batch := b.NewBatch()
		for _, run := range []string{"run-1", "run-2"} {
			st := span(run, n, nil)
			batch.AddSpan(st, []agent.Body{bodyOf("late "+run+fmt.Sprint(n), st)}, nil)
		}
		b.EraseKnown(batch)
		require.NoError(t, b.Insert(t.Context(), batch))
	}
	arrive(2)  // this process has erased run-2
	b.reopen() // one that reads it in the store
	arrive(3)
	require.Equal(t, 2, b.count("messages", "startsWith(body, 'late run-1')"))
	require.Equal(t, 2, b.count("steps", "unit = 'run-1' AND span_id != unhex('0000000000000001') AND target = 'account/run-1' AND expires_at < '2100-01-01'"))
	require.Zero(t, b.count("messages", "startsWith(body, 'late run-2')"))
	require.Equal(t, 3, b.count("steps FINAL", "unit = 'run-2' AND erased"))

	b.release(h.ID)
	b.tick()
	b.tick()
	require.Equal(t, agent.ErasureErased, b.erasureOf(id).Event)
	require.Zero(t, b.count("messages", "1"))
	require.Zero(t, b.count("steps", "NOT erased"))
}

func TestContentThatCameAsLogRecordsIsHeldWithItsRun(t *testing.T) {
	b := newBench(t, enginetest.Start(t))
	st := span("run-1", 1, nil)
	b.insert(st)
	b.addLog(st, "logged at once")
	b.sweep()
	b.place(agent.Selector{Scope: agent.ScopeTarget, Subject: "account/run-1"})
	b.tick()
	b.addLog(st, "logged late")
	b.tick()
	b.expire()
	require.Equal(t, 2, b.count("messages", "startsWith(body, 'logged')"))
	require.Equal(t, 2, b.count("log_content", "1"))
}

func TestLogRecordsInATraceOfSeveralRunsGoWithTheRunOfTheirSpan(t *testing.T) {
	shared, own := agent.TraceID{9}, agent.TraceID{8}
	one, two, alone := span("run-1", 1, nil), span("run-2", 2, nil), span("run-1", 3, nil)
	one.Trace, two.Trace, alone.Trace = shared, shared, own
	g := agent.Group{Input: agent.Input{
		Steps: []*agent.Step{one, two, alone},
		Logs:  []agent.LogContent{{Tenant: one.Tenant, Unit: shared.String(), Trace: shared, Span: one.Span}},
	}}
	require.ElementsMatch(t, []agent.UnitOfRun{
		{Unit: "run-1", Run: "run-1"}, {Unit: shared.String(), Run: "run-1"}, {Unit: own.String(), Run: "run-1"}, {Unit: "run-2", Run: "run-2"},
	}, unitsOf(g, func(*agent.Run) bool { return true }))
}
