package detect

import (
	"strconv"

	"github.com/steptrail/steptrail/internal/agent"
)

// keyMissing raises key.missing: an executed act without a key, once per tool. A
// call that has no span cannot show its key.
func keyMissing(x *scene) []agent.Finding {
	var found []agent.Finding
	var at map[string]int // by tool, index into found
	for _, m := range x.timeline() {
		a := m.at
		if m.step.Kind != agent.KindAct || !a.Executed || a.Key != "" || a.NoSpan {
			continue
		}
		i, known := at[a.Tool]
		if known && !x.absentOnceQuiet(a) || !known && !x.absent(a) {
			continue
		}
		if known {
			f := &found[i]
			f.Waste.Attempts++ // counted here until all are seen
			if len(f.Evidence) < maxEvidence {
				f.Evidence = append(f.Evidence, evidence(a))
			}
			continue
		}
		if at == nil {
			at = map[string]int{}
		}
		at[a.Tool] = len(found)
		found = append(found, agent.Finding{
			Anchor: a.Tool, Severity: onToolInfo(agent.SeverityWarning, m.step), Step: m.step.ID, Tool: a.Tool, Agent: m.step.Agent,
			DetectedAt: max(a.End, a.Start), Evidence: []agent.Evidence{evidence(a)}, Waste: agent.Waste{Attempts: 1},
			Message: what(a.Tool, a.Target),
		})
	}
	for i := range found {
		f := &found[i]
		f.Message += " ran without an idempotency key"
		if n := f.Waste.Attempts; n > 1 {
			f.Message += " (" + strconv.FormatInt(n, 10) + " such calls of the tool)"
		}
		f.Message += "; if its answer is lost, nothing keeps a retry from doing it twice"
		f.Waste = agent.Waste{}
	}
	return found
}
