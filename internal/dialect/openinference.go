package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

const (
	inferenceInput  = "llm.input_messages."
	inferenceOutput = "llm.output_messages."
)

// inference is what one pass over the attributes of an OpenInference span found.
type inference struct {
	kind, toolName, toolID, schema string
	input, output                  string
	agentName, nodeID, nodeName    string
	model, asked, served           string
	provider, system               string
	parameters, finish, responseID string
	promptName, promptVersion      string
	run                            metadata
	in, out                        flatMessages
	cost                           float64
	hasCost, hasSession, hasUser   bool
	hasInput, hasOutput            bool
	inputTaken, outputTaken        bool // the messages stand under gen_ai names already
}

// openInference reads spans of the OpenInference conventions.
func openInference(span ptrace.Span, l *look, st *canon.Stated) {
	r := inference{run: metadata{rank: noSession}}
	r.in.most = span.Attributes().Len()
	for k, v := range span.Attributes().All() {
		r.read(k, v)
	}
	classOfStack(span)
	st.Checkpoint = r.run.checkpoint
	r.op(span.Name(), span.Status().Message(), l, st)
	at := span.Attributes()
	switch st.Op {
	case agent.OpModel:
		r.modelCall(at)
	case agent.OpTool:
		r.toolCall(span, st)
	case agent.OpWorkflow:
		if isInterrupted(span) {
			st.Open = agent.SignDeferred
		}
	default:
	}
	r.common(at, span.Name(), st)
}

func (r *inference) read(k string, v pcommon.Value) {
	switch k {
	case "openinference.span.kind":
		r.kind = text(v)
	case "tool.name":
		r.toolName = text(v)
	case "tool.id", "tool_call.id":
		r.toolID = text(v)
	case "tool.parameters":
		r.schema = text(v)
	case "input.value":
		r.input, r.hasInput = text(v), true
	case "output.value":
		r.output, r.hasOutput = text(v), true
	case "agent.name":
		r.agentName = text(v)
	case "graph.node.id":
		r.nodeID = text(v)
	case "graph.node.name":
		r.nodeName = text(v)
	case "llm.model_name", "embedding.model_name", "reranker.model_name":
		r.model = text(v)
	case "llm.request.model_name":
		r.asked = text(v)
	case "llm.response.model_name":
		r.served = text(v)
	case "llm.provider":
		r.provider = text(v)
	case "llm.system":
		r.system = text(v)
	case "llm.invocation_parameters":
		r.parameters = text(v)
	case "prompt.id":
		r.promptName = text(v)
	case "llm.prompt_template.version":
		r.promptVersion = text(v)
	case "metadata":
		r.run.readJSON(text(v))
	case canon.InputMessages:
		r.inputTaken = true
	case canon.OutputMessages:
		r.outputTaken = true
	case canon.SessionID:
		r.hasSession = true
	case canon.UserID:
		r.hasUser = true
	case "llm.cost.total", "operation.cost":
		if v.Type() == pcommon.ValueTypeDouble {
			r.cost, r.hasCost = v.Double(), true
		}
	default:
		if rest, ok := strings.CutPrefix(k, inferenceInput); ok {
			r.in.add(rest, v)
		} else if rest, ok := strings.CutPrefix(k, inferenceOutput); ok {
			r.out.add(rest, v)
		}
	}
}

