package dialect

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// mlflowSpan is what one pass over the attributes of an MLflow span found. Every
// value of MLflow is JSON, a text with its quotes.
type mlflowSpan struct {
	kind, inputs, outputs, usage, asked, served string
	root, openAIAgents                          bool
}

// mlflow reads MLflow's tracing.
func mlflow(span ptrace.Span, _ *look, st *canon.Stated) {
	at := span.Attributes()
	var m mlflowSpan
	for k, v := range at.All() {
		m.read(k, v)
	}
	switch m.kind {
	case "CHAT_MODEL", "LLM", "COMPLETION":
		byDialect(st, agent.OpModel, agent.KindThink)
		m.model(at)
	case "TOOL":
		byDialect(st, agent.OpTool, agent.KindUnset)
		putNew(at, canon.ToolName, span.Name())
		putRecorded(at, canon.ToolArguments, m.inputs)
		putRecorded(at, canon.ToolResult, m.outputs)
		at.Remove("mlflow.spanInputs")
		at.Remove("mlflow.spanOutputs")
	case "AGENT":
		if m.root { // the run of an agent of its own below it
			byDialect(st, agent.OpWorkflow, agent.KindOther)
			break
		}
		byDialect(st, agent.OpAgent, agent.KindUnset)
		putNew(at, canon.AgentName, span.Name())
		if m.openAIAgents {
			st.Open = agent.SignDeferred
		}
	case "RETRIEVER", "EMBEDDING", "RERANKER":
		byEvidence(st, agent.OpRetrieval)
	default: // CHAIN, PARSER, MEMORY, UNKNOWN and the application's own
		byDialect(st, agent.OpWorkflow, agent.KindOther)
		if to, ok := cjson.Lookup(m.outputs, "to_agent"); ok && m.kind == "CHAIN" {
			byDialect(st, agent.OpHandoff, agent.KindOther)
			st.HandoffTo = to
		}
	}
}

func (m *mlflowSpan) read(k string, v pcommon.Value) {
	switch k {
	case "mlflow.spanType":
		m.kind = unquoted(text(v))
	case "mlflow.spanInputs":
		m.inputs = text(v)
	case "mlflow.spanOutputs":
		m.outputs = text(v)
	case "mlflow.chat.tokenUsage":
		m.usage = text(v)
	case "mlflow.llm.model":
		m.served = unquoted(text(v))
	case "model":
		m.asked = unquoted(text(v))
	case "mlflow.openai.agent_run_root":
		m.root = text(v) == "true"
	case "handoffs":
		m.openAIAgents = true
	}
}

// putRecorded writes content that was recorded as JSON: null is none, a text is
// written without its quotes.
func putRecorded(at pcommon.Map, name, raw string) {
	if raw != "null" {
		putNew(at, name, unquoted(raw))
	}
}

func (m *mlflowSpan) model(at pcommon.Map) {
	at.EnsureCapacity(at.Len() + 12) // at most so many names are added
	// The chat API's bodies are read as they are, others are written anew.
	putMember(at, canon.InputMessages, m.inputs, "messages", false)
	if _, ok := at.Get(canon.InputMessages); !ok {
		putNew(at, canon.InputMessages, requestMessages(m.inputs))
	}
	putMember(at, canon.OutputMessages, m.outputs, "choices", false)
	if v, ok := at.Get(canon.OutputMessages); ok {
		reason, _ := cjson.Lookup(text(v), "0", "finish_reason")
		putNew(at, canon.FinishReasons, reason)
	} else {
		body := responseMessages(m.outputs)
		putNew(at, canon.OutputMessages, body.list)
		putNew(at, canon.FinishReasons, body.finish)
	}
	_, in := at.Get(canon.InputMessages)
	_, out := at.Get(canon.OutputMessages)
	params := readParameters(m.inputs)
	putNew(at, canon.RequestModel, orElse(m.asked, params.model))
	if m.asked == "" && params.model == "" { // the OpenAI Agents SDK names the one that it asked
		putNew(at, canon.RequestModel, m.served)
	} else {
		putNew(at, canon.ResponseModel, m.served)
	}
	params.put(at)
	if id, ok := cjson.Lookup(m.outputs, "id"); ok {
		putNew(at, canon.ResponseID, id)
	}
	putUsage(at, m.usage)
	at.RemoveIf(func(k string, _ pcommon.Value) bool {
		return k == "mlflow.spanInputs" && in || k == "mlflow.spanOutputs" && out
	})
}
