package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// mastra reads Mastra's exporter: OTel GenAI names, with values of its own for the
// operation. A generation is the loop around its steps; a step is a model call, and
// alone has the calls that its answer asks for; an inference is that call again.
func mastra(span ptrace.Span, l *look, st *canon.Stated) {
	at := span.Attributes()
	kind := ""
	if v, ok := at.Get("mastra.span.type"); ok {
		kind = text(v)
	}
	switch kind {
	case "agent_run":
		byDialect(st, agent.OpAgent, agent.KindUnset)
	case "model_inference", "model_step", "llm_generation":
		byDialect(st, agent.OpModel, agent.KindThink)
		mastraStep(at)
	case "tool_call", "mcp_tool_call", "provider_tool_call":
		byDialect(st, agent.OpTool, agent.KindUnset)
		toolSpan(span, l, st)
		if v, ok := at.Get("gen_ai.tool.success"); ok {
			st.ResultError = v.Type() == pcommon.ValueTypeBool && !v.Bool()
		}
	case "rag_embedding":
		byEvidence(st, agent.OpRetrieval)
	case "model_chunk", "llm_chunk":
	default: // model_generation, workflow_run, workflow_step, processor_run
		byDialect(st, agent.OpWorkflow, agent.KindOther)
	}
	moveAll(at, mastraName)
	renameProvider(at, vercelProvider)
	if v, ok := at.Get("error.message"); ok && span.Status().Code() == ptrace.StatusCodeError {
		describe(span, text(v))
	}
}

// mastraName gives the current name of an attribute of older exporters.
func mastraName(k string) string {
	switch k {
	case "gen_ai.tool.input":
		return canon.ToolArguments
	case "gen_ai.tool.output":
		return canon.ToolResult
	case "gen_ai.usage.cached_input_tokens":
		return canon.CacheReadTokens
	}
	return ""
}

// mastraStep makes the answer's message of a step's output, {text, toolCalls}.
func mastraStep(at pcommon.Map) {
	v, ok := at.Get("mastra.model_step.output")
	if !ok {
		return
	}
	said, calls := "", ""
	sc := cjson.Scan(text(v))
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "text":
			said = sc.Raw()
		case "toolCalls":
			calls = sc.Raw()
		}
	}
	if !sc.End() || said == "" && calls == "" || calls != "" && !strings.HasPrefix(calls, "[") {
		return
	}
	message := `[{"role":"assistant"`
	if said != "" {
		message += `,"content":` + said
	}
	if calls != "" {
		message += `,"tool_calls":` + mastraCalls(calls)
	}
	putNew(at, canon.OutputMessages, message+"}]")
	at.Remove("mastra.model_step.output")
}

// mastraCalls takes the calls out of the chunks that they may come in, {payload}.
func mastraCalls(calls string) string {
	if !strings.Contains(calls, `"payload"`) {
		return calls
	}
	list := []byte{'['}
	sc := cjson.Scan(calls)
	for sc.Array(); sc.Next(); {
		call := sc.Raw()
		if payload, ok := cjson.Find(call, "payload"); ok {
			call = payload
		}
		list = append(comma(list, 1), call...)
	}
	return string(append(list, ']'))
}
