package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// agentOps reads the spans of AgentOps' decorators. Its model calls have old GenAI
// names and no operation; its tool_call.* spans are the model's requests, and no
// steps.
func agentOps(span ptrace.Span, _ *look, st *canon.Stated) {
	at := span.Attributes()
	var kind, name string
	for k, v := range at.All() {
		switch k {
		case "agentops.span.kind":
			kind = text(v)
		case "operation.name":
			name = text(v)
		}
	}
	if name == "" {
		name = strings.TrimSuffix(span.Name(), "."+kind)
	}
	switch kind {
	case "agent":
		byDialect(st, agent.OpAgent, agent.KindUnset)
		putNew(at, canon.AgentName, name)
	case "tool":
		byDialect(st, agent.OpTool, agent.KindUnset)
		putNew(at, canon.ToolName, name)
		for k, v := range at.All() {
			if k == "agentops.tool.input" {
				v.SetStr(bareArguments(text(v)))
			}
		}
	default: // session, workflow, task, operation, guardrail
		byDialect(st, agent.OpWorkflow, agent.KindOther)
	}
	moveAll(at, func(k string) string {
		switch k {
		case "agentops.tool.input":
			return canon.ToolArguments
		case "agentops.tool.output":
			return canon.ToolResult
		}
		return ""
	})
}
