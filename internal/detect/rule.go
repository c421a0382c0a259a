package detect

import (
	"cmp"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/policy"
)

// rules raises rule.<name>: spans met the condition of a rule of the policy. One
// per run and rule, its spans as evidence.
func rules(x *scene) []agent.Finding {
	var found []agent.Finding
	var at map[string]int
	var steps map[*agent.Step]*agent.RunStep
	for _, s := range x.Run.Spans {
		for _, name := range s.Rules {
			if i, known := at[name]; known {
				if f := &found[i]; len(f.Evidence) < maxEvidence {
					f.Evidence = append(f.Evidence, spanEvidence(s))
				}
				continue
			}
			if at == nil {
				at, steps = map[string]int{}, x.stepOfSpan()
			}
			at[name] = len(found)
			f := agent.Finding{
				Kind: "rule." + name, Anchor: name, Severity: agent.SeverityWarning, Tool: s.Call.Tool, Agent: s.Agent,
				DetectedAt: max(s.End, s.Start), Evidence: []agent.Evidence{spanEvidence(s)}, Message: "a span met the rule " + show(name),
			}
			if st := steps[s]; st != nil {
				f.Step = st.ID
				f.Agent = cmp.Or(f.Agent, st.Agent)
			}
			f.Agent = cmp.Or(f.Agent, x.Run.Agent)
			x.describe(&f, name)
			found = append(found, f)
		}
	}
	return found
}

// stepOfSpan gives the step that each span is an attempt of, or a part of one.
func (x *scene) stepOfSpan() map[*agent.Step]*agent.RunStep {
	out := map[*agent.Step]*agent.RunStep{}
	for i := range x.Run.Steps {
		st := &x.Run.Steps[i]
		for j := range st.Attempts {
			for _, s := range st.Attempts[j].Spans {
				out[s] = st
			}
		}
	}
	return out
}

// describe takes severity and message from the policy, if it still has the rule.
func (x *scene) describe(f *agent.Finding, name string) {
	if x.Policy == nil {
		return
	}
	for i := range x.Policy.Rules {
		r := &x.Policy.Rules[i]
		if r.Name != name {
			continue
		}
		switch r.Severity {
		case policy.SeverityInfo:
			f.Severity = agent.SeverityInfo
		case policy.SeverityCritical:
			f.Severity = agent.SeverityCritical
		case policy.SeverityWarning, policy.SeverityUnset:
		}
		if r.Message != "" {
			f.Message = r.Message
		}
		return
	}
}
