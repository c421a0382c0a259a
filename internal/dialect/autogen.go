package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// autoGenRuntime reads the spans of AutoGen's runtime: transport, no steps. What
// one processes holds the calls that a team's agents asked for and their results,
// which are nowhere else; every message comes to each agent of the team.
func autoGenRuntime(span ptrace.Span, _ *look, _ *canon.Stated) {
	if !strings.HasPrefix(span.Name(), "autogen process ") {
		return
	}
	at := span.Attributes()
	v, ok := at.Get("message")
	if !ok {
		return
	}
	var calls, answers messageList
	sc := cjson.Scan(text(v))
	for sc.Object(); sc.Next(); {
		if sc.Key() == "message" {
			autoGenEvent(sc.Raw(), &calls, &answers)
		}
	}
	if !sc.End() {
		return
	}
	calls.put(at, canon.OutputMessages)
	answers.put(at, canon.InputMessages)
}

// autoGenEvent reads an event of a team: calls that were asked for, or their
// results.
func autoGenEvent(event string, calls, answers *messageList) {
	typ, content := "", ""
	sc := cjson.Scan(event)
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "type":
			typ = sc.Text()
		case "content":
			content = sc.Raw()
		}
	}
	list, role := calls, "assistant"
	switch typ {
	case "ToolCallRequestEvent":
	case "ToolCallExecutionEvent":
		list, role = answers, "tool"
	default:
		return
	}
	list.begin(role)
	in := cjson.Scan(content)
	for in.Array(); in.Next(); {
		var id, name, arguments, result string
		failed := false
		for in.Object(); in.Next(); {
			switch in.Key() {
			case "id", "call_id":
				id = in.Text()
			case "name":
				name = in.Text()
			case "arguments":
				arguments = in.Text()
			case "content":
				result = in.Text()
			case "is_error":
				failed = in.Raw() == "true"
			}
		}
		if role == "tool" {
			list.answer(id, name, result, failed)
		} else {
			list.call(id, name, arguments)
		}
	}
	list.end("")
}
