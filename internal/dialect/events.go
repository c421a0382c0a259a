package dialect

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// Events that hold content, as span events and as log records.
const (
	eventDetails   = "gen_ai.client.inference.operation.details"
	eventSystem    = "gen_ai.system.message"
	eventUser      = "gen_ai.user.message"
	eventAssistant = "gen_ai.assistant.message"
	eventTool      = "gen_ai.tool.message"
	eventChoice    = "gen_ai.choice"
)

func isContentEvent(name string) bool {
	switch name {
	case eventDetails, eventSystem, eventUser, eventAssistant, eventTool, eventChoice:
		return true
	}
	return false
}

// contentEvents moves content from span events to the canonical attributes and
// removes the events. What the span has as attribute already stays.
func contentEvents(span ptrace.Span, op agent.Op) {
	evs := span.Events()
	found := false
	for i := range evs.Len() {
		if isContentEvent(evs.At(i).Name()) {
			found = true
			break
		}
	}
	if !found {
		return
	}
	at := span.Attributes()
	var input, output []byte
	if op != agent.OpTool {
		in, out := eventSizes(evs)
		input, output = make([]byte, 0, in), make([]byte, 0, out)
	}
	for i := range evs.Len() {
		ev := evs.At(i)
		switch name := ev.Name(); {
		case name == eventDetails:
			takeDetails(at, ev.Attributes(), op)
		case op == agent.OpTool:
			takeToolEvent(at, name, ev.Attributes())
		case name == eventChoice:
			output = appendElement(output, name, ev.Attributes())
		case isContentEvent(name):
			input = appendElement(input, name, ev.Attributes())
		}
	}
	putMissing(at, canon.InputMessages, input)
	putMissing(at, canon.OutputMessages, output)
	evs.RemoveIf(func(ev ptrace.SpanEvent) bool { return isContentEvent(ev.Name()) })
}

// eventSizes is about how long the lists of messages become.
func eventSizes(evs ptrace.SpanEventSlice) (input, output int) {
	for i := range evs.Len() {
		ev := evs.At(i)
		name := ev.Name()
		if !isContentEvent(name) || name == eventDetails {
			continue
		}
		n := 96
		for _, v := range ev.Attributes().All() {
			if v.Type() == pcommon.ValueTypeStr {
				n += len(v.Str()) + len(v.Str())/8
			}
		}
		if name == eventChoice {
			output += n
		} else {
			input += n
		}
	}
	return input, output
}

// takeDetails moves the attributes of an operation's details to the span. On a
// tool span its messages are arguments and result.
func takeDetails(at, details pcommon.Map, op agent.Op) {
	for k, v := range details.All() {
		to := k
		if op == agent.OpTool {
			switch k {
			case canon.InputMessages:
				takeCall(at, canon.ToolArguments, v, "arguments")
				continue
			case canon.OutputMessages:
				takeCall(at, canon.ToolResult, v, "response")
				continue
			}
		}
		switch to {
		case canon.InputMessages, canon.OutputMessages, canon.SystemInstructions, canon.ToolArguments, canon.ToolResult, toolDefinitions:
			if _, there := at.Get(to); !there {
				dst := at.PutEmpty(to)
				v.CopyTo(dst)
				asJSON(dst)
			}
		}
	}
}

// takeCall takes arguments or result of a tool span out of the one message, with
// one part, that its details hold; a value of another shape is what it is.
func takeCall(at pcommon.Map, to string, v pcommon.Value, member string) {
	if _, there := at.Get(to); there {
		return
	}
	raw := text(v)
	if part, ok := cjson.Find(raw, "0", "parts", "0", member); ok {
		raw = part
	}
	at.PutStr(to, raw)
}

// takeToolEvent: on a tool span the tool message holds the arguments, the choice
// the result.
func takeToolEvent(at pcommon.Map, name string, ev pcommon.Map) {
	key, from := "", ""
	switch name {
	case eventTool:
		key, from = canon.ToolArguments, "content"
	case eventChoice:
		key, from = canon.ToolResult, "message"
	default:
		return
	}
	v, ok := ev.Get(from)
	if !ok {
		return
	}
	if _, there := at.Get(key); !there {
		at.PutStr(key, text(v))
	}
}

func appendElement(list []byte, name string, m pcommon.Map) []byte {
	if len(list) == 0 {
		list = append(list, '[')
	} else {
		list = append(list, ',')
	}
	return appendMessage(list, name, m)
}

