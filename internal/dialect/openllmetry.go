package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// traceloop is what one pass over the attributes of an OpenLLMetry span found.
type traceloop struct {
	kind, entity      string
	workflow          string
	input, output     string // of the entity, JSON
	request           string // llm.request.type
	tool, toolArgs    string // LlamaIndex
	promptName        string
	promptVersion     string
	agent, name       string // gen_ai.agent.name, gen_ai.tool.name
	arguments, result string // as the LangChain package has them under gen_ai names
	hasOutput         bool
}

// openLLMetry reads spans of the packages of OpenLLMetry, in Python and
// JavaScript: decorated functions, callbacks of frameworks, and model calls of
// both generations.
func openLLMetry(span ptrace.Span, l *look, st *canon.Stated) {
	var r traceloop
	at := span.Attributes()
	for k, v := range at.All() {
		r.read(k, v)
	}
	r.op(l, st)
	switch st.Op {
	case agent.OpTool:
		r.toolCall(at, st)
	case agent.OpModel:
		r.modelCall(at)
	case agent.OpAgent:
		putNew(at, canon.AgentName, r.entity)
	default:
	}
	renameProvider(at, func(s string) string { return providerOf(strings.ToLower(s)) })
	contentEvents(span, st.Op)
}

func (r *traceloop) read(k string, v pcommon.Value) {
	switch k {
	case "traceloop.span.kind":
		r.kind = text(v)
	case "traceloop.entity.name":
		r.entity = text(v)
	case "traceloop.workflow.name":
		r.workflow = text(v)
	case "traceloop.entity.input":
		r.input = text(v)
	case "traceloop.entity.output":
		r.output, r.hasOutput = text(v), true
	case "llm.request.type":
		r.request = text(v)
	case "tool.name":
		r.tool = text(v)
	case "tool.arguments":
		r.toolArgs = text(v)
	case "traceloop.prompt.key":
		r.promptName = text(v)
	case "traceloop.prompt.version", "traceloop.prompt.version_name":
		r.promptVersion = text(v)
	case canon.AgentName:
		r.agent = text(v)
	case canon.ToolName:
		r.name = text(v)
	case canon.ToolArguments:
		r.arguments = text(v)
	case canon.ToolResult:
		r.result = text(v)
	}
}

// op tells what the span is. Frameworks' callbacks call what runs a graph's node
// a task, be it a tool or a whole agent; CrewAI's tasks say that they invoke an
// agent, which is a span of its own.
func (r *traceloop) op(l *look, st *canon.Stated) {
	switch {
	case r.kind == "tool", l.operation == "execute_tool", r.tool != "":
		byDialect(st, agent.OpTool, agent.KindUnset)
	case r.kind == "agent":
		byDialect(st, agent.OpAgent, agent.KindUnset)
	case r.kind == "workflow":
		if l.operation == "invoke_agent" && r.agent != "" {
			byDialect(st, agent.OpAgent, agent.KindUnset)
			return
		}
		if !isRunnable(orElse(r.entity, r.workflow)) {
			byDialect(st, agent.OpWorkflow, agent.KindOther)
		}
	case r.kind == "task" && l.operation != "chat":
		switch {
		case l.app.agent != "" && l.app.isAgent(r.entity):
			byDialect(st, agent.OpAgent, agent.KindUnset)
		case isToolOutput(r.output):
			byDialect(st, agent.OpTool, agent.KindUnset)
		case isRunnable(r.entity):
		default:
			byDialect(st, agent.OpWorkflow, agent.KindOther)
		}
	case r.kind == "session", l.operation == "create_agent":
	case l.operation == "invoke_agent" && r.agent == "": // a crew
		byDialect(st, agent.OpWorkflow, agent.KindOther)
	case l.operation != "":
		operation(l.operation, st)
	case r.request == "chat", r.request == "completion":
		byDialect(st, agent.OpModel, agent.KindThink)
	case r.request == "embedding", r.request == "rerank":
		byEvidence(st, agent.OpRetrieval)
	}
}

// isToolOutput reports whether the output of a task is that of LlamaIndex's
// tools, which name themselves in it.
func isToolOutput(raw string) bool {
	if !strings.Contains(raw, `"raw_input"`) {
		return false
	}
	name, input := false, false
	sc := cjson.Scan(raw)
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "tool_name":
			name = true
		case "raw_input":
			input = true
		}
	}
	return name && input && sc.End()
}

// toolCall moves what a tool call says.
func (r *traceloop) toolCall(at pcommon.Map, st *canon.Stated) {
	args, callID := traceloopArguments(orElse(r.arguments, orElse(r.toolArgs, r.input)))
	out := traceloopResult(orElse(r.result, r.output))
	st.ResultError = out.isError
	name := r.name
	for _, n := range [...]string{r.tool, out.name, r.entity} {
		if name == "" && !isFrameworkClass(n) {
			name = n
		}
	}
	at.RemoveIf(func(k string, _ pcommon.Value) bool {
		switch k {
		case canon.ToolArguments, canon.ToolResult, "tool.name", "tool.arguments", "traceloop.entity.input", "traceloop.entity.output":
			return true
		case canon.ToolName:
			return isFrameworkClass(r.name)
		}
		return false
	})
	putNew(at, canon.ToolName, name)
	putNew(at, canon.ToolCallID, orElse(callID, out.callID))
	putNew(at, canon.ToolArguments, args)
	if r.hasOutput || r.result != "" {
		putNew(at, canon.ToolResult, orElse(out.text, `""`))
	}
}

