package policy

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

const termsText = `version: 1
redaction: {mode: pseudonym, key: "0123456789abcdef", detectors: [email]}
retention:
  {act: 400d, human: 300d, think: 90d, read: 60d, content: 30d, findings: 400d, access_log: 400d, tenants: {short: {read: 10d}}}
sampling: {read_content: 0.25, grace: 1d}
`

func TestTermsFollowClassTenantAndSampling(t *testing.T) {
	p, err := Parse([]byte(termsText), nil)
	require.NoError(t, err)
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	const day = 24 * 3600
	in, out := "", "" // a unit that sampling keeps, and one that it leaves out
	for n := 0; in == "" || out == ""; n++ {
		if u := fmt.Sprint("run-", n); p.Sampling.Keeps(u) {
			in = u
		} else {
			out = u
		}
	}
	step := func(change func(*agent.Step)) *agent.Step {
		s := &agent.Step{Tenant: "t", Unit: in, Kind: agent.KindRead, Start: now.UnixNano(), Received: now.UnixNano()}
		change(s)
		return s
	}
	for name, c := range map[string]struct {
		step         *agent.Step
		row, content int64 // days after now
	}{
		"a read":                       {step(func(*agent.Step) {}), 60, 30},
		"a read that is left out":      {step(func(s *agent.Step) { s.Unit = out }), 60, 1},
		"one that failed":              {step(func(s *agent.Step) { s.Unit, s.Sign = out, agent.SignLost }), 60, 30},
		"one that says that it failed": {step(func(s *agent.Step) { s.Unit, s.Outcome = out, agent.OutcomeError }), 60, 30},
		"an act":                       {step(func(s *agent.Step) { s.Unit, s.Kind = out, agent.KindAct }), 400, 30},
		"a tool of no kind":            {step(func(s *agent.Step) { s.Unit, s.Kind, s.Op = out, agent.KindUnset, agent.OpTool }), 400, 30},
		"a reconcile":                  {step(func(s *agent.Step) { s.Unit, s.Kind = out, agent.KindReconcile }), 400, 30},
		"a person":                     {step(func(s *agent.Step) { s.Unit, s.Kind = out, agent.KindHuman }), 300, 30},
		"a model call":                 {step(func(s *agent.Step) { s.Unit, s.Kind = out, agent.KindThink }), 90, 30},
		"another tenant's read":        {step(func(s *agent.Step) { s.Tenant = "short" }), 10, 10},
		"a start long ago":             {step(func(s *agent.Step) { s.Start -= 365 * day * 1e9 }), 53, 23},
		"a start to come":              {step(func(s *agent.Step) { s.Start += 365 * day * 1e9 }), 60, 30},
	} {
		t.Run(name, func(t *testing.T) {
			got := p.Terms(c.step)
			want := Terms{Row: now.Unix() + c.row*day, Content: now.Unix() + c.content*day}
			if c.step.Start > c.step.Received {
				want.Row, want.Content, want.Future = want.Row+3600, want.Content+3600, true
			}
			want.Past = c.step.Start < c.step.Received
			require.Equal(t, want, got)
			require.LessOrEqual(t, got.Content, got.Row)
			require.GreaterOrEqual(t, p.FullContent(c.step), got.Content)
		})
	}
}

func TestSamplingKeepsTheStatedShareOfUnits(t *testing.T) {
	for _, share := range []float64{0, 0.1, 0.5, 1} {
		kept := 0
		for n := range 20_000 {
			if (Sampling{ReadContent: share}).Keeps(fmt.Sprint("unit-", n)) {
				kept++
			}
		}
		require.InDelta(t, share, float64(kept)/20_000, 0.015)
	}
}
