package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

const (
	fuse         = "langfuse.observation."
	fuseMetadata = fuse + "metadata."
	fuseTrace    = "langfuse.trace.metadata."
)

// observation is what one pass over the attributes of a Langfuse span found.
type observation struct {
	kind, input, output, model, usage, cost, parameters string
	level, message, callID                              string
	run                                                 metadata
}

// langfuse reads spans of the Langfuse SDK: its decorators, its OpenAI wrapper and
// its LangChain handler.
func langfuse(span ptrace.Span, _ *look, st *canon.Stated) {
	o := observation{run: metadata{rank: noSession}}
	at := span.Attributes()
	for k, v := range at.All() {
		o.read(k, v)
	}
	st.Checkpoint = o.run.checkpoint
	switch o.kind {
	case "generation":
		byDialect(st, agent.OpModel, agent.KindThink)
		o.generation(span)
	case "tool":
		byDialect(st, agent.OpTool, agent.KindUnset)
		o.tool(span, st)
	case "agent":
		byDialect(st, agent.OpAgent, agent.KindUnset)
		putNew(at, canon.AgentName, span.Name())
	case "retriever", "embedding":
		byEvidence(st, agent.OpRetrieval)
	case "":
	default: // chain, span, guardrail, evaluator, event
		byDialect(st, agent.OpWorkflow, agent.KindOther)
		st.Deferred = strings.HasPrefix(o.message, "(Interrupt(")
	}
	if o.level == "ERROR" && span.Status().Code() != ptrace.StatusCodeError {
		st.Failed = true
		describe(span, o.message)
	}
	if _, there := at.Get(canon.SessionID); !there {
		putNew(at, canon.SessionID, o.run.session)
	}
	putNew(at, canon.UserID, o.run.user)
	putNew(at, canon.AgentName, o.run.agent)
	moveAll(at, fuseName)
}

// fuseName gives the canonical name of an attribute that holds one fact.
func fuseName(k string) string {
	switch k {
	case "langfuse.session.id":
		return canon.SessionID
	case "langfuse.user.id":
		return canon.UserID
	case fuse + "prompt.name":
		return canon.PromptName
	case fuse + "prompt.version":
		return canon.PromptVersion
	}
	return ""
}

func (o *observation) read(k string, v pcommon.Value) {
	name, ok := strings.CutPrefix(k, fuse)
	if !ok {
		if key, ok := strings.CutPrefix(k, fuseTrace); ok {
			o.run.read(key, unquoted(text(v)))
		}
		return
	}
	switch name {
	case "type":
		o.kind = text(v)
	case "input":
		o.input = text(v)
	case "output":
		o.output = text(v)
	case "model.name":
		o.model = text(v)
	case "model.parameters":
		o.parameters = text(v)
	case "usage_details":
		o.usage = text(v)
	case "cost_details":
		o.cost = text(v)
	case "level":
		o.level = text(v)
	case "status_message":
		o.message = text(v)
	case "metadata.tool_call_id":
		o.callID = unquoted(text(v))
	default:
		if key, ok := strings.CutPrefix(k, fuseMetadata); ok {
			o.run.read(key, unquoted(text(v)))
		}
	}
}

func (o *observation) tool(span ptrace.Span, st *canon.Stated) {
	at := span.Attributes()
	putNew(at, canon.ToolName, span.Name())
	putNew(at, canon.ToolArguments, bareArguments(o.input))
	result, id, failed := bareResult(o.output)
	putNew(at, canon.ToolResult, result)
	putNew(at, canon.ToolCallID, o.callID)
	putNew(at, canon.ToolCallID, id)
	st.ResultError = failed
	at.Remove(fuse + "input")
	at.Remove(fuse + "output")
}

func (o *observation) generation(span ptrace.Span) {
	at := span.Attributes()
	in := withoutDefinitions(o.input)
	if list := requestMessages(in); list != "" {
		putNew(at, canon.InputMessages, list)
		at.Remove(fuse + "input")
	}
	if body := responseMessages(o.output); body.list != "" {
		putNew(at, canon.OutputMessages, body.list)
		putNew(at, canon.FinishReasons, body.finish)
		at.Remove(fuse + "output")
	}
	// The model's name is that of the one asked until an answer came.
	putNew(at, canon.RequestModel, o.run.model)
	if o.output == "" {
		putNew(at, canon.RequestModel, o.model)
	} else {
		putNew(at, canon.ResponseModel, o.model)
	}
	params := readParameters(o.parameters)
	params.put(at)
	o.tokens(at)
	if total, ok := cjson.Lookup(o.cost, "total"); ok && total != "0" {
		putNew(at, canon.CostUSD, total)
	}
}

// withoutDefinitions removes the definitions of tools from a list of messages,
// where the LangChain handler puts them as messages of role tool.
func withoutDefinitions(raw string) string {
	sc := cjson.Scan(raw)
	if sc.Kind() != cjson.KindArray || !strings.Contains(raw, `"function"`) {
		return raw
	}
	kept := append(make([]byte, 0, len(raw)), '[')
	found := false
	for sc.Array(); sc.Next(); {
		message := sc.Raw()
		if isDefinition(message) {
			found = true
			continue
		}
		kept = append(comma(kept, 1), message...)
	}
	if !found || !sc.End() {
		return raw
	}
	return string(append(kept, ']'))
}

// isDefinition: a message of role tool whose content is no answer but an object
// that describes a function.
func isDefinition(message string) bool {
	var role, content string
	sc := cjson.Scan(message)
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "role":
			role = sc.Text()
		case "content":
			content = sc.Raw()
		}
	}
	if role != "tool" || content == "" || content[0] != '{' {
		return false
	}
	typ, _ := cjson.Lookup(content, "type")
	return typ == "function"
}

// tokens reads the usage: as OpenAI counts, cache and reasoning within their sums;
// or as the LangChain handler does, each part beside the others.
func (o *observation) tokens(at pcommon.Map) {
	var input, output, read, write, reasoning int64
	known := false
	sc := cjson.Scan(o.usage)
	for sc.Object(); sc.Next(); {
		switch key := sc.Key(); key {
		case "prompt_tokens", "completion_tokens":
			putUsage(at, o.usage)
			return
		default:
			n := number(sc.Raw())
			switch {
			case key == "input", strings.HasPrefix(key, "input_"):
				input, known = input+n, true
			case key == "output", strings.HasPrefix(key, "output_"):
				output, known = output+n, true
			}
			switch key {
			case "input_cache_read", "input_cached_tokens":
				read = n
			case "input_cache_creation":
				write = n
			case "output_reasoning":
				reasoning = n
			}
		}
	}
	if !known || sc.Err() != nil {
		return
	}
	for _, c := range [...]struct {
		name string
		n    int64
	}{
		{canon.InputTokens, input}, {canon.OutputTokens, output}, {canon.CacheReadTokens, read}, {canon.CacheWriteTokens, write}, {canon.ReasoningTokens, reasoning},
	} {
		if v, there := at.GetOrPutEmpty(c.name); !there {
			v.SetInt(c.n)
		}
	}
}
