package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

func TestAValidationAheadOfTheToolRefusesTheCall(t *testing.T) {
	for _, c := range []struct {
		typ, text string
		want      agent.Sign
	}{
		{"pydantic_core._pydantic_core.ValidationError", "1 validation error for refund\namount\n  Input should be a valid integer [type=int_type, input_value=None]", agent.SignRefused},
		{"ValidationError", "12 validation errors for refund", agent.SignRefused},
		{"Exception", "1 validation error for refund\namount\n  Field required [type=missing, input_value={}, input_type=dict]", agent.SignRefused},
		{"ValidationError", "1 validation error for RefundRequest\namount", agent.SignRejected}, // the tool's own
		{"ValidationError", "validation error for refund", agent.SignRejected},
		{"ValidationError", "1 validation error for refund_all", agent.SignRejected},
		{"TimeoutError", "1 validation error for refund", agent.SignLost},
	} {
		got := agent.JudgeSpan(agent.SpanEvidence{Ended: true, Failed: true, Error: agent.ErrorEvidence{Type: c.typ, Text: c.text, Tool: "refund"}})
		require.Equal(t, c.want, got, c.text)
	}
}

func TestAWaitForAnEventIsADeferral(t *testing.T) {
	require.Equal(t, agent.SignDeferred, agent.JudgeError(agent.ErrorEvidence{Type: "workflows.runtime.types.results.WaitingForEvent", Text: "Waiting for event"}))
}
