package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

const smithMetadata = "langsmith.metadata."

// smith is what one pass over the attributes of a LangSmith span found.
type smith struct {
	kind, system       string
	prompt, completion string
	usage              string
	run                metadata
}

// langSmith reads spans of the LangSmith SDK's OpenTelemetry export.
func langSmith(span ptrace.Span, _ *look, st *canon.Stated) {
	r := smith{run: metadata{rank: noSession}}
	for k, v := range span.Attributes().All() {
		r.read(k, v)
	}
	classOfException(span)
	st.Checkpoint = r.run.checkpoint
	at := span.Attributes()
	switch r.kind {
	case "llm":
		byDialect(st, agent.OpModel, agent.KindThink)
		r.modelCall(at)
	case "tool":
		byDialect(st, agent.OpTool, agent.KindUnset)
		r.toolCall(span, st)
	case "retriever", "embedding":
		byEvidence(st, agent.OpRetrieval)
	case "chain":
		if r.run.isAgent(span.Name()) {
			byDialect(st, agent.OpAgent, agent.KindUnset)
			break
		}
		byDialect(st, agent.OpWorkflow, agent.KindOther)
	case "prompt", "parser":
		byDialect(st, agent.OpWorkflow, agent.KindOther)
	}
	if st.Op == agent.OpWorkflow && isInterrupted(span) {
		st.Open = agent.SignDeferred
	}
	name := r.run.agent
	if st.Op == agent.OpAgent {
		name = orElse(name, span.Name())
	}
	putNew(at, canon.AgentName, name)
	putNew(at, canon.SessionID, r.run.session)
	putNew(at, canon.UserID, r.run.user)
	if r.system == "langchain" { // what stands there on spans that call no model
		at.Remove(canon.ProviderName)
	}
}

func (r *smith) read(k string, v pcommon.Value) {
	switch k {
	case "langsmith.span.kind":
		r.kind = text(v)
	case canon.ProviderName:
		r.system = text(v)
	case "gen_ai.prompt":
		r.prompt = text(v)
	case "gen_ai.completion":
		r.completion = text(v)
	case smithMetadata + "usage_metadata":
		r.usage = text(v)
	default:
		// Of what are no texts only ids are read: an application may count its threads.
		if key, ok := strings.CutPrefix(k, smithMetadata); ok && (v.Type() == pcommon.ValueTypeStr || strings.HasSuffix(key, "_id")) {
			r.run.read(key, text(v))
		}
	}
}

func (r *smith) modelCall(at pcommon.Map) {
	in := requestMessages(r.prompt)
	body := responseMessages(r.completion)
	at.RemoveIf(func(k string, _ pcommon.Value) bool {
		switch k {
		case "gen_ai.prompt":
			return in != ""
		case "gen_ai.completion":
			return body.list != ""
		}
		return false
	})
	putNew(at, canon.InputMessages, in)
	putNew(at, canon.OutputMessages, body.list)
	putNew(at, canon.RequestModel, r.run.model)
	putNew(at, canon.ResponseModel, body.model)
	putNew(at, canon.ResponseID, body.id)
	putNew(at, canon.FinishReasons, body.finish)
	putNew(at, canon.ProviderName, providerOf(r.run.provider))
	putUsage(at, r.usage) // it alone knows the cache
}

func (r *smith) toolCall(span ptrace.Span, st *canon.Stated) {
	at := span.Attributes()
	result, callID, isError := smithResult(r.completion)
	result, callID, isError = afterCommand(r.completion, result, callID, isError, st)
	st.ResultError = isError
	moveAll(at, func(k string) string {
		switch k {
		case "gen_ai.prompt":
			return canon.ToolArguments
		case "gen_ai.completion":
			return dropped
		}
		return ""
	})
	putNew(at, canon.ToolName, span.Name())
	putNew(at, canon.ToolResult, result)
	putNew(at, canon.ToolCallID, callID)
}

// smithResult takes a result out of {"output": …}, in which all are wrapped that
// are no objects, and what is no result: a failed call ends with a null there,
// or with nothing.
func smithResult(raw string) (result, callID string, isError bool) {
	sc := cjson.Scan(raw)
	output, members := "", 0
	for sc.Object(); sc.Next(); members++ {
		if sc.Key() == "output" {
			output = sc.Raw()
		}
	}
	switch {
	case members == 0 && sc.End(), members == 1 && output == "null":
		return "", "", false
	case members != 1 || output == "":
		return raw, "", false
	}
	if result, callID, isError = bareResult(output); result != output {
		return result, callID, isError
	}
	return cjson.Text(output), "", false
}
