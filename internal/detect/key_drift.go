package detect

import (
	"slices"
	"strconv"

	"github.com/steptrail/steptrail/internal/agent"
)

// keyDrift raises key.drift: attempts of one act with different keys. An absent
// key is not a different one; attempts that the gate stopped count.
func keyDrift(x *scene) []agent.Finding {
	var found []agent.Finding
	for i := range x.Run.Steps {
		st := &x.Run.Steps[i]
		if st.Kind != agent.KindAct || len(st.Attempts) < 2 {
			continue
		}
		var first, other *agent.Attempt
		keys := 0
		seen := make([]string, 0, 4)
		for j := range st.Attempts {
			a := &st.Attempts[j]
			switch {
			case a.Key == "":
			case first == nil:
				first, keys = a, 1
				seen = append(seen, a.Key)
			case !slices.Contains(seen, a.Key):
				if keys++; len(seen) < maxEvidence {
					seen = append(seen, a.Key)
				}
				if other == nil {
					other = a
				}
			}
		}
		if other == nil {
			continue
		}
		f := agent.Finding{
			Anchor: first.Key, Severity: agent.SeverityWarning, Step: st.ID, Tool: other.Tool, Agent: st.Agent, DetectedAt: max(other.End, first.End, other.Start),
			Evidence: []agent.Evidence{evidence(first), evidence(other)},
			Message: what(other.Tool, other.Target) + ": attempt " + strconv.Itoa(int(first.Number)) + " of step " + show(st.ID) + " used key " + show(first.Key) + ", attempt " +
				strconv.Itoa(int(other.Number)) + " key " + show(other.Key) + "; with another key the service takes a retry for a new request",
		}
		found = append(found, f)
	}
	return found
}
