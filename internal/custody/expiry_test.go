package custody

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
	"github.com/steptrail/steptrail/internal/policy"
)

// shortTerms are hours where they are meant to end within the test, which makes
// seconds of them, and weeks where they are not, so that they are other parts.
const shortTerms = `version: 1
tools: [{match: "refund", class: act}, {match: "look", class: read}]
redaction: {mode: pseudonym, key: "0123456789abcdef", detectors: [email]}
retention: {act: 60d, human: 60d, think: 60d, read: 2h, content: 1h, findings: 60d, access_log: 60d, tenants: {slow: {read: 30d, content: 20d}}}
`

// TestRowsExpireByWholePartsContentBeforeSteps runs the engine's own expiry, with
// terms of seconds: content goes before steps, steps by class and tenant; what a
// hold keeps stays, and no part that stays is written anew.
func TestRowsExpireByWholePartsContentBeforeSteps(t *testing.T) {
	p, err := policy.Parse([]byte(shortTerms), nil)
	require.NoError(t, err)
	b := newBench(t, enginetest.Start(t))
	now := time.Now()
	read := func(run, tenant string) *agent.Step {
		return span(run, 1, func(s *agent.Step) { s.Tenant, s.Kind, s.Call.Tool = tenant, agent.KindRead, "look" })
	}
	spans := []*agent.Step{
		read("run-1", tenant), read("run-held", tenant), read("run-slow", "slow"),
		span("run-1", 2, nil), // an act
	}
	for _, st := range spans {
		st.Start, st.End, st.Received = now.UnixNano(), now.UnixNano()+1e6, now.UnixNano()
		terms := p.Terms(st)
		st.Expires, st.ContentExpires = shortened(now, terms.Row), shortened(now, terms.Content)
	}
	b.insert(spans...)
	h := b.place(agent.Selector{Scope: agent.ScopeRun, Subject: "run-held"})
	b.tick()
	require.Equal(t, agent.HoldCopied, b.hold(h.ID).Event)
	stays := b.partsBeyond(now.Add(10 * 24 * time.Hour))
	require.NotEmpty(t, stays)
	require.Equal(t, 5, b.count("steps", "1"), "four, and the copy of the held one")

	rows := func(table, condition string) int { return b.count(table, condition) }
	gone := func(table, condition string) {
		t.Helper()
		require.Eventually(t, func() bool { return rows(table, condition) == 0 }, 90*time.Second, 250*time.Millisecond, "%s %s", table, condition)
	}
	const short = "expires_at < now() + INTERVAL 1 DAY"
	gone("messages", short)
	require.GreaterOrEqual(t, time.Now(), now.Add(14*time.Second))
	if time.Now().Before(now.Add(28 * time.Second)) {
		require.Equal(t, 2, rows("steps", short), "content goes before the step")
	}
	gone("steps", short)
	gone("unit_keys", short)

	require.Equal(t, 1, rows("steps", "kind = 'act' AND unit = 'run-1'"), "by class")
	require.Equal(t, 1, rows("steps", "kind = 'read' AND tenant = 'slow'"), "by tenant")
	require.Equal(t, 1, rows("messages", "tenant = 'slow'"))
	require.Zero(t, rows("steps", "kind = 'read' AND unit = 'run-1'"))
	require.Contains(t, b.answers("run-held"), "1 bodies 1 facts")
	require.Equal(t, stays, b.partsBeyond(now.Add(10*24*time.Hour)), "nothing else is rewritten")

	// And show says what is left, and when it goes.
	due, err := b.Retention(t.Context())
	require.NoError(t, err)
	var held, act int64
	for _, d := range due {
		require.LessOrEqual(t, d.First, d.Last)
		require.Positive(t, d.Bytes, d.Table)
		switch {
		case d.Held && d.Table == "steps":
			held += d.Rows
		case d.Table == "steps" && d.Class == "act":
			act += d.Rows
			require.Equal(t, spans[3].Expires, d.Last)
		}
	}
	require.Equal(t, []int64{1, 1}, []int64{held, act})
}

// shortened makes half a minute of two hours, and leaves what is beyond a day.
func shortened(now time.Time, at int64) int64 {
	if term := at - now.Unix(); term < 24*3600 {
		return now.Unix() + term/240
	}
	return at
}

// partsBeyond are the active parts of rows that expire after a time.
func (b *bench) partsBeyond(at time.Time) []string {
	b.t.Helper()
	rows, err := b.engine.Conn().Query(b.t.Context(), `SELECT table || '/' || name FROM system.parts
		WHERE database = currentDatabase() AND active AND rows > 0 AND table != 'run_changes' AND partition > '`+at.Format(time.DateOnly)+`' AND partition < '2200' ORDER BY 1`)
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
