package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// logfire reads Logfire's own instrumentation of OpenAI, Anthropic and the OpenAI
// Agents SDK. What a span is stands in its message's template; facts stand in
// attributes by the names that the template uses, null where there is none.
func logfire(span ptrace.Span, l *look, st *canon.Stated) {
	at := span.Attributes()
	var f logfireFields
	f.read(at)
	operation(l.operation, st)
	if st.Op == agent.OpNone {
		logfireKind(f.template, st)
	}
	switch st.Op {
	case agent.OpModel:
		f.content(at)
		params := readParameters(f.settings)
		params.put(at)
		putUsage(at, f.usage) // with content off, no attribute has it
		withoutZeroCost(at)
	case agent.OpTool:
		f.toolError(span)
	}
	moveAll(at, func(k string) string { return f.canonical(k, st.Op) })
}

// logfireKind tells what a span is by the template of its message.
func logfireKind(template string, st *canon.Stated) {
	switch {
	case strings.HasPrefix(template, "Responses API"), strings.HasPrefix(template, "Chat completion with"), strings.HasPrefix(template, "Chat Completion with"),
		strings.HasPrefix(template, "Message with"), strings.HasPrefix(template, "Completion with"):
		byDialect(st, agent.OpModel, agent.KindThink)
	case strings.HasPrefix(template, "Function: "):
		byDialect(st, agent.OpTool, agent.KindUnset)
	case strings.HasPrefix(template, "Agent run: "):
		byDialect(st, agent.OpAgent, agent.KindUnset)
	case strings.HasPrefix(template, "Handoff"):
		byDialect(st, agent.OpHandoff, agent.KindOther)
	case strings.HasPrefix(template, "OpenAI Agents trace"), strings.HasPrefix(template, "Task: "), strings.HasPrefix(template, "Turn "),
		strings.HasPrefix(template, "Guardrail "):
		byDialect(st, agent.OpWorkflow, agent.KindOther)
	case strings.HasPrefix(template, "Embedding Creation with"):
		byEvidence(st, agent.OpRetrieval)
	}
}

// logfireFields are the attributes that hold facts under names of Logfire's own.
type logfireFields struct {
	template                                              string
	input, output, events, rawInput, response             string
	requestData, responseData, usage, settings, toolFails string
}

func (f *logfireFields) read(at pcommon.Map) {
	for k, v := range at.All() {
		switch k {
		case "logfire.msg_template":
			f.template = text(v)
		case "input":
			f.input = text(v)
		case "output":
			f.output = text(v)
		case "events":
			f.events = text(v)
		case "raw_input":
			f.rawInput = text(v)
		case "response":
			f.response = text(v)
		case "request_data":
			f.requestData = text(v)
		case "response_data":
			f.responseData = text(v)
		case "usage":
			f.usage = text(v)
		case "model_settings", "model_config":
			f.settings = text(v)
		case "error":
			f.toolFails = text(v)
		}
	}
}

// canonical gives the name that an attribute moves to.
func (f *logfireFields) canonical(k string, op agent.Op) string {
	switch op {
	case agent.OpTool:
		switch k {
		case "name":
			return canon.ToolName
		case "input":
			return unlessNull(f.input, canon.ToolArguments)
		case "output":
			return unlessNull(f.output, canon.ToolResult)
		}
	case agent.OpModel:
		switch k {
		case "input":
			return unlessNull(f.input, canon.InputMessages)
		case "output":
			return unlessNull(f.output, canon.OutputMessages)
		case "events", "raw_input", "response", "request_data", "response_data":
			return dropped
		}
	case agent.OpAgent:
		if k == "name" {
			return canon.AgentName
		}
	case agent.OpHandoff:
		switch k {
		case "from_agent":
			return canon.HandoffFrom
		case "to_agent":
			return canon.HandoffTo
		}
	case agent.OpWorkflow:
		if k == "group_id" {
			return canon.ConversationID
		}
	}
	return ""
}

func unlessNull(value, name string) string {
	if value == "null" {
		return dropped
	}
	return name
}

// content takes the messages of a call: from the list of events; else from the
// request and response of the API as they were.
func (f *logfireFields) content(at pcommon.Map) {
	putEvents(at, f.events, false)
	if f.rawInput != "" && f.rawInput != "null" {
		putNew(at, canon.InputMessages, f.rawInput)
	}
	putMember(at, canon.OutputMessages, f.response, "output", false)
	putMember(at, canon.InputMessages, f.requestData, "messages", false)
	putMember(at, canon.OutputMessages, f.responseData, "message", true)
}

// toolError gives a failed tool's span the text of its error, where its status has
// none.
func (f *logfireFields) toolError(span ptrace.Span) {
	if f.toolFails == "" || span.Status().Code() != ptrace.StatusCodeError {
		return
	}
	message, ok := cjson.Lookup(f.toolFails, "data", "error")
	if !ok {
		message, _ = cjson.Lookup(f.toolFails, "message")
	}
	describe(span, message)
}
