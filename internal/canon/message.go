package canon

import (
	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/cjson"
)

// extractor reads one message, in any of the shapes that are about: OTel's
// parts, OpenAI's content and tool_calls, its Responses' items, Anthropic's
// blocks, Bedrock's, Gemini's and the AI SDK's parts.
//
// From it come the facts that the rules need and the comparison form of the
// message: role, texts, calls and answers in their order, without call ids,
// finish reasons and what is no news.
type extractor struct {
	hash func(d Domain, form []byte) agent.Digest

	role    agent.Role
	text    []byte // all its text, parts divided by a line break
	form    []byte
	scratch []byte
	calls   []agent.RequestedCall
	answers []agent.CallAnswer
	unclear bool // something in it is not comparable
}

// Marks in the form of a message. No JSON holds these bytes.
const (
	markText   = 0x01
	markCall   = 0x02
	markAnswer = 0x03
	markOther  = 0x04
	markEnd    = 0x05
)

func (x *extractor) reset() {
	x.role = agent.RoleUnset
	x.text, x.form, x.scratch = x.text[:0], x.form[:0], x.scratch[:0]
	x.calls, x.answers = x.calls[:0], x.answers[:0]
	x.unclear = false
}

// message reads one message object. It reports whether the text was one.
func (x *extractor) message(text string, fallback agent.Role) bool {
	return x.read(text, fallback, true)
}

// read reads a message; outer: it may be the choice around one.
func (x *extractor) read(text string, fallback agent.Role, outer bool) bool {
	x.reset()
	x.role = fallback
	var parts, content, toolCalls, function, message string
	var id, name, status, typ string
	isError := false
	sc := cjson.Scan(text)
	if sc.Kind() != cjson.KindObject {
		return false
	}
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "role":
			if r := RoleOf(sc.Text()); r != agent.RoleUnset {
				x.role = r
			}
		case "parts":
			parts = sc.Raw()
		case "type":
			typ = sc.Text()
		case "message":
			message = sc.Raw()
		case "content":
			content = sc.Raw()
		case "tool_calls":
			toolCalls = sc.Raw()
		case "function_call":
			function = sc.Raw()
		case "tool_call_id", "id":
			if v := sc.Text(); v != "null" {
				id = v
			}
		case "name":
			if v := sc.Text(); v != "null" {
				name = v
			}
		case "status":
			status = sc.Text()
		case "is_error", "isError":
			isError = sc.Raw() == "true"
		}
	}
	if !sc.End() {
		return false
	}
	if outer && message != "" && message[0] == '{' && parts == "" && content == "" && toolCalls == "" {
		return x.read(message, x.role, false)
	}
	switch typ {
	case "function_call", "tool_call", "tool_use":
		x.role = agent.RoleAssistant
		return x.item(text)
	case "function_call_output", "tool_result":
		x.role = agent.RoleTool
		return x.item(text)
	}
	x.form = append(x.form, byte('0'+x.role))
	switch {
	case parts != "":
		x.parts(parts)
		if x.role == agent.RoleTool && len(x.answers) == 0 && len(x.text) > 0 {
			x.answer(id, name, string(x.text), isError || status == "error") // an answer that is a text
		}
	case x.role == agent.RoleTool && !holdsAnswers(content):
		x.answer(id, name, content, isError || status == "error")
	default:
		x.parts(content)
	}
	x.openAICalls(toolCalls)
	if function != "" && function != "null" {
		x.openAICall("", function)
	}
	x.form = append(x.form, markEnd)
	return true
}

// holdsAnswers reports whether the content of a tool's message is a list of
// answers, each with the id of its call, rather than what the tool said.
func holdsAnswers(content string) bool {
	sc := cjson.Scan(content)
	if sc.Kind() != cjson.KindArray {
		return false
	}
	sc.Array()
	if !sc.Next() || sc.Kind() != cjson.KindObject {
		return false
	}
	switch p := readPart(sc.Raw()); p.typ {
	case "tool_call_response", "tool_result", "function_call_output", "tool-result", "server_tool_call_response":
		return p.id != ""
	}
	return false
}

// item reads an item that stands among messages without a message around it.
func (x *extractor) item(text string) bool {
	x.form = append(x.form, byte('0'+x.role))
	x.part(text)
	x.form = append(x.form, markEnd)
	return true
}

// RoleOf reads the role of a message, in the spellings that are about.
func RoleOf(s string) agent.Role {
	switch s {
	case "system", "developer":
		return agent.RoleSystem
	case "user", "human":
		return agent.RoleUser
	case "assistant", "ai", "model":
		return agent.RoleAssistant
	case "tool", "function":
		return agent.RoleTool
	default:
		return agent.RoleUnset
	}
}

// parts reads a list of parts or blocks, or a lone text.
func (x *extractor) parts(raw string) {
	sc := cjson.Scan(raw)
	switch sc.Kind() {
	case cjson.KindString:
		x.say(sc.Text())
	case cjson.KindObject:
		x.part(raw)
	case cjson.KindArray:
		for sc.Array(); sc.Next(); {
			if sc.Kind() == cjson.KindString {
				x.say(sc.Text())
				continue
			}
			x.part(sc.Raw())
		}
	}
}

