package dialect

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// braintrust reads spans that were written by hand for Braintrust: the kind is the
// type in braintrust.span_attributes.
func braintrust(span ptrace.Span, _ *look, st *canon.Stated) {
	at := span.Attributes()
	kind := ""
	run := metadata{rank: noSession}
	for k, v := range at.All() {
		switch k {
		case "braintrust.span_attributes":
			kind, _ = cjson.Lookup(text(v), "type")
		case "braintrust.metadata":
			run.readJSON(text(v))
		}
	}
	switch kind {
	case "llm":
		byDialect(st, agent.OpModel, agent.KindThink)
	case "tool":
		byDialect(st, agent.OpTool, agent.KindUnset)
		putNew(at, canon.ToolName, span.Name())
	default: // task, function, eval, score
		byDialect(st, agent.OpWorkflow, agent.KindOther)
	}
	putNew(at, canon.SessionID, run.session)
	putNew(at, canon.UserID, run.user)
	op := st.Op
	moveAll(at, func(k string) string {
		switch k {
		case "gen_ai.prompt_json":
			return canon.InputMessages
		case "gen_ai.completion_json":
			return canon.OutputMessages
		case "braintrust.input_json":
			switch op {
			case agent.OpTool:
				return canon.ToolArguments
			case agent.OpModel:
				return canon.InputMessages
			}
		case "braintrust.output_json":
			switch op {
			case agent.OpTool:
				return canon.ToolResult
			case agent.OpModel:
				return canon.OutputMessages
			}
		}
		return ""
	})
}
