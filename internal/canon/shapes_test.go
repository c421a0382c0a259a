package canon

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

// One conversation in the shapes that clients write has one comparison form.
func TestAMessageIsTheSameInEveryShape(t *testing.T) {
	for name, shapes := range map[string]struct {
		role agent.Role
		same []string
	}{
		"a call": {agent.RoleAssistant, []string{
			`{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"refund","arguments":{"n":1}}],"finish_reason":"tool_call"}`,
			`{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"refund","arguments":"{\"n\": 1}"}}]}`,
			`{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"refund","input":{"n":1}}]}`,
			`{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"refund","input":{"n":1}}}]}`,
			`{"role":"model","parts":[{"function_call":{"id":"c1","name":"refund","args":{"n":1}}}]}`,
			`{"role":"model","parts":[{"functionCall":{"id":"c1","name":"refund","args":{"n":1}}}]}`,
			`{"type":"function_call","call_id":"c1","id":"fc_1","name":"refund","arguments":"{\"n\":1}","status":"completed"}`,
			`{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","function":{"name":"refund","arguments":"{\"n\":1}"}}]}}`,
		}},
		"an answer": {agent.RoleTool, []string{
			`{"role":"tool","tool_call_id":"c1","content":"{\"ok\":true}"}`,
			`{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":{"ok":true}}]}`,
			`{"role":"tool","content":[{"toolResult":{"toolUseId":"c1","status":"success","content":[{"text":"{\"ok\": true}"}]}}]}`,
			`{"role":"tool","parts":[{"function_response":{"id":"c1","name":"refund","response":{"ok":true}}}]}`,
			`{"type":"function_call_output","call_id":"c1","output":"{\"ok\":true}"}`,
		}},
	} {
		x := extractor{hash: func(_ Domain, form []byte) (out agent.Digest) {
			copy(out[:], form)
			return out
		}}
		require.True(t, x.message(shapes.same[0], agent.RoleUser))
		want := string(x.form)
		for _, text := range shapes.same {
			require.True(t, x.message(text, agent.RoleUser), name)
			require.Equal(t, want, string(x.form), text)
			require.Equal(t, shapes.role, x.role, text)
			id := ""
			for _, c := range x.calls {
				id = c.ID
			}
			for _, a := range x.answers {
				id = a.ID
				require.Equal(t, agent.SignOK, a.Sign)
			}
			require.Equal(t, "c1", id, text)
		}
	}
}

func TestAnAnswerWithStatusErrorIsAnError(t *testing.T) {
	x := extractor{hash: func(Domain, []byte) agent.Digest { return agent.Digest{} }}
	require.True(t, x.message(`{"role":"user","content":[{"toolResult":{"toolUseId":"c1","status":"error","content":[{"text":"no"}]}}]}`, agent.RoleUser))
	require.Equal(t, agent.SignRejected, x.answers[0].Sign)
}

func TestAWrapperInAWrapperIsNotFollowed(t *testing.T) {
	x := extractor{hash: func(Domain, []byte) agent.Digest { return agent.Digest{} }}
	deep := strings.Repeat(`{"message":`, 100) + `{"role":"tool"}` + strings.Repeat(`}`, 100)
	require.True(t, x.message(deep, agent.RoleUser))
	require.Equal(t, agent.RoleUser, x.role)
	require.True(t, x.message(`{"role":"user","parts":[`+strings.Repeat(`{"toolUse":`, 100)+`{}`+strings.Repeat(`}`, 100)+`]}`, agent.RoleUser))
}
