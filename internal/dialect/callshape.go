package dialect

import (
	"strings"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// bareArguments takes a call's arguments out of the shape in which wrappers of
// Python functions record them: {"args": [], "kwargs": {…}} and flags beside
// them. Any other text comes back as it is.
func bareArguments(raw string) string {
	if !strings.Contains(raw, `"kwargs"`) {
		return raw
	}
	sc := cjson.Scan(raw)
	if sc.Kind() != cjson.KindObject {
		return raw
	}
	kwargs := ""
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "kwargs":
			if sc.Kind() == cjson.KindObject {
				kwargs = sc.Raw()
			}
		case "args":
			if v := sc.Raw(); v != "[]" && v != "null" && v != "()" {
				return raw
			}
		case "sanitize_inputs_outputs":
		default:
			return raw
		}
	}
	if kwargs == "" || !sc.End() {
		return raw
	}
	return kwargs
}

// bareResult takes a tool's result out of the envelopes in which frameworks
// record it: LangChain's serialised tool message, LlamaIndex's output, the
// function response of Gemini. It also gives the call id and whether the
// envelope marks an error, where it has them. Any other text comes back as it is.
func bareResult(raw string) (result, callID string, isError bool) { return envelope(raw, true) }

func envelope(raw string, enter bool) (result, callID string, isError bool) {
	sc := cjson.Scan(raw)
	if sc.Kind() != cjson.KindObject {
		return raw, "", false
	}
	var typ, kwargs, data, output, response, rawOutput, name, id string
	lc, marked := false, false
	members := 0
	for sc.Object(); sc.Next(); members++ {
		switch sc.Key() {
		case "type":
			typ = sc.Text()
		case "data":
			data = sc.Raw()
		case "kwargs":
			kwargs = sc.Raw()
		case "output":
			output = sc.Raw()
		case "response":
			response = sc.Raw()
		case "raw_output":
			rawOutput = sc.Raw()
		case "name", "tool_name":
			name = sc.Text()
		case "id":
			id = sc.Text()
		case "lc":
			lc = true
		case "is_error":
			marked = sc.Raw() == "true"
		}
	}
	if !sc.End() {
		return raw, "", false
	}
	switch {
	case typ == "tool" && data != "":
		return toolMessage(data, raw)
	case lc && kwargs != "":
		return toolMessage(kwargs, raw)
	case enter && members == 1 && output != "" && output[0] == '{':
		if inner, id, failed := envelope(output, false); inner != output {
			return inner, id, failed
		}
	case typ == "tool" && data == "":
		return toolMessage(raw, raw)
	case rawOutput != "" && name != "":
		return cjson.Text(rawOutput), "", marked
	case response != "" && name != "" && members <= 4:
		return response, id, false
	}
	return raw, "", false
}

// toolMessage reads the members of a LangChain tool message; whole comes back
// where they are none.
func toolMessage(members, whole string) (content, callID string, isError bool) {
	found := false
	sc := cjson.Scan(members)
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "content":
			content, found = sc.Text(), true
		case "tool_call_id":
			callID = sc.Text()
		case "status":
			isError = sc.Text() == "error"
		}
	}
	if !found || !sc.End() || callID == "" {
		return whole, "", false
	}
	if callID == "null" {
		callID = ""
	}
	return content, callID, isError
}

// isSchema reports whether a text is the JSON schema of a tool's parameters
// rather than arguments: it has properties, or each of its members is an object
// with a type.
func isSchema(raw string) bool {
	sc := cjson.Scan(raw)
	if sc.Kind() != cjson.KindObject {
		return false
	}
	typed, members, properties := 0, 0, false
	for sc.Object(); sc.Next(); members++ {
		if sc.Kind() != cjson.KindObject {
			continue
		}
		if sc.Key() == "properties" {
			properties = true
		}
		inner := cjson.Scan(sc.Raw())
		for inner.Object(); inner.Next(); {
			if inner.Key() == "type" {
				typed++
			}
		}
	}
	return properties || members > 0 && typed == members
}

// graphCommand reads LangGraph's Command as a tool's result: the node that goes
// on, where it is one of the graph above, and the messages with which.
func graphCommand(raw string) (to, update string, ok bool) {
	if !strings.Contains(raw, `"goto"`) {
		return "", "", false
	}
	var graph string
	sc := cjson.Scan(raw)
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "graph":
			graph = sc.Text()
		case "goto":
			if sc.Kind() == cjson.KindString {
				to = sc.Text()
			} else if first, found := cjson.Lookup(sc.Raw(), "0"); found {
				to = first
			}
			ok = true
		case "update":
			update = sc.Raw()
		}
	}
	if graph != "__parent__" {
		to = ""
	}
	return to, update, ok && sc.End()
}

// afterCommand gives a tool's answer as the result states it, or, where that is
// LangGraph's Command, as the messages in it do. A Command may hand over.
func afterCommand(raw, result, callID string, isError bool, st *canon.Stated) (string, string, bool) {
	to, update, ok := graphCommand(raw)
	if !ok {
		return result, callID, isError
	}
	if to != "" {
		byDialect(st, agent.OpHandoff, agent.KindOther)
		st.HandoffTo = to
	} else if list, _ := cjson.Find(update, "messages"); list != "" {
		return lastAnswer(list, result)
	}
	return result, callID, isError
}

// lastAnswer is the last tool message of a list, else what stands for it.
func lastAnswer(list, otherwise string) (result, callID string, isError bool) {
	result = otherwise
	sc := cjson.Scan(list)
	for sc.Array(); sc.Next(); {
		if raw := sc.Raw(); raw != "" {
			if r, id, failed := bareResult(raw); id != "" {
				result, callID, isError = r, id, failed
			}
		}
	}
	return result, callID, isError
}

// unquoted takes a text out of the JSON string that it may be.
func unquoted(s string) string {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' && cjson.Valid(s) {
		return cjson.Text(s)
	}
	return s
}

// unfolded gives the JSON in a JSON string; other JSON as it is.
func unfolded(raw string) string {
	if len(raw) > 0 && raw[0] == '"' {
		if inner := cjson.Text(raw); cjson.Valid(inner) {
			return inner
		}
	}
	return raw
}
