package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/query/api"
)

func TestAStepIsNamedByTheMessagesAndEvidenceOfFindingsThatHold(t *testing.T) {
	step := func(id, span string, noSpan bool) *api.Step {
		return &api.Step{StepID: id, Attempts: []api.Attempt{{TraceID: "t", SpanID: "other"}, {TraceID: "t", SpanID: span, NoSpan: noSpan}}}
	}
	n := namedIn([]api.Finding{
		{Message: "step ~00000000000000aa did the same as step ~00000000000000bb; look", Status: api.FindingStatusOpen},
		{Evidence: []api.Evidence{{TraceID: "t", SpanID: "seen"}}, Status: api.FindingStatusResolved},
		{Message: "~00000000000000cc", Evidence: []api.Evidence{{TraceID: "t", SpanID: "withdrawn"}}, Status: api.FindingStatusWithdrawn},
	})
	require.True(t, n.step(step("~00000000000000aa", "x", false)))
	require.True(t, n.step(step("~00000000000000bb", "x", false)))
	require.True(t, n.step(step("~00000000000000cc", "seen", false)))
	require.False(t, n.step(step("~00000000000000cc", "withdrawn", false)))
	require.False(t, n.step(step("~00000000000000dd", "seen", true)), "the span is that of the model that asked")
	require.False(t, namedIn(nil).step(step("~00000000000000aa", "seen", false)))
}
