package dialect

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/steptrail/steptrail/internal/cjson"
)

// messageList writes messages in OTel's current form, role and parts, for a
// dialect that keeps them in pieces. The zero list is empty; each message is
// begun, filled and ended.
type messageList struct {
	buf  []byte
	from int // where the parts of the open message begin
}

// begin opens a message.
func (l *messageList) begin(role string) {
	if len(l.buf) == 0 {
		l.buf = append(l.buf, '[')
	} else {
		l.buf = append(l.buf, ',')
	}
	l.buf = cjson.AppendQuoted(append(l.buf, `{"role":`...), role)
	l.buf = append(l.buf, `,"parts":[`...)
	l.from = len(l.buf)
}

// text adds a text part; an empty text says nothing and adds none.
func (l *messageList) text(s string) { l.part("text", s) }

// part adds a part of a type with content that is a text.
func (l *messageList) part(typ, s string) {
	if s == "" {
		return
	}
	l.buf = cjson.AppendQuoted(append(comma(l.buf, l.from), `{"type":`...), typ)
	l.buf = append(cjson.AppendQuoted(append(l.buf, `,"content":`...), s), '}')
}

// raw adds a part, or several with commas between, that are JSON already.
func (l *messageList) raw(part string) {
	if part != "" {
		l.buf = append(comma(l.buf, l.from), part...)
	}
}

// call adds a tool call. Arguments are JSON, or a text that is none; empty ones
// were not recorded.
func (l *messageList) call(id, name, arguments string) {
	l.buf = append(comma(l.buf, l.from), `{"type":"tool_call"`...)
	l.member(`,"id":`, id)
	l.member(`,"name":`, name)
	l.content(`,"arguments":`, arguments)
	l.buf = append(l.buf, '}')
}

// answer adds the answer to a tool call, as call does.
func (l *messageList) answer(id, name, response string, isError bool) {
	l.buf = append(comma(l.buf, l.from), `{"type":"tool_call_response"`...)
	l.member(`,"id":`, id)
	l.member(`,"name":`, name)
	l.content(`,"response":`, response)
	if isError {
		l.buf = append(l.buf, `,"is_error":true`...)
	}
	l.buf = append(l.buf, '}')
}

func (l *messageList) member(key, value string) {
	if value != "" {
		l.buf = cjson.AppendQuoted(append(l.buf, key...), value)
	}
}

func (l *messageList) content(key, value string) {
	if value == "" {
		return
	}
	if l.buf = append(l.buf, key...); cjson.Valid(value) {
		l.buf = append(l.buf, value...)
	} else {
		l.buf = cjson.AppendQuoted(l.buf, value)
	}
}

// end closes the message.
func (l *messageList) end(finish string) {
	l.buf = append(l.buf, ']')
	l.member(`,"finish_reason":`, finish)
	l.buf = append(l.buf, '}')
}

// list gives the list as text; empty if it holds nothing.
func (l *messageList) list() string {
	if len(l.buf) == 0 {
		return ""
	}
	return string(append(l.buf, ']'))
}

// whole adds a message that is JSON already.
func (l *messageList) whole(message string) {
	if len(l.buf) == 0 {
		l.buf = append(l.buf, '[')
	} else {
		l.buf = append(l.buf, ',')
	}
	l.buf = append(l.buf, message...)
}

// put writes the list under a name that has no value yet; an empty list is none.
func (l *messageList) put(at pcommon.Map, key string) { putMissing(at, key, l.buf) }
