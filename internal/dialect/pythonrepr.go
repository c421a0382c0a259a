package dialect

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// OTel's own package for the OpenAI Agents SDK writes the calls that a model asks
// for as texts: what Python prints of the SDK's objects.

const callRepr = "ResponseFunctionToolCall("

// unprintCalls writes calls that came so as calls again. Messages without any come
// back as they are.
func unprintCalls(at pcommon.Map) {
	v, ok := at.Get(canon.OutputMessages)
	if !ok || v.Type() != pcommon.ValueTypeStr || !strings.Contains(v.Str(), callRepr) && !strings.Contains(v.Str(), "{'") {
		return
	}
	l := messageList{buf: make([]byte, 0, len(v.Str()))}
	found := false
	sc := cjson.Scan(v.Str())
	for sc.Array(); sc.Next(); {
		var role, finish, parts string
		for sc.Object(); sc.Next(); {
			switch sc.Key() {
			case "role":
				role = sc.Text()
			case "finish_reason":
				finish = sc.Text()
			case "parts":
				parts = sc.Raw()
			}
		}
		l.begin(role)
		in := cjson.Scan(parts)
		for in.Array(); in.Next(); {
			part := in.Raw()
			id, name, arguments, ok := printedCall(part)
			if !ok {
				l.raw(part)
				continue
			}
			found = true
			l.call(id, name, arguments)
		}
		l.end(finish)
	}
	if found && sc.End() {
		v.SetStr(l.list())
	}
}

// printedCall reads a text part that is wholly a printed call.
func printedCall(part string) (id, name, arguments string, ok bool) {
	content := ""
	sc := cjson.Scan(part)
	for sc.Object(); sc.Next(); {
		if sc.Key() == "content" {
			content = sc.Text()
		}
	}
	switch {
	case strings.HasPrefix(content, callRepr) && strings.HasSuffix(content, ")"):
		content = content[len(callRepr):]
	case strings.HasPrefix(content, "{'") && strings.HasSuffix(content, "}") && strings.Contains(content, "'function'"):
	default:
		return "", "", "", false
	}
	key := ""
	take := func(value string) {
		switch key {
		case "call_id":
			id = value
		case "id":
			if id == "" {
				id = value
			}
		case "name":
			name = value
		case "arguments":
			arguments = value
		}
	}
	for content != "" {
		switch c := content[0]; {
		case c == '\'' || c == '"':
			value, rest, closed := pythonString(content)
			if !closed {
				return "", "", "", false
			}
			if content = rest; strings.HasPrefix(rest, ":") {
				key = value
			} else {
				take(value)
				key = ""
			}
		case isWord(c):
			n := 1
			for n < len(content) && isWord(content[n]) {
				n++
			}
			if n < len(content) && content[n] == '=' {
				key = content[:n]
			}
			content = content[n:]
		default:
			content = content[1:]
		}
	}
	return id, name, arguments, name != ""
}

func isWord(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

// pythonString reads the string literal that a text begins with.
func pythonString(s string) (value, rest string, ok bool) {
	quote := s[0]
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			return b.String(), s[i+1:], true
		case c != '\\' || i+1 >= len(s):
			b.WriteByte(c)
		default:
			i++
			digits := 0
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'r':
				b.WriteByte('\r')
			case 'x':
				digits = 2
			case 'u':
				digits = 4
			case 'U':
				digits = 8
			default: // the character itself
				b.WriteByte(s[i])
			}
			if digits == 0 {
				continue
			}
			if i+digits >= len(s) {
				return "", "", false
			}
			n, err := strconv.ParseUint(s[i+1:i+1+digits], 16, 32)
			if err != nil {
				return "", "", false
			}
			b.WriteRune(rune(n))
			i += digits
		}
	}
	return "", "", false
}
