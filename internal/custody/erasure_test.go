package custody

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/engine"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
)

// canary is what a run to be erased says wherever a person or a model has a say.
const canary = "CANARY-b81d"

// told is a span with the canary in every field that is neither an id nor the
// name of a program's part.
func told(run string, n byte) *agent.Step {
	return span(run, n, func(s *agent.Step) {
		s.Name, s.Session, s.User, s.Escalation = "refund for "+canary, "session-"+canary, canary, canary
		s.Call.Target, s.Call.Key = "account/"+canary, "key-"+canary
		s.Model.ContextURI, s.ErrorType, s.ErrorText = "s3://"+canary, canary, "no money for "+canary
		s.Actor, s.Reason, s.Reconciles = canary, "asked by "+canary, "key-"+canary
		s.HTTP = agent.HTTP{Method: "POST", URL: "/accounts/" + canary, Key: "key-" + canary}
		f := agent.CallFacts{Tool: canary}
		s.Facts = string(f.Append(nil))
		s.Attributes = []agent.Attr{{Key: "note", Value: canary}, {Key: canary, Value: "1"}}
		s.Resource = []agent.Attr{{Key: "host", Value: canary}}
		s.Events = []agent.Event{{Time: s.Start, Name: canary, Attributes: []agent.Attr{{Key: "x", Value: canary}}}}
	})
}

// fill stores a run that says the canary everywhere: on spans, in bodies, in a
// log record, in a finding of the stream and in what a person noted.
func (b *bench) fill(run string) {
	b.t.Helper()
	st := told(run, 1)
	b.insert(st, told(run, 2), span(run, 3, func(s *agent.Step) { s.Kind, s.Call.Tool, s.Call.Target = agent.KindRead, "look", "" }))
	batch := b.NewBatch()
	body := bodyOf("logged: "+canary, st)
	batch.AddLog(agent.LogContent{Tenant: tenant, Unit: run, Trace: st.Trace, Span: st.Span, Message: body.Ref, Start: st.Start, Expires: st.Expires}, body,
		agent.MessageFacts{Ref: body.Ref, Role: agent.RoleUser})
	require.NoError(b.t, b.Insert(b.t.Context(), batch))
	require.NoError(b.t, b.WriteFindings(b.t.Context(), 0, []agent.Finding{{
		Tenant: tenant, Run: run, ID: agent.NewFindingID(tenant, run, "rule.x", canary), Kind: "rule.x", Anchor: canary, Status: agent.StatusOpen,
		Message: "said " + canary, DetectedAt: st.End, Expires: st.Expires,
	}}))
	require.NoError(b.t, b.Tenant(tenant).AddResolution(b.t.Context(), &agent.ResolutionRecord{
		Resolution: agent.Resolution{Unit: run, Trace: st.Trace, Span: st.Span, Way: agent.SettlementApplied, At: st.End},
		ID:         agent.ResolutionID{1}, Run: run, Actor: "op", Note: "for " + canary, Expires: st.Expires,
	}))
	b.sweep()
}

// clearParts has the engine remove what was replaced more than a second ago: a test does not wait for the disk, nor for the
// engine's next look.
func (b *bench) clearParts() {
	b.t.Helper()
	for _, t := range b.tables() {
		b.engine.Exec("ALTER TABLE "+t+" MODIFY SETTING old_parts_lifetime = 1", "ALTER TABLE "+t+" DROP PARTITION ID 'none'")
	}
}

// settle ticks until the erasure is done.
func (b *bench) settle(id agent.JobID) agent.Erasure {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		b.tick()
		b.clearParts()
		return b.erasureOf(id).Event == agent.ErasureDone
	}, 5*time.Minute, 500*time.Millisecond)
	return b.erasureOf(id)
}

