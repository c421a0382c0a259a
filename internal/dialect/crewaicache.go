package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// maxCached is how many calls of a conversation are compared with each other.
const maxCached = 128

// cachedCall is a call of a conversation with its answer.
type cachedCall struct{ id, tool, arguments, answer string }

// crewAICache reads what OpenInference's package for CrewAI records of an agent:
// its conversation. A call that was answered, byte for byte, as an equal call
// before it came out of CrewAI's cache, unless a span says that it ran.
func crewAICache(span ptrace.Span, _ *look, st *canon.Stated) {
	if st.Op != agent.OpAgent {
		return
	}
	v, ok := span.Attributes().Get("output.value")
	if !ok {
		return
	}
	var calls []cachedCall
	sc := cjson.Scan(text(v))
	for sc.Object(); sc.Next(); {
		if sc.Key() == "messages" {
			calls = conversation(sc.Raw())
		}
	}
	for i := range calls {
		c := &calls[i]
		if c.answer == "" || strings.HasPrefix(c.answer, "Error") {
			continue
		}
		for k := range calls[:i] {
			if e := &calls[k]; e.tool == c.tool && e.arguments == c.arguments && e.answer == c.answer {
				addWord(st, agent.CallWord{ID: c.id, Sign: agent.SignRefused})
				break
			}
		}
	}
}

// conversation gives the calls of a list of messages in OpenAI's form.
func conversation(raw string) (calls []cachedCall) {
	sc := cjson.Scan(raw)
	for sc.Array(); sc.Next(); {
		var f foreign
		if !f.read(sc.Raw()) {
			continue
		}
		if f.callID != "" {
			for i := range calls {
				if calls[i].id == f.callID {
					calls[i].answer = cjson.Text(f.content)
				}
			}
			continue
		}
		asked := cjson.Scan(f.calls)
		for asked.Array(); asked.Next(); {
			call := asked.Raw()
			id, _ := cjson.Lookup(call, "id")
			tool, _ := cjson.Lookup(call, "function", "name")
			arguments, _ := cjson.Lookup(call, "function", "arguments")
			if id != "" && tool != "" && len(calls) < maxCached {
				calls = append(calls, cachedCall{id: id, tool: tool, arguments: arguments})
			}
		}
	}
	return calls
}
