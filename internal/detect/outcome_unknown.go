package detect

import (
	"github.com/steptrail/steptrail/internal/agent"
)

// outcomeUnknown raises outcome.unknown: an act ended without proof either way.
// It is open until something settles it, critical past the policy's term, and
// stays in the history, resolved.
func outcomeUnknown(x *scene) []agent.Finding {
	x.awaitEnds()
	life := x.life()
	if len(life) == 0 {
		return nil
	}
	found := make([]agent.Finding, 0, len(life))
	for i := range life {
		u := &life[i]
		st := &x.Run.Steps[u.Step]
		a := &st.Attempts[u.Attempt]
		f := agent.Finding{
			Anchor: place(a), Severity: agent.SeverityWarning, Status: agent.StatusOpen, Step: st.ID, Tool: a.Tool, Agent: st.Agent,
			DetectedAt: max(a.End, a.Start), Evidence: []agent.Evidence{evidence(a)},
			Message: what(a.Tool, a.Target) + ": " + attemptOf(st, a) + " " + lostHow(a) + "; it may have happened",
		}
		switch {
		case !u.Open():
			f.Status = agent.StatusResolved
			f.Message += ". " + settledHow(u, a)
			if u.Settler != nil {
				f.Evidence = append(f.Evidence, evidence(u.Settler))
			}
		case x.policyRepeatable(a):
			f.Message += ", and running it again does no harm"
		default:
			if due := max(a.End, a.Start) + int64(x.detection.UnknownSLA); x.Now > 0 && x.detection.UnknownSLA > 0 {
				if due < x.Now {
					f.Severity = agent.SeverityCritical
					f.Message += ", and nobody has settled it within " + lapse(int64(x.detection.UnknownSLA))
				} else {
					x.again(due + 1)
				}
			}
			f.Message += ". " + x.nextFor(a)
		}
		if x.policyRepeatable(a) {
			f.Severity = agent.SeverityInfo
		}
		f.Severity = onToolInfo(f.Severity, st)
		found = append(found, f)
	}
	return found
}

// awaitEnds asks for another judgement when acts whose end is still awaited are
// given up.
func (x *scene) awaitEnds() {
	if x.Now == 0 || x.LastArrival == 0 {
		return
	}
	for i := range x.Run.Steps {
		st := &x.Run.Steps[i]
		if st.Kind != agent.KindAct {
			continue
		}
		for j := range st.Attempts {
			if st.Attempts[j].Outcome == agent.OutcomeUnset {
				x.again(x.LastArrival + int64(x.detection.InFlight))
				return
			}
		}
	}
}

// lostHow says how an outcome came to be unknown.
func lostHow(a *agent.Attempt) string {
	switch {
	case a.NoSpan && a.Seen:
		return ended(a)
	case a.NoSpan:
		return "was asked for by the model, and neither its span nor its answer came"
	case a.Step().Op == agent.OpGate && a.Gate == agent.GateNew:
		return "was let through by the gate, and its end was never reported"
	case a.Step().Outcome == agent.OutcomeUnknown && a.ErrorType == "" && a.StatusCode == 0:
		return "says itself that its outcome is not known"
	case a.Step().Sign == agent.SignReceipt, a.Step().Sign == agent.SignOK && a.Facts().Task == agent.TaskReceipt:
		return "brought only a receipt, and no result followed"
	}
	return ended(a)
}

func settledHow(u *agent.Unknown, a *agent.Attempt) string {
	m := ""
	switch u.By {
	case agent.SettledByReconcile:
		m = "A look settled it"
	case agent.SettledByReplay:
		m = "A replay under its key settled it"
	case agent.SettledByPerson, agent.SettledByResolution:
		m = "A person settled it"
	case agent.SettledByGate:
		m = "The gate settled it"
	case agent.SettledByNothing:
	}
	m += " " + lapse(u.At-a.End) + " later"
	switch u.Way {
	case agent.SettlementApplied:
		m += ": it had happened"
	case agent.SettlementNotApplied:
		m += ": it had not happened"
	case agent.SettlementUnset:
	}
	return m
}

// nextFor says what the policy asks for next.
func (x *scene) nextFor(a *agent.Attempt) string {
	answer, looks := x.declared(a)
	switch answer {
	case agent.OnUnknownReplay:
		if a.Key != "" {
			return "Run it again under the same key " + show(a.Key)
		}
		return "It is to be run again under its key, but it had none: look first"
	case agent.OnUnknownEscalate:
		return "Ask a person"
	case agent.OnUnknownReconcile, agent.OnUnknownUnset:
	}
	switch {
	case looks != "":
		return "Look with " + show(looks) + " before acting again"
	case answer == agent.OnUnknownReconcile:
		return "Look whether it took effect before acting again"
	}
	return "Find out before acting again"
}

// declared is what the policy declares for an unknown outcome of the tool, and
// the first tool that tells.
func (x *scene) declared(a *agent.Attempt) (answer agent.OnUnknown, looks string) {
	if !a.NoSpan {
		c := &a.Step().Call
		if len(c.ReconcileWith) > 0 {
			looks = c.ReconcileWith[0]
		}
		return c.OnUnknown, looks
	}
	t := x.tool(a.Tool)
	if t == nil {
		return agent.OnUnknownUnset, ""
	}
	if len(t.ReconcileWith) > 0 {
		looks = t.ReconcileWith[0]
	}
	answer, _ = agent.ParseOnUnknown(t.OnUnknown.String())
	return answer, looks
}