func TestAnErasedRunIsNowhereAndItsSkeletonStays(t *testing.T) {
	var dir string
	e := enginetest.StartOwn(t, func(c *engine.Config) { dir = c.DataDir })
	b := newBench(t, e)
	b.stopMerges() // what they replace would count as the erasure's
	b.fill("run-1")
	b.insert(span("run-2", 1, nil))
	b.sweep()
	require.ElementsMatch(t, []string{"messages", "log_content", "steps", "attempts", "acts", "findings", "runs", "resolutions"},
		append(b.holding(canary), "log_content"), "the canary is where it can be") // log_content has places, no text
	before := b.attempts("run-1")

	id := b.request(agent.Selector{Scope: agent.ScopeUser, Subject: canary}, false)
	require.Contains(t, b.holding(canary), "erasures")
	b.tick()
	require.Empty(t, b.holding(canary), "no table answers with it any more")
	require.Equal(t, agent.ErasureErased, b.erasureOf(id).Event)
	done := b.settle(id)

	require.Empty(t, b.holding(canary))
	require.Zero(t, b.count("system.parts", "database = currentDatabase() AND NOT active AND rows > 0"), "replaced parts are gone")
	require.Empty(t, filesWith(t, dir, canary))
	require.Equal(t, before, b.attempts("run-1"), "what happened, of what kind, how it ended and when")
	require.Equal(t, map[string]int64{"run-1": 3, "run-2": 1}, b.runs())
	require.Equal(t, 1, b.count("messages", "unit = 'run-2'"), "another run keeps its content")
	require.Zero(t, b.count("messages", "unit = 'run-1'"))

	certified := map[string]int64{}
	for _, r := range done.Removed {
		certified[r.Table] += r.Rows
		require.NotZero(t, r.Digest)
	}
	require.Equal(t, int64(3), certified["steps"])
	require.Equal(t, int64(4), certified["messages"], "three arguments and a logged message")
	require.Equal(t, int64(1), certified["log_content"])
	require.Equal(t, int64(1), certified["resolutions"])
	require.Equal(t, int64(1), done.Runs)
	require.NotZero(t, done.Done)
}

// attempts gives what the skeleton of a run has to keep.
func (b *bench) attempts(run string) []string {
	b.t.Helper()
	rows, err := b.engine.Conn().Query(b.t.Context(), `SELECT formatRow('TSV', span_id, kind, outcome, executed, tool, started_at, ended_at)
		FROM attempts WHERE run = '`+run+`' ORDER BY started_at, version DESC LIMIT 1 BY span_id, part`)
	require.NoError(b.t, err)
	var out []string
	for rows.Next() {
		var s string
		require.NoError(b.t, rows.Scan(&s))
		out = append(out, s)
	}
	require.NoError(b.t, rows.Err())
	require.NotEmpty(b.t, out)
	return out
}

func filesWith(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // parts come and go
		}
		if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(text)) {
			found = append(found, path)
		}
		return nil
	}))
	return found
}

func TestAFullErasureLeavesNoRow(t *testing.T) {
	b := newBench(t, enginetest.Start(t))
	b.fill("run-1")
	b.insert(span("run-2", 1, nil))
	b.sweep()
	id := b.request(agent.Selector{Scope: agent.ScopeTarget, Subject: "account/" + canary}, true)
	b.tick()
	require.Equal(t, agent.ErasureErased, b.erasureOf(id).Event)
	for _, table := range []string{"steps", "messages", "message_facts", "log_content", "unit_keys", "run_links", "attempts", "acts", "resolutions"} {
		require.Zero(t, b.count(table, "unit = 'run-1'"), table)
	}
	require.Equal(t, map[string]int64{"run-2": 1}, b.runs())
	b.insert(told("run-1", 9)) // late, and known before it is stored, or found by the next look
	b.tick()
	require.Zero(t, b.count("steps", "unit = 'run-1'"))
}

// unaware does something as a process that has not read yet what was erased.
func (b *bench) unaware(do func()) {
	b.t.Helper()
	b.engine.Exec("CREATE TABLE erased_aside ENGINE = Memory AS SELECT * FROM erased_units")
	b.engine.Exec("TRUNCATE TABLE erased_units")
	b.reopen()
	do()
	b.engine.Exec("INSERT INTO erased_units SELECT * FROM erased_aside")
	b.engine.Exec("DROP TABLE erased_aside")
}

