package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// openAIAgents reads the OpenAI Agents SDK, which says nowhere that a call waits
// for approval: an agent that ended well behind a model answer left that answer's
// open calls waiting.
//
// OTel's own package (-v2) writes invoke_agent for the whole workflow too, as a
// SERVER span without an agent, unknown for tasks and turns, and one constant name
// for the agent wherever it does not know it.
func openAIAgents(span ptrace.Span, l *look, st *canon.Stated) {
	at := span.Attributes()
	name, named := at.Get(canon.AgentName)
	switch {
	case st.Op == agent.OpAgent && span.Kind() == ptrace.SpanKindServer && !named:
		byDialect(st, agent.OpWorkflow, agent.KindOther)
	case st.Op == agent.OpAgent:
		st.Open = agent.SignDeferred
	case st.Op == agent.OpNone && l.operation == "unknown":
		byDialect(st, agent.OpWorkflow, agent.KindOther)
	}
	switch st.Op {
	case agent.OpModel:
		unprintCalls(at)
	case agent.OpTool:
		// The JavaScript SDK opens a span for a call that a person turned away.
		st.Refused = st.Refused || span.Status().Code() == ptrace.StatusCodeError && strings.HasPrefix(span.Status().Message(), "Tool execution was not approved.")
	}
	if named && st.Op != agent.OpAgent && text(name) == "OpenAI Agent" {
		at.Remove(canon.AgentName)
		at.Remove(canon.AgentID)
	}
}
