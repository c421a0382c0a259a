package detect

import (
	"strconv"

	"github.com/steptrail/steptrail/internal/agent"
)

// retryStorm raises retry.storm: more executed attempts of a step than the
// policy allows.
func retryStorm(x *scene) []agent.Finding {
	limit := x.limits().Attempts
	var found []agent.Finding
	for i := range x.Run.Steps {
		st := &x.Run.Steps[i]
		if len(st.Attempts) <= limit || st.Kind == agent.KindOther {
			continue
		}
		ran := 0
		var broke, last *agent.Attempt
		f := agent.Finding{Severity: agent.SeverityWarning, Step: st.ID, Agent: st.Agent}
		for j := range st.Attempts {
			a := &st.Attempts[j]
			if !a.Executed {
				continue
			}
			if ran++; ran == limit+1 {
				broke = a
			}
			if ran > limit {
				f.Waste.Attempts++
				f.Waste.Duration += max(0, a.End-a.Start)
				addUsage(&f.Waste, a)
			}
			last = a
			if len(f.Evidence) < maxEvidence {
				f.Evidence = append(f.Evidence, evidence(a))
			}
		}
		if broke == nil {
			continue
		}
		first := &st.Attempts[0]
		f.Anchor, f.Tool, f.DetectedAt = stepAnchor(st, first), first.Tool, max(broke.End, broke.Start)
		f.Message = stepName(st, first) + " was tried " + strconv.Itoa(ran) + " times where " + strconv.Itoa(limit) + " are allowed, over " +
			lapse(last.End-first.Start) + "; the last " + ended(last)
		found = append(found, f)
	}
	return found
}

// stepName says what a step is: a tool and its target, or a model call.
func stepName(st *agent.RunStep, a *agent.Attempt) string {
	if st.Kind == agent.KindThink {
		return "the model call of step " + show(st.ID)
	}
	return what(a.Tool, a.Target) + " (step " + show(st.ID) + ")"
}