func TestLateSpansOfAnErasedRunAreErased(t *testing.T) {
	b := newBench(t, enginetest.Start(t))
	b.fill("run-1")
	id := b.request(agent.Selector{Scope: agent.ScopeRun, Subject: "run-1"}, false)
	b.tick()
	require.Empty(t, b.holding(canary))

	// A collector that does not know yet stores them as they are: the next look
	// takes them.
	b.unaware(func() { b.insert(told("run-1", 7)) })
	b.sweep()
	require.NotEmpty(t, b.holding(canary))
	b.restart()
	b.tick()
	require.Empty(t, b.holding(canary))
	require.Equal(t, agent.ErasureErased, b.erasureOf(id).Event)

	// One that knows stores no word of them.
	b.reopen()
	b.insert(told("run-1", 8))
	require.Empty(t, b.holding(canary))
	require.Equal(t, 1, b.count("steps", "unit = 'run-1' AND erased AND span_id = unhex('0000000000000008') AND outcome = 'ok' AND kind = 'act'"))

	// A span under another unit is known once the sweep has found its run.
	other := told("run-1", 9)
	other.Links = []agent.Link{{Trace: other.Trace, Span: agent.SpanID{7: 1}}}
	other.Trace = agent.TraceID{9}
	other.RunID, other.Unit = "", other.Trace.String()
	b.insert(other)
	require.NotEmpty(t, b.holding(canary))
	b.sweep()
	b.tick()
	require.Empty(t, b.holding(canary))
	require.Equal(t, 1, b.count("steps", "unit = '"+other.Unit+"' AND erased"))
}

func TestAnErasureGoesOnAfterARestart(t *testing.T) {
	b := newBench(t, enginetest.Start(t))
	b.fill("run-1")
	id := b.request(agent.Selector{Scope: agent.ScopeRun, Subject: "run-1"}, false)
	e := b.erasureOf(id)
	// The process ended after the first rows went: bodies are gone, the rest is not.
	require.NoError(t, b.keeper.resolve(t.Context(), &e, b.now()))
	b.engine.Exec("ALTER TABLE messages DELETE WHERE unit = 'run-1' SETTINGS mutations_sync = 2")
	require.NotEmpty(t, b.holding(canary))
	b.restart()
	b.tick()
	require.Empty(t, b.holding(canary))
	require.Equal(t, agent.ErasureErased, b.erasureOf(id).Event)
	require.Equal(t, map[string]int64{"run-1": 3}, b.runs())
}

func TestErasingWhatIsNotThereIsDoneAndCertifiesNothing(t *testing.T) {
	b := newBench(t, enginetest.Start(t))
	b.insert(span("run-1", 1, nil))
	b.sweep()
	id := b.request(agent.Selector{Scope: agent.ScopeUser, Subject: "nobody"}, false)
	done := b.settle(id)
	require.Empty(t, done.Removed)
	require.Zero(t, done.Runs)
	require.Equal(t, 1, b.count("messages", "1"))
}

func TestAnErasureIsNotDoneBeforeTheQueuesHaveForgotten(t *testing.T) {
	b := newBench(t, enginetest.Start(t))
	b.fill("run-1")
	asked, forgotten := 0, false
	b.forget = func() func() bool {
		asked++
		return func() bool { return forgotten }
	}
	b.restart()
	id := b.request(agent.Selector{Scope: agent.ScopeRun, Subject: "run-1"}, false)
	b.tick()
	require.Zero(t, asked, "a request may be on its way into the queue")
	cleared := func() bool {
		b.tick()
		b.clearParts()
		return b.count("system.parts", "database = currentDatabase() AND NOT active AND rows > 0") == 0
	}
	require.Eventually(t, cleared, 5*time.Minute, 500*time.Millisecond)
	b.tick()
	require.Equal(t, 1, asked)
	require.Equal(t, agent.ErasureErased, b.erasureOf(id).Event)
	b.restart()
	b.tick()
	b.tick()
	require.Equal(t, 2, asked, "another process asks its own")
	require.Equal(t, agent.ErasureErased, b.erasureOf(id).Event)
	forgotten = true
	b.settle(id)
}

