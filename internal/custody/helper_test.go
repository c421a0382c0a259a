package custody

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
	"github.com/steptrail/steptrail/internal/policy"
	"github.com/steptrail/steptrail/internal/store"
	"github.com/steptrail/steptrail/internal/sweep"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const tenant = "acme"

const policyText = `version: 1
tools: [{match: "refund", class: act}, {match: "look", class: read}]
detection: {quiet: 1s}
redaction: {mode: pseudonym, key: "0123456789abcdef", detectors: [email]}
retention: {act: 2d, human: 2d, think: 2d, read: 2d, content: 1d, findings: 2d, access_log: 2d}
`

// bench is a store on the real engine with a sweeper and a keeper.
type bench struct {
	t      *testing.T
	engine *enginetest.Engine
	*store.Store
	sweeper *sweep.Sweeper
	keeper  *Keeper
	forget  Forget        // of the keeper
	clock   time.Duration // how far the keeper's clock is ahead
}

func newBench(t *testing.T, e *enginetest.Engine) *bench {
	t.Helper()
	b := &bench{t: t, engine: e}
	b.reopen()
	require.NoError(t, b.Migrate(t.Context()))
	return b
}

// reopen is another process.
func (b *bench) reopen() {
	b.t.Helper()
	st, err := store.Open(b.t.Context(), b.engine.Options(), store.Config{Database: b.engine.Database})
	require.NoError(b.t, err)
	b.t.Cleanup(func() { require.NoError(b.t, st.Close()) })
	b.Store = st
	b.restart()
}

// restart forgets all that a process has in memory but the store's client.
func (b *bench) restart() {
	b.t.Helper()
	p, err := policy.Parse([]byte(policyText), nil)
	require.NoError(b.t, err)
	b.sweeper = sweep.New(b.Store, p, sweep.Config{})
	b.keeper = New(b.Store, func(ctx context.Context, units []agent.UnitID, now time.Time) error {
		_, err := b.sweeper.Units(ctx, units, now)
		return err
	}, &sync.Mutex{}, b.forget)
}

// sweep judges all that is stored, as if it were quiet.
func (b *bench) sweep() {
	b.t.Helper()
	_, err := b.sweeper.Range(b.t.Context(), time.Now().Add(-time.Hour), time.Now().Add(time.Minute), b.now().Add(time.Minute))
	require.NoError(b.t, err)
}

// now is a time later than each before it.
func (b *bench) now() time.Time {
	b.clock += time.Millisecond
	return time.Now().Add(b.clock)
}

func (b *bench) tick() Stats {
	b.t.Helper()
	s, err := b.keeper.Tick(b.t.Context(), b.now())
	require.NoError(b.t, err)
	return s
}

// life is how long the spans of a test are kept.
var life = 24 * time.Hour

func span(run string, n byte, change func(*agent.Step)) *agent.Step {
	sum := sha256.Sum256([]byte(run))
	st := &agent.Step{
		Tenant: tenant, Unit: run, RunID: run, Trace: agent.TraceID(sum[:16]), Span: agent.SpanID{7: n}, Name: "execute_tool refund",
		Op: agent.OpTool, Kind: agent.KindAct, KindSource: agent.KindSourcePolicy, Index: -1, Sign: agent.SignOK, Outcome: agent.OutcomeOK, Service: "svc",
		Call:     agent.Call{Tool: "refund", Target: "account/" + run, ID: fmt.Sprint("call-", run, n)},
		Start:    time.Now().Add(-time.Minute).UnixNano() + int64(n)*1e6,
		Received: time.Now().Add(-time.Minute).UnixNano(),
		Expires:  time.Now().Add(life).Unix(), ContentExpires: time.Now().Add(life / 2).Unix(),
	}
	st.End = st.Start + 5e5
	if change != nil {
		change(st)
	}
	return st
}

func bodyOf(text string, st *agent.Step) agent.Body {
	sum := sha256.Sum256([]byte(text))
	return agent.Body{Ref: agent.Ref(sum[:16]), Text: text, Expires: st.ContentExpires}
}

// insert stores spans, each with a body of its arguments.
func (b *bench) insert(steps ...*agent.Step) {
	b.t.Helper()
	batch := b.NewBatch()
	for _, st := range steps {
		body := bodyOf(`{"of":"`+st.Call.Target+st.Span.String()+`"}`, st)
		st.Call.Arguments = agent.Content{State: agent.RecordedYes, Digest: agent.Digest(body.Ref), Ref: body.Ref, Size: int64(len(body.Text))}
		batch.AddSpan(st, []agent.Body{body}, []agent.MessageFacts{{Ref: body.Ref, Role: agent.RoleUser}})
	}
	require.NoError(b.t, b.Insert(b.t.Context(), batch))
}

func (b *bench) place(sel agent.Selector) agent.Hold {
	b.t.Helper()
	h := agent.Hold{ID: newID(), Tenant: tenant, Selector: sel, Owner: "legal", Reason: "case 7", Event: agent.HoldPlaced, Placed: b.now().UnixNano()}
	require.NoError(b.t, b.WriteHold(b.t.Context(), &h, h.Placed))
	return h
}

func (b *bench) release(id agent.JobID) {
	b.t.Helper()
	h := b.hold(id)
	h.Event, h.Released = agent.HoldReleased, b.now().UnixNano()
	require.NoError(b.t, b.WriteHold(b.t.Context(), &h, h.Released))
}

func (b *bench) hold(id agent.JobID) agent.Hold {
	b.t.Helper()
	all, err := b.Tenant(tenant).Holds(b.t.Context(), id)
	require.NoError(b.t, err)
	require.Len(b.t, all, 1)
	return all[0]
}

func (b *bench) request(sel agent.Selector, full bool) agent.JobID {
	b.t.Helper()
	e := agent.Erasure{ID: newID(), Tenant: tenant, Selector: sel, Full: full, Event: agent.ErasureRequested, Requested: b.now().UnixNano()}
	require.NoError(b.t, b.WriteErasure(b.t.Context(), &e, e.Requested))
	return e.ID
}

func (b *bench) erasureOf(id agent.JobID) agent.Erasure {
	b.t.Helper()
	e, err := b.Tenant(tenant).Erasure(b.t.Context(), id)
	require.NoError(b.t, err)
	return e
}

var lastID byte

func newID() agent.JobID {
	lastID++
	return agent.JobID{15: lastID}
}

// tables are those of the test's database.
func (b *bench) tables() []string {
	b.t.Helper()
	rows, err := b.engine.Conn().Query(b.t.Context(), "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' ORDER BY name")
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

// count counts rows of a table that meet a condition.
func (b *bench) count(table, condition string) int {
	b.t.Helper()
	var n uint64
	require.NoError(b.t, b.engine.Conn().QueryRow(b.t.Context(), "SELECT count() FROM "+table+" WHERE "+condition).Scan(&n))
	return int(n)
}

// holding gives the tables with rows in which any column holds the text.
func (b *bench) holding(text string) []string {
	b.t.Helper()
	var out []string
	for _, table := range b.tables() {
		if b.count(table, "position(formatRow('TSVRaw', *), '"+text+"') > 0") > 0 {
			out = append(out, table)
		}
	}
	return out
}

// runs gives the runs that the tenant's list has, and how many steps each has.
func (b *bench) runs() map[string]int64 {
	b.t.Helper()
	all, err := b.Tenant(tenant).Summaries(b.t.Context(), store.RunFilter{})
	require.NoError(b.t, err)
	out := map[string]int64{}
	for _, s := range all {
		out[s.RunID] = s.Spans
	}
	return out
}
