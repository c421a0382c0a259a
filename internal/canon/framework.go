package canon

import (
	"bytes"
	"strings"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/cjson"
)

// taskEnd: the answer of a tool that tells how a background task ended answers the
// call that dispatched the task too (Strands).
func (x *extractor) taskEnd(text string) {
	if !strings.HasPrefix(text, "{") || !strings.Contains(text, `"tool_use_id"`) || !strings.Contains(text, `"task_id"`) {
		return
	}
	var id, tool, status, kind string
	sc := cjson.Scan(text)
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "tool_use_id":
			id = sc.Text()
		case "tool_name":
			tool = sc.Text()
		case "status":
			status = sc.Text()
		case "error":
			for sc.Object(); sc.Next(); {
				if sc.Key() == "type" {
					kind = sc.Text()
				}
			}
		}
	}
	a := agent.CallAnswer{ID: id, Tool: tool}
	switch agent.ParseTaskStatus(status) {
	case agent.TaskDone:
		a.Sign = agent.SignOK
	case agent.TaskFailed:
		if a.Sign = agent.SignException; kind == "timeout" || status == "cancelled" {
			a.Sign = agent.SignLost
		}
	default:
		return
	}
	if id != "" && sc.End() {
		x.answers = append(x.answers, a)
	}
}

// isFeedback reports whether a text that came as the user's is a framework's: its
// feedback on a failed call (Pydantic AI), or what one agent tells the next of its
// turn (Google ADK).
func isFeedback(text []byte) bool {
	text = bytes.TrimSpace(text)
	return bytes.HasPrefix(text, []byte("<pyai:retry_feedback>")) || bytes.HasSuffix(text, []byte("Fix the errors and try again.")) ||
		bytes.HasPrefix(text, []byte("For context:"))
}