// isFrameworkClass reports whether a name is that of a framework's class of
// tools, which says nothing of the tool.
func isFrameworkClass(name string) bool {
	switch name {
	case "", "DynamicStructuredTool", "DynamicTool", "StructuredTool", "Tool", "BaseTool", "FunctionTool", "FunctionTool.task",
		"BaseWorkflowAgent.task", "AsyncBaseTool":
		return true
	}
	return false
}

// traceloopArguments takes the arguments out of what was recorded of a call: those
// of a function, those of an MCP tool, or, under LangChain, those beside the
// call's metadata, among which is its id.
func traceloopArguments(raw string) (arguments, callID string) {
	sc := cjson.Scan(raw)
	if sc.Kind() != cjson.KindObject {
		return raw, ""
	}
	var args, kwargs, inputs, inputText, mcpArguments string
	tool := false
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "args":
			args = sc.Raw()
		case "kwargs":
			kwargs = sc.Raw()
		case "inputs":
			inputs = sc.Raw()
		case "input_str":
			inputText = sc.Text()
		case "tool_name":
			tool = true
		case "arguments":
			mcpArguments = sc.Raw()
		}
	}
	if !sc.End() {
		return raw, ""
	}
	switch {
	case inputText != "" || inputs != "" && kwargs != "":
		callID, _ = cjson.Lookup(kwargs, "tool_call_id")
		if inputs == "" || inputs == "null" {
			return inputText, callID
		}
		return unfolded(inputs), callID
	case tool && mcpArguments != "":
		return mcpArguments, ""
	case args == "" && kwargs != "":
		return kwargs, ""
	case args == "[]" && kwargs == "{}":
		return "", "" // a closure: what it was called for is not here
	case args != "" && (kwargs == "" || kwargs == "{}"):
		if one, ok := only(args); ok {
			return unfolded(one), ""
		}
	}
	return bareArguments(raw), ""
}

// only gives the one element of a list.
func only(list string) (element string, ok bool) {
	n := 0
	sc := cjson.Scan(list)
	for sc.Array(); sc.Next(); n++ {
		element = sc.Raw()
	}
	return element, n == 1 && sc.End()
}

// toolOutput is what the record of a tool's output says.
type toolOutput struct {
	text, callID, name string
	isError            bool
}

// traceloopResult takes a result out of what was recorded of it: the value that a
// function returned, an MCP tool's text, a LangChain message, LlamaIndex's
// output.
func traceloopResult(raw string) toolOutput {
	sc := cjson.Scan(raw)
	switch sc.Kind() {
	case cjson.KindString:
		return toolOutput{text: cjson.Text(raw)}
	case cjson.KindObject:
	default:
		return toolOutput{text: raw}
	}
	var out toolOutput
	var output, result, nested, members, blocks string
	lc, others := false, 0
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "output":
			output = sc.Raw()
		case "result":
			result = sc.Raw()
		case "is_error":
			out.isError = sc.Raw() == "true"
		case "tool_output":
			nested = sc.Raw()
		case "tool_id":
			out.callID = sc.Text()
		case "tool_name":
			out.name = sc.Text()
		case "kwargs":
			members = sc.Raw()
		case "lc":
			lc = true
		case "raw_output":
			blocks = sc.Raw()
		default:
			others++
		}
	}
	switch {
	case !sc.End():
	case nested != "":
		inner := traceloopResult(nested)
		inner.callID = orElse(out.callID, inner.callID)
		inner.name = orElse(out.name, inner.name)
		return inner
	case blocks != "" && out.name != "":
		out.text = cjson.Text(blocks)
		return out
	case lc && members != "":
		out.name, _ = cjson.Lookup(members, "name")
		out.text, out.callID, out.isError = bareResult(raw)
		return out
	case output != "" && others == 0 && (members != "" || output[0] == '{'):
		return traceloopResult(output)
	case result != "" && others == 0:
		out.text = cjson.Text(result)
		return out
	}
	return toolOutput{text: raw}
}

// modelCall moves what a model call says. LlamaIndex's package leaves the calls
// out of the answer; the body of the response has them.
func (r *traceloop) modelCall(at pcommon.Map) {
	if r.kind == "task" && r.hasOutput {
		if body, ok := cjson.Find(r.output, "raw"); ok {
			if list := responseMessages(body).list; list != "" {
				at.PutStr(canon.OutputMessages, list)
			}
		}
	}
	putNew(at, canon.PromptName, r.promptName)
	putNew(at, canon.PromptVersion, r.promptVersion)
}
