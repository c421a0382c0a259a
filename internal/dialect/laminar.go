package dialect

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// laminar reads spans of the Laminar SDK: the kind is in lmnr.span.type, names are
// those of the spans, and model calls have OTel GenAI names without an operation.
func laminar(span ptrace.Span, _ *look, st *canon.Stated) {
	at := span.Attributes()
	kind := ""
	if v, ok := at.Get("lmnr.span.type"); ok {
		kind = text(v)
	}
	switch kind {
	case "LLM":
		byDialect(st, agent.OpModel, agent.KindThink)
	case "TOOL":
		byDialect(st, agent.OpTool, agent.KindUnset)
		putNew(at, canon.ToolName, span.Name())
	default:
		byDialect(st, agent.OpWorkflow, agent.KindOther)
	}
	tool := st.Op == agent.OpTool
	if v, ok := at.Get("lmnr.span.output"); tool && ok && v.Type() == pcommon.ValueTypeStr {
		v.SetStr(unquoted(v.Str()))
	}
	moveAll(at, func(k string) string {
		switch k {
		case "lmnr.association.properties.session_id":
			return canon.SessionID
		case "lmnr.association.properties.user_id":
			return canon.UserID
		case "lmnr.span.input":
			if tool {
				return canon.ToolArguments
			}
		case "lmnr.span.output":
			if tool {
				return canon.ToolResult
			}
		}
		return ""
	})
}
