package dialect

import (
	"github.com/steptrail/steptrail/internal/cjson"
)

// Bodies of model calls as SDKs and frameworks send them, for instrumentations
// that record them whole: OpenAI's chat and Responses APIs, Anthropic's
// messages, LangChain's serialised messages and results.

// requestMessages gives the messages in the body of a request as a list in a
// form that canon reads; empty where there are none.
func requestMessages(raw string) string {
	sc := cjson.Scan(raw)
	switch sc.Kind() {
	case cjson.KindArray:
		return foreignMessages(raw)
	case cjson.KindObject:
	default:
		return ""
	}
	var messages, input, instructions string
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "messages":
			messages = sc.Raw()
		case "input":
			input = sc.Raw()
		case "instructions", "system":
			if sc.Kind() == cjson.KindString {
				instructions = sc.Raw()
			}
		}
	}
	if !sc.End() {
		return ""
	}
	list := foreignMessages(messages)
	if list == "" && input != "" {
		if list = foreignMessages(input); list == "" && input[0] == '"' {
			list = `[{"role":"user","content":` + input + `}]`
		}
	}
	if list != "" && instructions != "" {
		list = `[{"role":"system","content":` + instructions + `},` + list[1:]
	}
	return list
}

// responseMessages gives the messages in the body of a response, and the reason
// why it ended where the body says so.
func responseMessages(raw string) (list, finish string) {
	sc := cjson.Scan(raw)
	switch sc.Kind() {
	case cjson.KindArray:
		return foreignMessages(raw), ""
	case cjson.KindObject:
	default:
		return "", ""
	}
	var choices, generations, output, messages, content, role, calls string
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "choices":
			choices = sc.Raw()
		case "generations":
			generations = sc.Raw()
		case "output":
			output = sc.Raw()
		case "messages":
			messages = sc.Raw()
		case "content":
			content = sc.Raw()
		case "role":
			role = sc.Text()
		case "tool_calls":
			calls = sc.Raw()
		case "stop_reason", "finish_reason":
			finish = stringOf(&sc)
		}
	}
	switch {
	case !sc.End():
		return "", ""
	case choices != "":
		return choiceMessages(choices)
	case generations != "":
		return generationMessages(generations)
	case role != "" && (content != "" || calls != ""):
		return "[" + raw + "]", finish
	case messages != "":
		return foreignMessages(messages), finish
	}
	if list = foreignMessages(output); list == "" && output != "" {
		list = foreignMessages("[" + output + "]")
	}
	return list, finish
}

// choiceMessages reads the choices of OpenAI's chat API.
func choiceMessages(raw string) (list, finish string) {
	var l messageList
	sc := cjson.Scan(raw)
	for sc.Array(); sc.Next(); {
		for sc.Object(); sc.Next(); {
			switch sc.Key() {
			case "message":
				l.foreign(sc.Raw())
			case "finish_reason":
				finish = orElse(finish, stringOf(&sc))
			}
		}
	}
	return l.list(), finish
}

// generationMessages reads LangChain's generations, a list of lists.
func generationMessages(raw string) (list, finish string) {
	var l messageList
	sc := cjson.Scan(raw)
	for sc.Array(); sc.Next(); {
		for sc.Array(); sc.Next(); {
			var message, said string
			for sc.Object(); sc.Next(); {
				switch sc.Key() {
				case "message":
					message = sc.Raw()
				case "text":
					said = sc.Text()
				case "generation_info":
					reason, _ := cjson.Lookup(sc.Raw(), "finish_reason")
					finish = orElse(finish, reason)
				}
			}
			if message != "" {
				l.foreign(message)
			} else if said != "" {
				l.begin("assistant")
				l.text(said)
				l.end("")
			}
		}
	}
	return l.list(), finish
}

// foreignMessages writes a list of messages, or a list that holds one, in a form
// that canon reads; empty where it holds none.
func foreignMessages(raw string) string {
	sc := cjson.Scan(raw)
	if sc.Kind() != cjson.KindArray {
		return ""
	}
	l := messageList{buf: make([]byte, 0, len(raw)/2+64)}
	for sc.Array(); sc.Next(); {
		if sc.Kind() == cjson.KindArray { // LangChain: a list of conversations, of which there is one
			for sc.Array(); sc.Next(); {
				l.foreign(sc.Raw())
			}
			continue
		}
		l.foreign(sc.Raw())
	}
	if !sc.End() {
		return ""
	}
	return l.list()
}