// op tells what the span is. Python's package for LangChain writes AGENT for
// whatever has "agent" in its name: there the metadata decide.
func (r *inference) op(name, status string, l *look, st *canon.Stated) {
	kind := r.kind
	if r.toolName != "" && kind != "LLM" {
		kind = "TOOL"
	}
	switch kind {
	case "LLM":
		if isHelper(name) {
			byDialect(st, agent.OpWorkflow, agent.KindOther)
			return
		}
		byDialect(st, agent.OpModel, agent.KindThink)
	case "TOOL":
		r.toolOp(name, l, st)
	case "AGENT", "CHAIN":
		if r.isAgent(name, kind, l) {
			byDialect(st, agent.OpAgent, agent.KindUnset)
			return
		}
		// A turn of the OpenAI Agents SDK that asks for a tool that is not there.
		if l.has(markAgentsSDK) && strings.HasPrefix(status, "Tool not found: ") {
			st.Open = agent.SignRefused
		}
		byDialect(st, agent.OpWorkflow, agent.KindOther)
	case "RETRIEVER", "RERANKER", "EMBEDDING":
		byEvidence(st, agent.OpRetrieval)
	case "GUARDRAIL", "EVALUATOR", "PROMPT":
		byDialect(st, agent.OpWorkflow, agent.KindOther)
	}
}

// isHelper: an internal method of a class that calls models, by Python's
// spelling, is no call.
func isHelper(name string) bool {
	i := strings.LastIndexByte(name, '.')
	return i > 0 && strings.HasPrefix(name[i+1:], "_") && !strings.HasPrefix(name[i+1:], "__")
}

func (r *inference) isAgent(name, kind string, l *look) bool {
	switch {
	case r.run.agent != "" || r.run.integration != "" || r.run.node != "":
		return r.run.isAgent(name)
	case kind != "AGENT":
		return false
	}
	// The root of the OpenAI Agents SDK's trace is of kind AGENT too, and its
	// agents name themselves.
	return !l.has(markAgentsSDK) || r.agentName != "" || r.nodeID != ""
}

// toolOp tells a call from what else the OpenAI Agents SDK's spans of kind TOOL
// are: hand-offs, and lists of tools.
func (r *inference) toolOp(name string, l *look, st *canon.Stated) {
	if to, ok := strings.CutPrefix(name, "handoff to "); ok && r.toolName == "" {
		byDialect(st, agent.OpHandoff, agent.KindOther)
		st.HandoffTo = orElse(r.output, to)
		return
	}
	if r.toolName == "" && !r.hasInput && l.has(markAgentsSDK) {
		byDialect(st, agent.OpWorkflow, agent.KindOther)
		return
	}
	byDialect(st, agent.OpTool, agent.KindUnset)
	if r.run.readOnly {
		st.Kind, st.KindSource = agent.KindRead, agent.KindSourceDialect
	}
}

// modelCall moves what a model call says. The messages stand in the flattened
// attributes, else, or where these lack call ids or were cut off, in the bodies
// of request and response.
func (r *inference) modelCall(at pcommon.Map) {
	in, out := "", ""
	if !r.inputTaken {
		if in = r.in.list(); in == "" || r.in.part {
			in = orElse(requestMessages(r.input), in)
		}
	}
	var body response
	if !r.outputTaken {
		out = r.out.list()
	}
	if !r.outputTaken && (out == "" || r.out.part) {
		body = responseMessages(r.output)
		out = orElse(body.list, out)
	} else {
		body = aboutResponse(r.output)
	}
	r.served, r.responseID, r.finish = orElse(r.served, body.model), body.id, body.finish
	p := readParameters(r.parameters)
	at.RemoveIf(func(k string, _ pcommon.Value) bool {
		switch k {
		case "input.value", "input.mime_type":
			return in != "" || r.inputTaken
		case "output.value", "output.mime_type":
			return out != "" || r.outputTaken
		case "llm.model_name", "llm.request.model_name", "llm.response.model_name", "llm.token_count.total":
			return true
		case canon.RequestModel:
			return p.model != "" && !p.isResponse
		}
		return strings.HasPrefix(k, inferenceInput) || strings.HasPrefix(k, inferenceOutput)
	})
	moveAll(at, inferenceName)
	putNew(at, canon.InputMessages, in)
	putNew(at, canon.OutputMessages, out)
	r.models(at, &p)
	putNew(at, canon.FinishReasons, r.finish)
	p.put(at)
}

