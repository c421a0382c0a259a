package dialect

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

func TestACallThatPythonPrintedIsACallAgain(t *testing.T) {
	for name, c := range map[string]struct{ content, id, tool, arguments string }{
		"an object of the Responses API": {
			`ResponseFunctionToolCall(arguments='{"order_id": "A-1", "n": "it\'s"}', call_id='c1', name='refund', type='function_call', id='fc_1', async_=None)`,
			"c1", "refund", `{"order_id": "A-1", "n": "it's"}`,
		},
		"a dict of the chat API": {
			`{'id': 'c1', 'function': {'arguments': '{"a": "\\n \u00e4"}', 'name': 'refund'}, 'type': 'function'}`, "c1", "refund", `{"a": "\n ä"}`,
		},
		"a text":                  {`I called ResponseFunctionToolCall(name='x')`, "", "", ""},
		"a dict that is no call":  {`{'id': 'c1', 'name': 'x'}`, "", "", ""},
		"one that was cut off":    {`ResponseFunctionToolCall(arguments='{"order)`, "", "", ""},
		"one without a name":      {`ResponseFunctionToolCall(call_id='c1')`, "c1", "", ""},
		"a broken escape":         {`ResponseFunctionToolCall(name='\x4')`, "", "", ""},
		"an escape out of range":  {`ResponseFunctionToolCall(name='\UFFFFFFFF')`, "", "\uFFFD", ""},
		"an escape that is alone": {`ResponseFunctionToolCall(name='a\)`, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			part := string(cjson.AppendQuoted([]byte(`{"type":"text","content":`), c.content)) + "}"
			id, tool, arguments, ok := printedCall(part)
			require.Equal(t, c.tool != "", ok)
			require.Equal(t, []string{c.id, c.tool, c.arguments}, []string{id, tool, arguments})
		})
	}
}

func TestMessagesWithoutPrintedCallsStayAsTheyAre(t *testing.T) {
	for _, text := range []string{`[{"role":"assistant","parts":[{"type":"text","content":"{'a': 1}"}]}]`, `ResponseFunctionToolCall(`, `[{"role"`} {
		at := pcommon.NewMap()
		at.PutStr(canon.OutputMessages, text)
		unprintCalls(at)
		v, _ := at.Get(canon.OutputMessages)
		require.Equal(t, text, v.Str())
	}
}
