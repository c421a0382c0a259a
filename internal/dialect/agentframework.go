package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// agentFramework reads what the Microsoft Agent Framework adds to OTel GenAI: the
// spans of workflows, told by their names, questions to a person and their answers
// in the messages of agents, and a conversation that is the response before.
func agentFramework(span ptrace.Span, _ *look, st *canon.Stated) {
	at := span.Attributes()
	switch st.Op {
	case agent.OpNone:
		if name, _, _ := strings.Cut(span.Name(), " "); name == "workflow.run" || name == "executor.process" || name == "edge_group.process" {
			byDialect(st, agent.OpWorkflow, agent.KindOther)
		}
	case agent.OpModel:
		if v, ok := at.Get(canon.ConversationID); ok && strings.HasPrefix(text(v), "resp_") {
			at.Remove(canon.ConversationID)
		}
	case agent.OpAgent:
		st.Spanless = agent.SignRefused
		for _, name := range [...]string{canon.OutputMessages, canon.InputMessages} {
			if v, ok := at.Get(name); ok && strings.Contains(text(v), `"function_approval_re`) {
				approvals(text(v), st)
			}
		}
	}
}

// approvals reads the parts of messages by which a call waits for a person, and by
// which it was let go or turned away.
func approvals(messages string, st *canon.Stated) {
	sc := cjson.Scan(messages)
	for sc.Array(); sc.Next(); {
		for sc.Object(); sc.Next(); {
			if sc.Key() != "parts" {
				continue
			}
			for sc.Array(); sc.Next(); {
				approval(sc.Raw(), st)
			}
		}
	}
}

func approval(part string, st *canon.Stated) {
	var typ, id string
	approved := false
	sc := cjson.Scan(part)
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "type":
			typ = sc.Text()
		case "approved":
			approved = sc.Raw() == "true"
		case "function_call":
			for sc.Object(); sc.Next(); {
				if sc.Key() == "call_id" {
					id = sc.Text()
				}
			}
		}
	}
	if id == "" {
		return
	}
	switch {
	case typ == "function_approval_request":
		addWord(st, agent.CallWord{ID: id, Sign: agent.SignDeferred})
	case typ == "function_approval_response" && !approved:
		addWord(st, agent.CallWord{ID: id, Sign: agent.SignRefused})
	}
}
