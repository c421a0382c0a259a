package detect

import "github.com/steptrail/steptrail/internal/agent"

// toolUnclassified raises tool.unclassified: neither the policy, nor the span,
// nor evidence says whether a tool reads or acts, so it is treated as an act.
// Once per tool.
func toolUnclassified(x *scene) []agent.Finding {
	var found []agent.Finding
	var known map[string]bool
	for _, m := range x.timeline() {
		if m.step.Source != agent.KindSourceDefault || m.step.Kind != agent.KindAct || m.at.Tool == "" || known[m.at.Tool] || !x.absent(m.at) {
			continue
		}
		if known == nil {
			known = map[string]bool{}
		}
		known[m.at.Tool] = true
		found = append(found, agent.Finding{
			Anchor: m.at.Tool, Severity: agent.SeverityInfo, Step: m.step.ID, Tool: m.at.Tool, Agent: m.step.Agent, DetectedAt: max(m.at.End, m.at.Start),
			Evidence: []agent.Evidence{evidence(m.at)},
			Message:  "nothing says whether " + show(m.at.Tool) + " reads or acts, so it is treated as an act; give it a class under tools in the policy",
		})
	}
	return found
}
