package detect

import (
	"strconv"

	"github.com/steptrail/steptrail/internal/agent"
)

// actionForbidden raises action.forbidden: a tool ran that the policy forbids. A
// refused attempt is none.
func actionForbidden(x *scene) []agent.Finding {
	var found []agent.Finding
	for i := range x.Run.Steps {
		st := &x.Run.Steps[i]
		if st.Op != agent.OpTool && st.Op != agent.OpRetrieval && st.Op != agent.OpGate && st.Kind != agent.KindAct {
			continue
		}
		var first *agent.Attempt
		ran := 0
		f := agent.Finding{Severity: onTool(agent.SeverityCritical, st), Step: st.ID, Agent: st.Agent}
		for j := range st.Attempts {
			a := &st.Attempts[j]
			if !a.Executed || a.NoSpan && !a.Seen || !x.forbids(a) {
				continue
			}
			ran++
			if first == nil {
				first = a
			}
			if len(f.Evidence) < maxEvidence {
				f.Evidence = append(f.Evidence, evidence(a))
			}
		}
		if first == nil {
			continue
		}
		f.Anchor, f.Tool, f.DetectedAt = stepAnchor(st, first), first.Tool, max(first.End, first.Start)
		f.Message = what(first.Tool, first.Target) + " is forbidden by the policy and ran"
		if ran > 1 {
			f.Message += " " + strconv.Itoa(ran) + " times"
		}
		f.Message += "; it " + ended(first)
		found = append(found, f)
	}
	return found
}

func (x *scene) forbids(a *agent.Attempt) bool {
	if a.NoSpan {
		t := x.tool(a.Tool)
		return t != nil && t.Forbidden
	}
	for _, s := range a.Spans {
		if s.Call.Forbidden {
			return true
		}
	}
	return false
}
