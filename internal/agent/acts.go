package agent

// Acts gives the narrow copies of the run's act, human and reconcile attempts,
// in the order of its steps and attempts.
func Acts(r *Run) []Act {
	n := 0
	for i := range r.Steps {
		if isActKind(r.Steps[i].Kind) {
			n += len(r.Steps[i].Attempts)
		}
	}
	if n == 0 {
		return nil
	}
	acts := make([]Act, 0, n)
	for i := range r.Steps {
		st := &r.Steps[i]
		if !isActKind(st.Kind) {
			continue
		}
		for j := range st.Attempts {
			acts = append(acts, ActOf(r, st, &st.Attempts[j]))
		}
	}
	return acts
}

// ActOf gives the narrow copy of one attempt.
func ActOf(r *Run, st *RunStep, a *Attempt) Act {
	return Act{
		Tenant: r.Tenant, Run: r.ID, Unit: a.Unit, Trace: a.Trace, Span: a.Span, Part: a.Part,
		StepID: st.ID, Attempt: a.Number, Kind: st.Kind, Agent: st.Agent, Tool: a.Tool, Target: a.Target, Key: a.Key,
		Gate: a.Gate, Outcome: a.Outcome, Executed: a.Executed, Start: a.Start, End: a.End,
	}
}

func isActKind(k Kind) bool { return k == KindAct || k == KindHuman || k == KindReconcile }
