package canon

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/cjson"
)

func quote(s string) string { return string(cjson.AppendQuoted(nil, s)) }

func TestAFrameworksFeedbackIsNoTurnOfTheUser(t *testing.T) {
	x := extractor{hash: func(Domain, []byte) agent.Digest { return agent.Digest{} }}
	for text, want := range map[string]bool{
		"Refund order 1": true,
		"<pyai:retry_feedback>no</pyai:retry_feedback>":       false,
		"1 validation error\n\nFix the errors and try again.": false,
		"For context: [desk] said: hello":                     false,
		"Fix the errors and try again. Then refund it.":       true,
	} {
		require.True(t, x.message(`{"role":"user","content":`+quote(text)+`}`, agent.RoleUser))
		require.Equal(t, want, x.facts().UserText, text)
	}
}

func TestTheEndOfABackgroundTaskAnswersTheCallThatDispatchedIt(t *testing.T) {
	x := extractor{hash: func(Domain, []byte) agent.Digest { return agent.Digest{} }}
	answer := func(result string) []agent.CallAnswer {
		require.True(t, x.message(`{"role":"tool","tool_call_id":"task-1","content":`+quote(result)+`}`, agent.RoleTool))
		return x.facts().Answers
	}
	for result, want := range map[string]agent.Sign{
		`{"task_id":"task-1","tool_use_id":"c1","tool_name":"refund","status":"completed"}`:                            agent.SignOK,
		`{"task_id":"task-1","tool_use_id":"c1","tool_name":"refund","status":"failed","error":{"type":"timeout"}}`:    agent.SignLost,
		`{"task_id":"task-1","tool_use_id":"c1","tool_name":"refund","status":"cancelled"}`:                            agent.SignLost,
		`{"task_id":"task-1","tool_use_id":"c1","tool_name":"refund","status":"failed","error":{"type":"tool_error"}}`: agent.SignException,
	} {
		got := answer(result)
		require.Len(t, got, 2, result)
		require.Equal(t, "c1", got[1].ID)
		require.Equal(t, want, got[1].Sign, result)
	}
	require.Len(t, answer(`{"task_id":"task-1","tool_use_id":"c1","status":"running"}`), 1)
	require.Len(t, answer(`{"task_id":"task-1","tool_use_id":"c1","status":"completed"`), 1, "cut off")
}
