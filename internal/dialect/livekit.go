package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// liveKit reads LiveKit's spans that name no operation: all of older versions, and
// the attempts of a model call of newer ones. What a span is stands in its name.
func liveKit(span ptrace.Span, _ *look, st *canon.Stated) {
	switch span.Name() {
	case "llm_request", "llm_request_run":
		byDialect(st, agent.OpModel, agent.KindThink)
		contentEvents(span, st.Op)
	case "function_tool":
		byDialect(st, agent.OpTool, agent.KindUnset)
	case "agent_session", "agent_turn", "assistant_turn", "llm_node":
		byDialect(st, agent.OpWorkflow, agent.KindOther)
	}
}

// liveKitTool reads what LiveKit says of a tool call in names of its own, which
// newer versions mark as personal. The text of a failed one stands only there; of an
// exception that was not meant for the model there is one constant text, which says
// nothing of how the call ended.
func liveKitTool(span ptrace.Span, _ *look, st *canon.Stated) {
	if st.Op != agent.OpTool {
		return
	}
	at := span.Attributes()
	failed, output := false, ""
	for k, v := range at.All() {
		switch k {
		case "lk.function_tool.is_error":
			failed = v.Type() == pcommon.ValueTypeBool && v.Bool()
		case "lk.pii.function_tool.output", "lk.function_tool.output":
			output = text(v)
		}
	}
	if failed && output == "An internal error occurred" {
		st.Failed = true
	} else if failed {
		st.ResultError = true
	}
	moveAll(at, func(k string) string {
		switch name, _ := strings.CutPrefix(strings.TrimPrefix(k, "lk.pii."), "lk."); name {
		case "function_tool.id":
			return canon.ToolCallID
		case "function_tool.name":
			return canon.ToolName
		case "function_tool.arguments":
			return canon.ToolArguments
		case "function_tool.output":
			return canon.ToolResult
		}
		return ""
	})
}
