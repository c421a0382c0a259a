package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

// A model call is never unknown, whatever kind its span states.
func TestAModelCallIsNeverUnknownWhateverItIsCalled(t *testing.T) {
	steps := make([]*agent.Step, 2)
	for i := range steps {
		steps[i] = &agent.Step{
			Tenant: "acme", Trace: agent.TraceID{1}, Span: agent.SpanID{byte(i + 1)}, RunID: "r", StepID: "s", Index: -1,
			Start: int64(i+1) * 1e9, End: int64(i+1) * 1e9, Op: agent.OpModel,
		}
	}
	steps[1].Kind, steps[1].KindSource, steps[1].Outcome = agent.KindHuman, agent.KindSourcePolicy, agent.OutcomeUnknown
	r := agent.NewRun("r", agent.Input{Steps: steps})
	require.Len(t, r.Steps, 1)
	require.Equal(t, agent.KindThink, r.Steps[0].Kind)
	require.Equal(t, agent.OutcomeError, r.Steps[0].Attempts[1].Outcome)
}