// inferenceName gives the canonical name of an attribute of a model call.
func inferenceName(k string) string {
	switch k {
	case "llm.finish_reason":
		return canon.FinishReasons
	case "llm.token_count.prompt":
		return canon.InputTokens
	case "llm.token_count.completion":
		return canon.OutputTokens
	case "llm.token_count.prompt_details.cache_read":
		return canon.CacheReadTokens
	case "llm.token_count.prompt_details.cache_write":
		return canon.CacheWriteTokens
	case "llm.token_count.completion_details.reasoning":
		return canon.ReasoningTokens
	}
	return ""
}

// models tells the model asked from the one that answered. llm.model_name is
// one or the other: what was asked stands in the parameters, unless these are
// those of the response.
func (r *inference) models(at pcommon.Map, p *parameters) {
	asked, served := r.asked, r.served
	switch {
	case asked != "":
	case p.isResponse:
		served = orElse(served, r.model)
		r.responseID = p.id
	case p.model != "":
		asked = p.model
	default:
		asked = orElse(r.run.model, r.model)
	}
	if served == "" && r.model != asked {
		served = r.model
	}
	putNew(at, canon.RequestModel, asked)
	putNew(at, canon.ResponseModel, served)
	putNew(at, canon.ResponseID, r.responseID)
	putNew(at, canon.ProviderName, providerOf(orElse(r.provider, orElse(r.system, r.run.provider))))
}

// toolCall moves what a tool call says. Where gen_ai names stand beside
// OpenInference's, gen_ai.tool.call.arguments may hold the tool's schema.
func (r *inference) toolCall(span ptrace.Span, st *canon.Stated) {
	at := span.Attributes()
	arguments := bareArguments(r.input)
	result, callID, isError := r.output, "", false
	if r.hasOutput {
		result, callID, isError = bareResult(r.output)
		result, callID, isError = afterCommand(r.output, result, callID, isError, st)
	}
	st.ResultError = isError
	schema := r.schema
	at.RemoveIf(func(k string, v pcommon.Value) bool {
		switch k {
		case "tool.name", "tool.id", "tool_call.id", "input.value", "input.mime_type", "output.value", "output.mime_type":
			return true
		case canon.ToolArguments:
			return r.hasInput || text(v) == schema && isSchema(schema)
		case canon.ToolResult:
			return r.hasOutput
		}
		return false
	})
	putNew(at, canon.ToolName, orElse(r.toolName, toolOfSpan(span.Name())))
	if !isNoID(r.toolID) {
		callID = r.toolID
	}
	putNew(at, canon.ToolCallID, callID)
	putNew(at, canon.ToolArguments, arguments)
	if r.hasOutput {
		putNew(at, canon.ToolResult, orElse(result, `""`))
	}
}

// toolOfSpan is the tool's name in the name of a span of a method.
func toolOfSpan(name string) string { return strings.TrimSuffix(name, ".__call__") }

// agentOfSpan is the agent's name in the name of a span of its method.
func agentOfSpan(name string) string { return strings.TrimSuffix(name, ".run") }

// common moves what spans of all kinds say.
func (r *inference) common(at pcommon.Map, spanName string, st *canon.Stated) {
	name := orElse(r.agentName, r.run.agent)
	if st.Op == agent.OpAgent {
		name = orElse(orElse(name, orElse(r.nodeName, r.nodeID)), agentOfSpan(spanName))
	}
	putNew(at, canon.AgentName, name)
	if !r.hasSession {
		putNew(at, canon.SessionID, r.run.session)
	}
	if !r.hasUser {
		putNew(at, canon.UserID, r.run.user)
	}
	putNew(at, canon.PromptName, r.promptName)
	putNew(at, canon.PromptVersion, r.promptVersion)
	if r.hasCost && st.Op == agent.OpModel {
		if _, there := at.Get(canon.CostUSD); !there {
			at.PutDouble(canon.CostUSD, r.cost)
		}
	}
}
