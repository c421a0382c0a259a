package sweep

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

func (b *bench) one(kind string) agent.Finding {
	b.t.Helper()
	var out []agent.Finding
	for _, f := range b.findings {
		if f.Kind == kind && f.Status != agent.StatusWithdrawn {
			out = append(out, f.Finding)
		}
	}
	require.Len(b.t, out, 1, kind)
	return out[0]
}

func TestWhatAPersonSaidSettlesAnUnknownOutcomeAndMakesTheRunDue(t *testing.T) {
	args := func(s *agent.Step) {
		s.Call.Arguments = agent.Content{State: agent.RecordedYes, Size: 2, Digest: agent.Digest{1}, Ref: agent.Ref{1}}
	}
	lost := func(s *agent.Step) { s.Outcome, s.Sign = agent.OutcomeUnknown, agent.SignLost }
	for name, c := range map[string]struct {
		way     agent.Settlement
		doubled bool
	}{
		"applied: the same act after it doubles it": {agent.SettlementApplied, true},
		"not applied: the act may run again":        {agent.SettlementNotApplied, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			act := span("r1", 1, 2, 1, refund("k"), lost, args)
			b.insert(noon, span("r1", 1, 1, 0, root), act)
			b.tick(noon.Add(11 * time.Second))
			require.Equal(t, agent.StatusOpen, b.one("outcome.unknown").Status)
			require.EqualValues(t, 1, b.summaries["r1"].UnknownOpen)

			said := noon.Add(20 * time.Second)
			b.resolve(said, act, c.way)
			require.Equal(t, 1, b.tick(said.Add(10*time.Second)).Runs, "the run is due")
			require.Equal(t, agent.StatusResolved, b.one("outcome.unknown").Status)
			require.Zero(t, b.summaries["r1"].UnknownOpen)

			again := span("r1", 1, 40, 1, refund("other"), args)
			b.insert(said.Add(20*time.Second), again)
			b.tick(said.Add(40 * time.Second))
			require.Equal(t, agent.StatusResolved, b.one("outcome.unknown").Status, "a later span loses no resolution")
			doubled := false
			for _, f := range b.findings {
				doubled = doubled || f.Kind == "effect.duplicate" && f.Status == agent.StatusOpen
				require.False(t, f.Kind == "outcome.unsafe_retry" && f.Status == agent.StatusOpen, "it was settled before it ran again")
			}
			require.Equal(t, c.doubled, doubled)
		})
	}
}
