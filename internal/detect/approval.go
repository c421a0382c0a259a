package detect

import "github.com/steptrail/steptrail/internal/agent"

// approvals raises approval.missing and approval.stale: an act whose tool
// requires approval ran without one, or with arguments other than those approved.
// One finding per step.
func approvals(x *scene) []agent.Finding {
	var found []agent.Finding
	for i := range x.Run.Steps {
		st := &x.Run.Steps[i]
		if st.Kind != agent.KindAct {
			continue
		}
		for j := range st.Attempts {
			a := &st.Attempts[j]
			if !a.Executed || !x.needsApproval(a) {
				continue
			}
			if f, ok := x.judgeApproval(st, a); ok {
				found = append(found, f)
				break
			}
		}
	}
	return found
}

func (x *scene) needsApproval(a *agent.Attempt) bool {
	if a.NoSpan {
		t := x.tool(a.Tool)
		return a.Seen && t != nil && t.ApprovalRequired
	}
	for _, s := range a.Own() {
		if s.Call.Approval {
			return true
		}
	}
	return false
}

func (x *scene) judgeApproval(st *agent.RunStep, a *agent.Attempt) (agent.Finding, bool) {
	f := agent.Finding{
		Anchor: stepAnchor(st, a), Severity: onTool(agent.SeverityCritical, st), Step: st.ID, Tool: a.Tool, Agent: st.Agent, DetectedAt: max(a.End, a.Start),
		Evidence: []agent.Evidence{evidence(a)},
	}
	c := x.consents()
	by := c.covered[a]
	switch {
	case by == nil && x.saidYes(a):
		return f, false
	case by == nil:
		f.Kind = "approval.missing"
		f.Message = what(a.Tool, a.Target) + " needs a person's approval and ran without one"
		if no := c.refusal(a); no != nil {
			f.Message += " (a person had said no " + lapse(a.Start-no.end) + " before)"
			f.Evidence = append(f.Evidence, evidence(no.at))
		}
		f.Message += "; it " + ended(a)
	case by.differs(a):
		f.Kind = "approval.stale"
		f.Evidence = append(f.Evidence, evidence(by.at))
		f.Message = what(a.Tool, a.Target) + " ran with arguments other than those that a person had approved " + lapse(a.Start-by.end) + " before; it " + ended(a)
	default:
		return f, false
	}
	return f, x.absent(a)
}

// saidYes reports whether the act shows the yes itself: its own span carries the
// decision, or its call waited for approval and then ran under its call id.
func (x *scene) saidYes(a *agent.Attempt) bool {
	for _, s := range a.Own() {
		if s.Decision == agent.DecisionApproved || s.Decision == agent.DecisionEdited {
			return true
		}
	}
	if a.CallID == "" {
		return false
	}
	if x.deferred == nil {
		x.deferred = map[string]int64{}
		for _, m := range x.timeline() {
			if _, known := x.deferred[m.at.CallID]; !known && m.step.Kind == agent.KindAct && m.at.Outcome == agent.OutcomeDeferred && m.at.CallID != "" {
				x.deferred[m.at.CallID] = m.at.Start
			}
		}
	}
	since, waited := x.deferred[a.CallID]
	return waited && since <= a.Start
}

// userBetween reports whether the user said something in between: a human step
// that is no decision and no question without an answer, or a new user message.
func (x *scene) userBetween(from, to int64) bool {
	if !x.spokeBetween(from, to) {
		return false
	}
	for _, t := range x.Run.Turns {
		if t.Time > from && t.Time <= to {
			return true
		}
	}
	for i := range x.Run.Steps {
		st := &x.Run.Steps[i]
		if st.Kind != agent.KindHuman {
			continue
		}
		for j := range st.Attempts {
			a := &st.Attempts[j]
			if a.Start > from && a.Start <= to && a.Outcome == agent.OutcomeOK && a.Step().Decision == agent.DecisionUnset && !a.Facts().Decided {
				return true
			}
		}
	}
	return false
}
