package dialect

import (
	"strings"

	"github.com/steptrail/steptrail/internal/cjson"
)

// foreign is one message, or one item of the Responses API, as it came.
type foreign struct {
	typ, role, name, class, callID             string
	members                                    string // of a serialised LangChain message
	content, calls, extra, arguments, response string // as written
	isError                                    bool
}

func (f *foreign) read(raw string) bool {
	sc := cjson.Scan(raw)
	if sc.Kind() != cjson.KindObject {
		return false
	}
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "type":
			f.typ = stringOf(&sc)
		case "role":
			f.role = stringOf(&sc)
		case "name":
			f.name = stringOf(&sc)
		case "tool_call_id", "call_id", "callId":
			f.callID = stringOf(&sc)
		case "kwargs", "data":
			f.members = sc.Raw()
		case "id":
			if sc.Kind() == cjson.KindArray { // the path of a LangChain class
				for sc.Array(); sc.Next(); {
					f.class = sc.Text()
				}
			}
		case "content":
			f.content = sc.Raw()
		case "tool_calls":
			f.calls = sc.Raw()
		case "additional_kwargs":
			for sc.Object(); sc.Next(); {
				if sc.Key() == "tool_calls" {
					f.extra = sc.Raw()
				}
			}
		case "arguments":
			f.arguments = sc.Text()
		case "output":
			f.response = sc.Raw()
		case "status":
			f.isError = stringOf(&sc) == "error"
		}
	}
	return sc.End()
}

// stringOf takes a string; empty for another value.
func stringOf(sc *cjson.Scanner) string {
	if sc.Kind() == cjson.KindString {
		return sc.Text()
	}
	return ""
}

// foreign adds one message. What has a role canon reads as it is; LangChain's
// messages and items of the Responses API are written in OTel's form; what is no
// message is left out.
func (l *messageList) foreign(raw string) {
	var f foreign
	if !f.read(raw) {
		return
	}
	role := orElse(classRole(f.class), typeRole(f.typ))
	switch {
	case f.members != "" && role != "":
		var inner foreign
		if inner.read(f.members) {
			l.langChain(&inner, role)
		}
	case f.role != "":
		l.whole(raw)
	case role != "":
		l.langChain(&f, role)
	case f.typ == "function_call" && f.name != "":
		l.begin("assistant")
		l.call(f.callID, f.name, f.arguments)
		l.end("")
	case f.callID != "" && strings.HasPrefix(f.typ, "function_call_"):
		l.begin("tool")
		l.answer(f.callID, f.name, outputText(f.response), false)
		l.end("")
	}
}

// outputText is the output of a call as an item states it: a text, or an object
// with one.
func outputText(raw string) string {
	if strings.HasPrefix(raw, "{") {
		if said, ok := cjson.Lookup(raw, "text"); ok {
			return said
		}
	}
	return cjson.Text(raw)
}

// classRole gives the role that a LangChain message class stands for.
func classRole(class string) string {
	switch strings.TrimSuffix(class, "Chunk") {
	case "HumanMessage":
		return "user"
	case "AIMessage":
		return "assistant"
	case "SystemMessage":
		return "system"
	case "ToolMessage", "FunctionMessage":
		return "tool"
	}
	return ""
}

// typeRole gives the role that the type of a LangChain message stands for.
func typeRole(typ string) string {
	switch typ {
	case "human":
		return "user"
	case "ai":
		return "assistant"
	case "system":
		return "system"
	case "tool":
		return "tool"
	}
	return classRole(typ)
}

// langChain adds a LangChain message. Metadata of the response is no part of
// what was said.
func (l *messageList) langChain(f *foreign, role string) {
	l.begin(role)
	if role == "tool" {
		l.answer(f.callID, f.name, cjson.Text(f.content), f.isError)
		l.end("")
		return
	}
	calls := f.calls
	if calls == "" || calls == "[]" || calls == "null" {
		calls = f.extra
	}
	l.blocks(f.content, calls == "")
	l.calls(calls)
	l.end("")
}

// blocks adds content: a text, or a list of blocks. Calls among them are added
// only where they stand nowhere else.
func (l *messageList) blocks(raw string, calls bool) {
	sc := cjson.Scan(raw)
	if sc.Kind() == cjson.KindString {
		l.text(sc.Text())
		return
	}
	for sc.Array(); sc.Next(); {
		if sc.Kind() == cjson.KindString {
			l.text(sc.Text())
			continue
		}
		block := sc.Raw()
		typ, _ := cjson.Lookup(block, "type")
		switch typ {
		case "tool_use", "tool_call", "function_call":
			if !calls {
				continue
			}
		}
		l.raw(block)
	}
}

// calls adds a list of calls, as LangChain or OpenAI spell them.
func (l *messageList) calls(raw string) {
	sc := cjson.Scan(raw)
	for sc.Array(); sc.Next(); {
		var id, name, arguments, function string
		for sc.Object(); sc.Next(); {
			switch sc.Key() {
			case "id":
				id = stringOf(&sc)
			case "name":
				name = stringOf(&sc)
			case "args":
				arguments = sc.Text()
			case "function":
				function = sc.Raw()
			}
		}
		if function != "" {
			name, _ = cjson.Lookup(function, "name")
			arguments, _ = cjson.Find(function, "arguments")
			arguments = cjson.Text(arguments)
		}
		l.call(id, name, arguments)
	}
}
