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
	var b *bench
	var spans []*agent.Step
	var stays []string
	var now time.Time
	for hour := 8 * time.Second; ; hour *= 2 { // until all is in place before the first term ends
		require.Less(t, hour, 10*time.Minute)
		b, now = newBench(t, enginetest.Start(t)), time.Now()
		spans = expiring(p, now, hour)
		b.insert(spans...)
		h := b.place(agent.Selector{Scope: agent.ScopeRun, Subject: "run-held"})
		b.tick()
		copied := b.hold(h.ID).Event
		stays = b.partsBeyond(now.Add(10 * 24 * time.Hour))
		stored := b.count("steps", "1")
		if time.Now().Before(time.Unix(spans[0].ContentExpires, 0)) {
			require.Equal(t, agent.HoldCopied, copied)
			require.NotEmpty(t, stays)
			require.Equal(t, 5, stored, "four, and the copy of the held one")
			break
		}
	}

	rows := func(table, condition string) int { return b.count(table, condition) }
	gone := func(table, condition string) {
		t.Helper()
		require.Eventually(t, func() bool {
			b.engine.Exec("SYSTEM START MERGES " + table) // it looks for expired parts now, not in some ten seconds
			return rows(table, condition) == 0
		}, 5*time.Minute, 250*time.Millisecond, "%s %s", table, condition)
	}
	const short = "expires_at < now() + INTERVAL 1 DAY"
	gone("messages", short)
	require.False(t, time.Now().Before(time.Unix(spans[0].ContentExpires, 0)))
	left := rows("steps", short)
	if time.Now().Before(time.Unix(spans[0].Expires, 0)) {
		require.Equal(t, 2, left, "content goes before the step")
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

// expiring are spans that came now, with the terms of the policy, in which an hour lasts as long as is said and a day as
// long as ever.
func expiring(p *policy.Policy, now time.Time, hour time.Duration) []*agent.Step {
	read := func(run, tenant string) *agent.Step {
		return span(run, 1, func(s *agent.Step) { s.Tenant, s.Kind, s.Call.Tool = tenant, agent.KindRead, "look" })
	}
	shortened := func(at int64) int64 {
		if term := at - now.Unix(); term < 24*3600 {
			return now.Unix() + term*int64(hour)/int64(time.Hour)
		}
		return at
	}
	spans := []*agent.Step{
		read("run-1", tenant), read("run-held", tenant), read("run-slow", "slow"),
		span("run-1", 2, nil), // an act
	}
	for _, st := range spans {
		st.Start, st.End, st.Received = now.UnixNano(), now.UnixNano()+1e6, now.UnixNano()
		terms := p.Terms(st)
		st.Expires, st.ContentExpires = shortened(terms.Row), shortened(terms.Content)
	}
	return spans
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
