package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/steptrail/steptrail/internal/canon"
)

// The prefixes under which messages came flattened before OTel had a place for
// them: gen_ai.prompt.N.role, gen_ai.completion.N.tool_calls.M.name.
const (
	flatPrompt     = "gen_ai.prompt."
	flatCompletion = "gen_ai.completion."
)

// flatGenAI gives what follows the number of the message in such a name, and
// tells input from output.
func flatGenAI(k string) (message int32, field string, output, ok bool) {
	rest, ok := strings.CutPrefix(k, flatPrompt)
	if !ok {
		if rest, output = strings.CutPrefix(k, flatCompletion); !output {
			return 0, "", false, false
		}
	}
	message, field, ok = index(rest)
	return message, field, output, ok
}

// takeFlat makes lists of the messages that came flattened.
func takeFlat(at pcommon.Map) {
	var in, out flatMessages
	finish := ""
	for k, v := range at.All() {
		message, field, output, ok := flatGenAI(k)
		if !ok {
			continue
		}
		if output && field == "finish_reason" {
			finish = orElse(finish, text(v))
			continue
		}
		e := flatField{message: message, value: text(v)}
		if !e.genAI(field) {
			continue
		}
		if output {
			out.put(e)
		} else {
			in.put(e)
		}
	}
	at.RemoveIf(func(k string, _ pcommon.Value) bool {
		_, _, _, ok := flatGenAI(k)
		return ok
	})
	putNew(at, canon.InputMessages, in.list())
	putNew(at, canon.OutputMessages, out.list())
	putNew(at, canon.FinishReasons, finish)
}

// genAI reads the name of a field behind the number of its message.
func (e *flatField) genAI(field string) bool {
	switch field {
	case "role":
		e.name = flatRole
	case "content":
		if e.name = flatText; e.value == "null" {
			e.value = "" // what JavaScript makes of no content
		}
	case "tool_call_id":
		e.name = flatID
	case "function_call.name":
		e.group, e.name = flatCall, flatToolName
	case "function_call.arguments":
		e.group, e.name = flatCall, flatArguments
	default:
		rest, ok := strings.CutPrefix(field, "tool_calls.")
		if !ok {
			return false
		}
		e.group = flatCall
		if e.item, rest, ok = index(rest); !ok {
			return false
		}
		switch rest {
		case "id":
			e.name = flatID
		case "name", "function.name":
			e.name = flatToolName
		case "arguments", "function.arguments":
			e.name = flatArguments
		default:
			return false
		}
	}
	return true
}