func (x *extractor) part(raw string) {
	p := readPart(raw)
	switch p.typ {
	case "text", "input_text", "output_text", "":
		switch {
		case p.text != "":
			x.say(cjson.Text(p.text))
		case p.content != "":
			x.say(cjson.Text(p.content))
		default:
			x.other(raw)
		}
	case "tool_call", "tool_use", "function_call", "tool-call", "server_tool_call":
		if p.function != "" {
			x.openAICall(p.id, p.function)
			return
		}
		x.call(p.id, p.name, p.arguments)
	case "function":
		x.openAICall(p.id, p.function)
	case "tool_call_response", "tool_result", "function_call_output", "tool-result", "server_tool_call_response":
		response := p.response
		if response == "" {
			response = p.content
		}
		output, isError, denied := typedOutput(response)
		x.answer(p.id, p.name, output, p.isError || isError)
		if denied {
			x.answers[len(x.answers)-1].Sign = agent.SignRefused
		}
	case "reasoning", "thinking", "redacted_thinking":
		// What the model thought is no part of what it said.
	default:
		x.other(raw)
	}
}

func (x *extractor) say(text string) {
	if len(x.text) > 0 {
		x.text = append(x.text, '\n')
	}
	x.text = append(x.text, text...)
	x.form = append(append(x.form, markText), text...)
}

func (x *extractor) other(raw string) {
	x.form = append(x.form, markOther)
	var err error
	if x.form, err = cjson.AppendExact(x.form, raw); err != nil {
		x.form = append(x.form, raw...)
	}
}

func (x *extractor) openAICalls(raw string) {
	sc := cjson.Scan(raw)
	for sc.Array(); sc.Next(); {
		p := readPart(sc.Raw())
		if p.function != "" {
			x.openAICall(p.id, p.function)
			continue
		}
		x.call(p.id, p.name, p.arguments)
	}
}

func (x *extractor) openAICall(id, function string) {
	p := readPart(function)
	x.call(id, p.name, p.arguments)
}

func (x *extractor) call(id, tool, arguments string) {
	c := agent.RequestedCall{ID: id, Tool: tool}
	c.Arguments = x.recorded(arguments, DomainArguments, appendArgumentsForm)
	if c.Arguments.State == agent.RecordedOpaque {
		x.unclear = true
	}
	x.calls = append(x.calls, c)
	x.form = append(append(x.form, markCall), tool...)
	x.form = append(append(x.form, markEnd), x.scratch...)
}

func (x *extractor) answer(id, tool, response string, isError bool) {
	text, marked := ResultText(cjson.Text(response))
	a := agent.CallAnswer{ID: id, Tool: tool}
	if response == "" || response == "null" {
		x.scratch = x.scratch[:0]
	} else {
		a.Result = x.recorded(text, DomainResult, appendResultForm)
		a.Sign = agent.JudgeResult(agent.ResultEvidence{Recorded: true, Text: text, IsError: isError || marked, InMessage: true, Tool: tool})
	}
	if a.Result.State == agent.RecordedOpaque {
		x.unclear = true
	}
	x.answers = append(x.answers, a)
	x.form = append(append(x.form, markAnswer), x.scratch...)
	x.taskEnd(text)
}

// recorded makes the content of a call's arguments or result; its comparison
// form is left in scratch.
func (x *extractor) recorded(raw string, d Domain, form func([]byte, string) []byte) agent.Content {
	x.scratch = x.scratch[:0]
	if raw == "" || raw == "null" {
		return agent.Content{}
	}
	if raw == `""` {
		raw = "{}" // how some clients write that there are none
	}
	size := int64(len(raw))
	if raw[0] == '"' {
		size = int64(len(cjson.Text(raw)))
	}
	if cjson.IsPlaceholder(raw) {
		return agent.Content{State: agent.RecordedOpaque, Size: size}
	}
	x.scratch = form(x.scratch, raw)
	return agent.Content{State: agent.RecordedYes, Digest: x.hash(d, x.scratch), Size: size}
}

// facts gives the facts of the message that was read last. They own their
// memory.
func (x *extractor) facts() agent.MessageFacts {
	m := agent.MessageFacts{Role: x.role}
	if len(x.text) > 0 {
		m.UserText = x.role == agent.RoleUser && hasWords(x.text) && !isFeedback(x.text)
		m.Text = x.hash(DomainText, x.text)
	}
	if len(x.calls) > 0 {
		m.Calls = make([]agent.RequestedCall, len(x.calls))
		for i, c := range x.calls {
			c.ID, c.Tool = clone(c.ID), clone(c.Tool)
			m.Calls[i] = c
		}
	}
	if len(x.answers) > 0 {
		m.Answers = make([]agent.CallAnswer, len(x.answers))
		for i, a := range x.answers {
			a.ID, a.Tool = clone(a.ID), clone(a.Tool)
			m.Answers[i] = a
		}
	}
	return m
}

func hasWords(text []byte) bool {
	for _, c := range text {
		if c > ' ' {
			return true
		}
	}
	return false
}
