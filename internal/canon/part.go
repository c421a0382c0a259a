package canon

import "github.com/steptrail/steptrail/internal/cjson"

// part is what one part or block says.
type part struct {
	typ, id, name, arguments, response, content, text, function string

	wrapped, wrappedType string // a call or an answer under a name of its own
	isError              bool
}

func readPart(raw string) part {
	p := readFields(raw)
	if p.typ != "" || p.wrapped == "" || p.wrapped[0] != '{' {
		return p
	}
	inner := readFields(p.wrapped)
	inner.typ, inner.wrapped = p.wrappedType, ""
	return inner
}

func originOf(raw string) (id, name string) {
	sc := cjson.Scan(raw)
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "id":
			id = nonNull(sc.Text())
		case "tool_name":
			name = nonNull(sc.Text())
		}
	}
	return id, name
}

func readFields(raw string) part {
	var p part
	sc := cjson.Scan(raw)
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "type":
			p.typ = sc.Text()
		case "id", "tool_call_id", "tool_use_id", "call_id", "toolUseId", "toolCallId", "ref":
			// tool_use_id names the call that a block answers; id would be its own.
			if v := sc.Key(); v != "id" || p.id == "" {
				p.id = nonNull(sc.Text())
			}
		case "name", "tool_name", "toolName":
			p.name = nonNull(sc.Text())
		case "arguments", "input", "args":
			p.arguments = sc.Raw()
		case "response", "result", "output":
			p.response = sc.Raw()
		case "content":
			p.content = sc.Raw()
		case "text":
			p.text = sc.Raw()
		case "function":
			p.function = sc.Raw()
		case "is_error", "isError":
			p.isError = p.isError || sc.Raw() == "true"
		case "status":
			p.isError = p.isError || sc.Text() == "error"
		case "origin": // Haystack: the call that a result answers
			p.id, p.name = originOf(sc.Raw())
		case "error":
			p.isError = p.isError || sc.Raw() == "true"
		case "toolUse", "function_call", "functionCall", "tool_call", "toolRequest": // Bedrock, Gemini, Haystack, Genkit
			p.wrapped, p.wrappedType = sc.Raw(), "tool_call"
		case "toolResult", "function_response", "functionResponse", "tool_call_result", "toolResponse":
			p.wrapped, p.wrappedType = sc.Raw(), "tool_call_response"
		}
	}
	return p
}

// typedOutput takes the value out of an answer that says what it is, as the AI
// SDK writes it: {"type":"json","value":…}, or a text, an error, a denial. Any
// other answer comes back as it is.
func typedOutput(raw string) (value string, isError, denied bool) {
	sc := cjson.Scan(raw)
	if sc.Kind() != cjson.KindObject {
		return raw, false, false
	}
	typ, members := "", 0
	for sc.Object(); sc.Next(); members++ {
		switch sc.Key() {
		case "denied":
			denied = sc.Raw() == "true"
		case "type":
			typ = sc.Text()
		case "value":
			value = sc.Raw()
		case "reason", "providerOptions":
			members--
		}
	}
	switch {
	case !sc.End():
	case typ == "execution-denied" && members == 1, denied && typ == "" && members == 1: // version 7 writes no type
		return raw, false, true
	case value == "" || members != 2:
	case typ == "error-text", typ == "error-json":
		return value, true, false
	case typ == "text", typ == "json", typ == "content":
		return value, false, false
	}
	return raw, false, false
}

func nonNull(s string) string {
	if s == "null" {
		return ""
	}
	return s
}
