package dialect

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// crewAI reads CrewAI's own spans: OTel GenAI, with a key for the agent's name, a
// task for the conversation, and a second span for each call that failed.
func crewAI(span ptrace.Span, l *look, st *canon.Stated) {
	genAI(span, l, st)
	if l.operation == "execute_task" {
		byDialect(st, agent.OpWorkflow, agent.KindOther)
	}
	at := span.Attributes()
	var role, task, event string
	cached := false
	for k, v := range at.All() {
		switch k {
		case "crewai.agent.role":
			role = text(v)
		case "crewai.task.id":
			task = text(v)
		case "crewai.event_name":
			event = text(v)
		case "crewai.tool.from_cache":
			cached = v.Type() == pcommon.ValueTypeBool && v.Bool()
		}
	}
	if event == "tool_failure_detected" { // the call itself has a span in ERROR
		st.Op = agent.OpNone
	}
	if cached && st.Op == agent.OpTool { // nothing ran
		putNew(at, canon.GateDecision, agent.GateDuplicate.String())
	}
	if role != "" {
		at.PutStr(canon.AgentName, role)
	}
	if v, ok := at.Get(canon.ConversationID); ok && text(v) == task {
		at.Remove(canon.ConversationID)
	}
}
