package detect

import (
	"strconv"

	"github.com/steptrail/steptrail/internal/agent"
)

// retryDrift raises retry.drift: an attempt is not the same step as the one
// before it. What one of them does not state does not differ, and what was
// corrected after the input was rejected is no drift.
func retryDrift(x *scene) []agent.Finding {
	var found []agent.Finding
	for i := range x.Run.Steps {
		st := &x.Run.Steps[i]
		if len(st.Attempts) < 2 || st.Kind != agent.KindAct && st.Kind != agent.KindThink {
			continue
		}
		for j := 1; j < len(st.Attempts); j++ {
			before, now := &st.Attempts[j-1], &st.Attempts[j]
			changed := drift(st, before, now)
			if changed == "" {
				continue
			}
			found = append(found, agent.Finding{
				Anchor: stepAnchor(st, &st.Attempts[0]), Severity: agent.SeverityWarning, Step: st.ID, Tool: now.Tool, Agent: st.Agent,
				DetectedAt: max(before.End, now.End, now.Start), Evidence: []agent.Evidence{evidence(before), evidence(now)},
				Message: "attempt " + strconv.Itoa(int(now.Number)) + " of step " + show(st.ID) + " is not what attempt " + strconv.Itoa(int(before.Number)) + " was: " + changed +
					"; give what is another step another id",
			})
		}
	}
	return found
}

// drift says what differs between two attempts; empty if nothing does.
func drift(st *agent.RunStep, before, now *agent.Attempt) string {
	if st.Kind == agent.KindThink {
		if !before.Input.IsZero() && !now.Input.IsZero() && before.Input != now.Input && !corrected(before) {
			return "it read other input messages"
		}
		return ""
	}
	switch {
	case before.Tool != "" && now.Tool != "" && before.Tool != now.Tool:
		return show(now.Tool) + " in place of " + show(before.Tool)
	case before.Target != "" && now.Target != "" && before.Target != now.Target:
		return show(now.Tool) + " on " + show(now.Target) + " in place of " + show(before.Target)
	case otherArguments(before, now) && !corrected(before):
		return what(now.Tool, now.Target) + " with other arguments"
	}
	return ""
}

// corrected reports whether the input of an attempt was rejected, so that the
// next one may well have other input.
func corrected(a *agent.Attempt) bool {
	switch a.Outcome {
	case agent.OutcomeError:
		return agent.InputRejected(a.Evidence())
	case agent.OutcomeRefused:
		return a.Gate == agent.GateUnset || a.Gate == agent.GateNew
	default:
		return false
	}
}