// addLog stores a message that came as a log record: it names a trace and a span,
// and no run.
func (b *bench) addLog(st *agent.Step, text string) {
	b.t.Helper()
	batch, body := b.NewBatch(), bodyOf(text, st)
	batch.AddLog(agent.LogContent{
		Tenant: tenant, Unit: st.Trace.String(), Trace: st.Trace, Span: st.Span, Message: body.Ref, Start: st.Start, Expires: st.Expires,
	}, body, agent.MessageFacts{Ref: body.Ref, Role: agent.RoleUser})
	require.NoError(b.t, b.Insert(b.t.Context(), batch))
}

func TestContentThatCameAsLogRecordsGoesWithItsRun(t *testing.T) {
	for name, full := range map[string]bool{"the skeleton stays": false, "full": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, enginetest.Start(t))
			one, two := span("run-1", 1, nil), span("run-2", 1, nil)
			b.insert(one, two)
			b.addLog(one, "logged: "+canary)
			b.addLog(two, "logged for another run")
			b.sweep()
			id := b.request(agent.Selector{Scope: agent.ScopeTarget, Subject: "account/run-1"}, full)
			b.tick()
			require.Equal(t, agent.ErasureErased, b.erasureOf(id).Event)
			require.Empty(t, b.holding(canary))
			require.Equal(t, 1, b.count("messages", "body = 'logged for another run'"))
			certified := map[string]int64{}
			for _, r := range b.erasureOf(id).Removed {
				certified[r.Table] += r.Rows
			}
			require.Equal(t, int64(1), certified["log_content"])
			require.Equal(t, int64(2), certified["messages"])
			require.Equal(t, int64(1), b.erasureOf(id).Runs)

			b.addLog(one, "late: "+canary)
			require.Empty(t, b.holding(canary))
			b.unaware(func() { b.addLog(one, "late: "+canary) })
			b.tick()
			require.Empty(t, b.holding(canary))
		})
	}
}

func TestLogRecordsOfATraceThatAnErasedRunHadNotYetAreErased(t *testing.T) {
	b := newBench(t, enginetest.Start(t))
	b.insert(span("run-1", 1, nil), span("run-2", 1, nil))
	b.sweep()
	b.request(agent.Selector{Scope: agent.ScopeRun, Subject: "run-1"}, false)
	b.tick()
	late := span("run-1", 2, func(s *agent.Step) { s.Trace = agent.TraceID{9} })
	b.insert(late)
	b.addLog(late, "late: "+canary)
	b.addLog(span("run-2", 1, nil), "logged for another run")
	b.sweep()
	b.tick()
	require.Empty(t, b.holding(canary))
	require.Equal(t, 1, b.count("messages", "body = 'logged for another run'"))
}

func TestOtherRunsInATraceOfAnErasedRunStay(t *testing.T) {
	// Run-2 has no id of its own: its unit is the trace that run-1 stands in too.
	other := span("run-2", 9, func(s *agent.Step) { s.RunID = "" })
	other.Unit = other.Trace.String()
	inTrace := func(s *agent.Step) { s.Trace = other.Trace }
	b := newBench(t, enginetest.Start(t))
	b.insert(span("run-1", 1, inTrace), other, span("run-3", 2, inTrace))
	b.sweep()
	b.request(agent.Selector{Scope: agent.ScopeRun, Subject: "run-1"}, false)
	b.tick()
	require.Zero(t, b.count("messages", "unit = 'run-1'"))
	require.Equal(t, 1, b.count("messages", "unit = '"+other.Trace.String()+"'"))
	require.Equal(t, 1, b.count("messages", "unit = 'run-3'"))
}
