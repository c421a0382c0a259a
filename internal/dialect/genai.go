package dialect

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// genAI reads spans of the OTel GenAI conventions, current and deprecated
// names. The names are the canonical ones already; what is left is the kind of
// the operation, and content that came as span events.
func genAI(span ptrace.Span, l *look, st *canon.Stated) {
	operation(l.operation, st)
	if st.Op == agent.OpTool {
		toolSpan(span, l, st)
	}
	contentEvents(span, st.Op)
	if st.Op == agent.OpTool && mergedTools(span) {
		st.Op = agent.OpNone
	}
}

// operation maps gen_ai.operation.name, with the values that are about beside
// the registry's.
func operation(name string, st *canon.Stated) {
	switch name {
	case "chat", "text_completion", "generate_content", "responses", "response", "completion":
		byDialect(st, agent.OpModel, agent.KindThink)
	case "execute_tool":
		byDialect(st, agent.OpTool, agent.KindUnset)
	case "invoke_agent":
		byDialect(st, agent.OpAgent, agent.KindUnset)
	case "invoke_workflow", "workflow", "agent_step", "execute_event_loop_cycle", "workflow_step", "plan", "guardrail.run", "guard", "guardrail",
		"guardrail_check", "execute_task", "CHAIN", "invoke_node", "invoke_swarm", "invoke_graph":
		byDialect(st, agent.OpWorkflow, agent.KindOther)
	case "retrieval", "embeddings", "search_memory":
		byEvidence(st, agent.OpRetrieval)
	case "create_memory", "update_memory", "upsert_memory", "delete_memory", "create_memory_store", "update_memory_store", "delete_memory_store":
		byDialect(st, agent.OpTool, agent.KindAct)
	case "handoff", "agent_handoff":
		byDialect(st, agent.OpHandoff, agent.KindOther)
	}
	// create_agent and what nobody knows is no step.
}

// toolSpan reads what tells more about a tool span.
func toolSpan(span ptrace.Span, l *look, st *canon.Stated) {
	if l.has(markDatastore) {
		byEvidence(st, agent.OpTool)
	}
	if l.has(markMCP) {
		mcpError(span.Attributes(), st)
	}
	if !l.has(markTool) && st.Kind == agent.KindAct { // a memory operation names itself
		span.Attributes().PutStr(canon.ToolName, l.operation)
	}
}

// handoffArgument: some clients' tool that hands over names the agent in its
// arguments.
func handoffArgument(at pcommon.Map, st *canon.Stated) {
	v, ok := at.Get(canon.ToolName)
	if !ok || v.Type() != pcommon.ValueTypeStr {
		return
	}
	switch v.Str() {
	case "handoff_to_agent", "transfer_to_agent", "delegate_to_agent", "handoff", "delegate_task_to_member":
	default:
		return
	}
	if args, ok := at.Get(canon.ToolArguments); ok {
		st.HandoffTo = HandoffTo(text(args))
	}
}

// HandoffTo is the agent that the arguments of a hand-off name; empty if none.
func HandoffTo(arguments string) string {
	for _, key := range [...]string{"agent_name", "to_agent", "target_agent", "next_agent", "agent", "assistant", "member_id", "to"} {
		if name, ok := cjson.Lookup(arguments, key); ok && name != "" {
			return name
		}
	}
	return ""
}

// mergedTools: a span that stands for several tool spans beside it is no call.
func mergedTools(span ptrace.Span) bool {
	v, ok := span.Attributes().Get(canon.ToolName)
	return ok && v.Type() == pcommon.ValueTypeStr && v.Str() == "(merged tools)"
}

// toolOnly reads spans that name a tool and no operation.
func toolOnly(span ptrace.Span, l *look, st *canon.Stated) {
	byDialect(st, agent.OpTool, agent.KindUnset)
	toolSpan(span, l, st)
	contentEvents(span, st.Op)
}

// modelOnly reads spans that name a model and no operation. Agent spans do so
// too: a call has tokens or messages.
func modelOnly(span ptrace.Span, l *look, st *canon.Stated) {
	contentEvents(span, agent.OpModel)
	if l.has(markUsage) {
		byDialect(st, agent.OpModel, agent.KindThink)
	}
}
