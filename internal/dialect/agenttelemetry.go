package dialect

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// agentTelemetry reads spans in the names of AgentTelemetry. Its failed tools have
// no status.
func agentTelemetry(span ptrace.Span, _ *look, st *canon.Stated) {
	at := span.Attributes()
	kind := ""
	for k, v := range at.All() {
		switch k {
		case "agenttelemetry.span.kind":
			kind = text(v)
		case "tool.status":
			st.Failed = text(v) == "error"
		case "delegation.target_agent":
			st.HandoffTo = text(v)
		}
	}
	switch kind {
	case "AGENT":
		byDialect(st, agent.OpAgent, agent.KindUnset)
	case "LLM_CALL":
		byDialect(st, agent.OpModel, agent.KindThink)
	case "TOOL_CALL":
		byDialect(st, agent.OpTool, agent.KindUnset)
	case "RETRIEVAL":
		byEvidence(st, agent.OpRetrieval)
	case "DELEGATION":
		byDialect(st, agent.OpHandoff, agent.KindOther)
	case "PLANNING", "REASONING", "GUARD_RAIL", "MEMORY":
		byDialect(st, agent.OpWorkflow, agent.KindOther)
	}
	if st.Op != agent.OpHandoff {
		st.HandoffTo = ""
	}
	moveAll(at, func(k string) string {
		switch k {
		case "tool.name":
			return canon.ToolName
		case "llm.model":
			return canon.RequestModel
		case "llm.input_tokens":
			return canon.InputTokens
		case "llm.output_tokens":
			return canon.OutputTokens
		case "llm.cost":
			return canon.CostUSD
		}
		return ""
	})
}