// appendMessage writes what an event says as a message in OTel's current form:
// role and parts.
func appendMessage(dst []byte, name string, m pcommon.Map) []byte {
	var e eventMessage
	e.read(m)
	role := e.role
	switch name {
	case eventSystem:
		role = "system"
	case eventUser:
		role = orElse(role, "user")
	case eventTool:
		role = "tool"
	default:
		role = orElse(role, "assistant")
	}
	dst = cjson.AppendQuoted(append(dst, `{"role":`...), role)
	dst = append(dst, `,"parts":[`...)
	from := len(dst)
	answers, ok := "", false
	if role == "tool" && e.id == "" {
		answers, ok = blocks(e.content) // each block answers a call of its own
	}
	switch {
	case ok:
		dst = append(dst, answers...)
	case role == "tool":
		dst = append(dst, `{"type":"tool_call_response","id":`...)
		dst = cjson.AppendQuoted(dst, e.id)
		dst = append(dst, `,"response":`...)
		dst = append(appendContent(dst, e.content), '}')
	default:
		dst = appendParts(dst, from, &e)
	}
	dst = append(dst, ']')
	if e.finish != "" {
		dst = cjson.AppendQuoted(append(dst, `,"finish_reason":`...), e.finish)
	}
	return append(dst, '}')
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// eventMessage is what an event, or a log record's body, holds.
type eventMessage struct {
	role, id, finish string
	content          pcommon.Value
	calls            pcommon.Value
}

func (e *eventMessage) read(m pcommon.Map) {
	for k, v := range m.All() {
		switch k {
		case "role":
			e.role = text(v)
		case "id":
			e.id = text(v)
		case "finish_reason":
			e.finish = text(v)
		case "content":
			e.content = v
		case "tool_calls":
			e.calls = v
		case "message":
			e.message(v)
		}
	}
}

// message takes the message of a choice: a map, the JSON of one, or its content.
func (e *eventMessage) message(v pcommon.Value) {
	if v.Type() == pcommon.ValueTypeMap {
		e.read(v.Map())
		return
	}
	raw := text(v)
	sc := cjson.Scan(raw)
	if v.Type() != pcommon.ValueTypeStr || sc.Kind() != cjson.KindObject || !cjson.Valid(raw) {
		e.content = v
		return
	}
	m := pcommon.NewMap()
	for _, key := range [...]string{"role", "content", "tool_calls", "finish_reason"} {
		if part, ok := cjson.Find(raw, key); ok && part != "null" {
			m.PutStr(key, cjson.Text(part))
		}
	}
	if m.Len() == 0 {
		e.content = v
		return
	}
	e.read(m)
}

func isSet(v pcommon.Value) bool { return v != (pcommon.Value{}) && v.Type() != pcommon.ValueTypeEmpty }

func appendParts(dst []byte, from int, e *eventMessage) []byte {
	if isSet(e.content) {
		if raw, ok := blocks(e.content); ok {
			dst = append(dst, raw...)
		} else {
			dst = append(dst, `{"type":"text","content":`...)
			dst = append(appendContent(dst, e.content), '}')
		}
	}
	if !isSet(e.calls) {
		return dst
	}
	if e.calls.Type() == pcommon.ValueTypeStr {
		return appendCallsJSON(dst, from, e.calls.Str())
	}
	if e.calls.Type() != pcommon.ValueTypeSlice {
		return dst
	}
	for _, c := range e.calls.Slice().All() {
		switch c.Type() {
		case pcommon.ValueTypeMap:
			dst = appendCall(comma(dst, from), c.Map())
		case pcommon.ValueTypeStr: // LiveKit: each call is JSON
			if cjson.Valid(c.Str()) {
				dst = appendCallJSON(comma(dst, from), c.Str())
			}
		default:
		}
	}
	return dst
}

func comma(dst []byte, from int) []byte {
	if len(dst) > from {
		return append(dst, ',')
	}
	return dst
}

// blocks gives the inside of content that is a list of blocks already.
func blocks(v pcommon.Value) (string, bool) {
	raw := ""
	switch v.Type() {
	case pcommon.ValueTypeSlice:
		raw = string(canon.AppendJSON(nil, v))
	case pcommon.ValueTypeStr:
		if s := v.Str(); len(s) > 1 && s[0] == '[' && cjson.Valid(s) {
			raw = s
		}
	}
	if raw == "" {
		return "", false
	}
	sc := cjson.Scan(raw)
	n := 0
	for sc.Array(); sc.Next(); n++ {
		if sc.Kind() != cjson.KindObject {
			return "", false
		}
	}
	end := len(raw) - 1
	for end > 0 && raw[end] != ']' {
		end--
	}
	if n == 0 || end == 0 {
		return "", false
	}
	return raw[1:end], true
}

func appendContent(dst []byte, v pcommon.Value) []byte {
	if !isSet(v) {
		return append(dst, "null"...)
	}
	return canon.AppendJSON(dst, v)
}

func appendCall(dst []byte, c pcommon.Map) []byte {
	dst = append(dst, `{"type":"tool_call"`...)
	if id, ok := c.Get("id"); ok {
		dst = cjson.AppendQuoted(append(dst, `,"id":`...), text(id))
	}
	f := c
	if v, ok := c.Get("function"); ok && v.Type() == pcommon.ValueTypeMap {
		f = v.Map()
	}
	if name, ok := f.Get("name"); ok {
		dst = cjson.AppendQuoted(append(dst, `,"name":`...), text(name))
	}
	if args, ok := f.Get("arguments"); ok {
		dst = append(dst, `,"arguments":`...)
		if s := text(args); args.Type() == pcommon.ValueTypeStr && cjson.Valid(s) {
			dst = append(dst, s...)
		} else {
			dst = canon.AppendJSON(dst, args)
		}
	}
	return append(dst, '}')
}

// appendCallsJSON takes calls that came as a JSON string; the analyzer reads
// their shape.
func appendCallsJSON(dst []byte, from int, raw string) []byte {
	if !cjson.Valid(raw) {
		return dst
	}
	sc := cjson.Scan(raw)
	for sc.Array(); sc.Next(); {
		dst = appendCallJSON(comma(dst, from), sc.Raw())
	}
	return dst
}

func appendCallJSON(dst []byte, call string) []byte {
	id, _ := cjson.Lookup(call, "id")
	name, ok := cjson.Lookup(call, "function", "name")
	if !ok {
		name, _ = cjson.Lookup(call, "name")
	}
	args, ok := cjson.Find(call, "function", "arguments")
	if !ok {
		args, ok = cjson.Find(call, "arguments")
	}
	dst = cjson.AppendQuoted(append(dst, `{"type":"tool_call","id":`...), id)
	dst = cjson.AppendQuoted(append(dst, `,"name":`...), name)
	if ok {
		dst = append(append(dst, `,"arguments":`...), args...)
	}
	return append(dst, '}')
}
