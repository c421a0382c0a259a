package dialect

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// openAIAgents reads the OpenAI Agents SDK, which says nowhere that a call waits
// for approval: an agent that ended well behind a model answer left that answer's
// open calls waiting.
func openAIAgents(_ ptrace.Span, _ *look, st *canon.Stated) {
	if st.Op == agent.OpAgent {
		st.Open = agent.SignDeferred
	}
}
