package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// temporal reads the spans of Temporal's tracing interceptors. One span
// RunActivity:X is one attempt of activity X, whose id names the step; all others
// are the engine's bookkeeping. An activity may be a model call: the policy, or
// a model's span below it, tells.
func temporal(span ptrace.Span, _ *look, st *canon.Stated) {
	activity, ok := strings.CutPrefix(span.Name(), "RunActivity:")
	if !ok {
		return
	}
	byDialect(st, agent.OpTool, agent.KindUnset)
	at := span.Attributes()
	putNew(at, canon.ToolName, activity)
	for _, key := range [...]string{"temporalActivityID", "temporalActivityId"} {
		if v, ok := at.Get(key); ok {
			st.DialectStep = text(v)
			return
		}
	}
}
