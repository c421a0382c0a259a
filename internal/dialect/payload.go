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

// response is what the body of a response says.
type response struct {
	list      string // its messages in a form that canon reads; empty where there are none
	finish    string // why it ended
	model, id string // which model answered, and the answer's id
	bare      bool   // the messages are not wanted
}

// responseMessages reads the body of a response.
func responseMessages(raw string) response {
	var r response
	r.read(raw)
	return r
}

// aboutResponse reads what the body of a response says but for its messages.
func aboutResponse(raw string) response {
	r := response{bare: true}
	r.read(raw)
	return r
}

func (r *response) read(raw string) {
	sc := cjson.Scan(raw)
	switch sc.Kind() {
	case cjson.KindArray:
		if !r.bare {
			r.list = foreignMessages(raw)
		}
		return
	case cjson.KindObject:
	default:
		return
	}
	var choices, generations, output, messages, content, role, calls string
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "choices":
			choices = sc.Raw()
		case "generations":
			generations = sc.Raw()
		case "llm_output":
			r.langChain(sc.Raw())
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
		case "model", "model_version", "modelVersion":
			r.model = stringOf(&sc)
		case "id":
			r.id = stringOf(&sc)
		case "stop_reason", "finish_reason":
			r.finish = stringOf(&sc)
		}
	}
	switch {
	case !sc.End():
		*r = response{}
	case choices != "":
		r.choices(choices)
	case generations != "":
		r.generations(generations)
	case r.bare:
	case role != "" && (content != "" || calls != ""):
		r.list = "[" + raw + "]"
	case messages != "":
		r.list = foreignMessages(messages)
	default:
		if r.list = foreignMessages(output); r.list == "" && output != "" {
			r.list = foreignMessages("[" + output + "]")
		}
	}
}

// choices reads the choices of OpenAI's chat API.
func (r *response) choices(raw string) {
	var l messageList
	sc := cjson.Scan(raw)
	for sc.Array(); sc.Next(); {
		for sc.Object(); sc.Next(); {
			switch sc.Key() {
			case "message":
				if !r.bare {
					l.foreign(sc.Raw())
				}
			case "finish_reason":
				r.finish = orElse(r.finish, stringOf(&sc))
			}
		}
	}
	r.list = l.list()
}

// generations reads LangChain's generations, a list of lists.
func (r *response) generations(raw string) {
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
					r.langChain(sc.Raw())
				}
			}
			if about, ok := cjson.Find(message, "kwargs", "response_metadata"); ok && r.model == "" {
				r.langChain(about)
			}
			switch {
			case r.bare:
			case message != "":
				l.foreign(message)
			case said != "":
				l.begin("assistant")
				l.text(said)
				l.end("")
			}
		}
	}
	r.list = l.list()
}

// langChain reads what LangChain says about a response.
func (r *response) langChain(raw string) {
	sc := cjson.Scan(raw)
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "model_name":
			r.model = orElse(r.model, stringOf(&sc))
		case "id":
			r.id = orElse(r.id, stringOf(&sc))
		case "finish_reason":
			r.finish = orElse(r.finish, stringOf(&sc))
		}
	}
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
