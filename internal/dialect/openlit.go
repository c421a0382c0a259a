package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// openLIT reads spans of OpenLIT: OTel GenAI, but a chat span also names the calls
// that its answer asks for, as if it were a tool's, and states a seed that nobody
// chose. The spans of its decorator have no kind: they are no steps, and the calls
// among them are found as requests with answers.
func openLIT(span ptrace.Span, l *look, st *canon.Stated) {
	genAI(span, l, st)
	if st.Op != agent.OpModel {
		return
	}
	at := span.Attributes()
	var name, id, args string
	for k, v := range at.All() {
		switch k {
		case canon.ToolName:
			name = text(v)
		case canon.ToolCallID:
			id = text(v)
		case "gen_ai.tool.args":
			args = text(v)
		}
	}
	requested(at, name, id, args)
	at.RemoveIf(func(k string, v pcommon.Value) bool {
		switch k {
		case canon.ToolName, canon.ToolCallID, "gen_ai.tool.args", canon.ToolType:
			return true
		case canon.RequestSeed:
			return v.Type() == pcommon.ValueTypeInt && v.Int() == 0
		}
		return false
	})
}

// requested writes the calls that a span names as its answer, where no message was
// recorded. Of several, whose arguments run together, names and ids are told apart.
func requested(at pcommon.Map, name, id, args string) {
	if name == "" {
		return
	}
	names, ids := strings.Split(name, ", "), strings.Split(id, ", ")
	if len(names) > 1 {
		args = ""
	}
	var l messageList
	l.begin("assistant")
	for i, n := range names {
		call := ""
		if len(ids) == len(names) {
			call = ids[i]
		}
		l.call(call, n, args)
	}
	l.end("")
	l.put(at, canon.OutputMessages)
}
