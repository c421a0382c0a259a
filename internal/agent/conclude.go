package agent

import (
	"cmp"
	"strings"
)

// conclude tells how the run stands: paused, its outcome where none is stated,
// and how much of it can be seen.
func (b *builder) conclude(r *Run) {
	last := lastAttempt(r)
	r.Paused = last != nil && last.Outcome == OutcomeDeferred
	if !r.Paused {
		r.Paused = b.rootPaused(r, last)
	}
	r.Stated = r.Outcome != RunOutcomeUnset
	if !r.Stated {
		r.Outcome = b.inferredOutcome(r)
	}
	r.AttemptsVisible = attemptsVisible(r)
	r.ArgumentsRecorded = argumentsRecorded(r)
	b.usageOfAgents(r)
}

// lastAttempt is the attempt of the run that began last.
func lastAttempt(r *Run) (last *Attempt) {
	for i := range r.Steps {
		if r.Steps[i].Kind == KindOther {
			continue
		}
		for j := range r.Steps[i].Attempts {
			if a := &r.Steps[i].Attempts[j]; last == nil || cmp.Or(cmp.Compare(a.Start, last.Start), cmp.Compare(a.End, last.End)) >= 0 {
				last = a
			}
		}
	}
	return last
}

// rootPaused: an interrupt ended the latest of the run's roots or nodes, and
// nothing came after it.
func (b *builder) rootPaused(r *Run, last *Attempt) bool {
	for i := len(r.Spans) - 1; i >= 0; i-- {
		s := r.Spans[i]
		if (s.Op == OpAgent || s.Op == OpWorkflow) && s.Sign == SignDeferred {
			return last == nil || last.Start <= max(s.End, s.Start)
		}
	}
	return false
}

// inferredOutcome is the outcome of a run that states none.
func (b *builder) inferredOutcome(r *Run) RunOutcome {
	switch {
	case r.Escalation != "":
		return RunOutcomeEscalated
	case r.Paused:
		return RunOutcomePaused
	}
	var root *Step // the latest one
	for _, at := range b.g.nodes {
		if b.a.nodes[at].isAgent && b.ownAgent(at) < 0 {
			root = b.a.steps[at]
		}
	}
	if root != nil && isFailure(root.Sign) {
		if isRunLimit(root.ErrorType) || isRunLimit(root.ErrorText) {
			return RunOutcomeLimit
		}
		return RunOutcomeFailure
	}
	var model *Attempt
	for i := range r.Steps {
		if r.Steps[i].Op != OpModel {
			continue
		}
		for j := range r.Steps[i].Attempts {
			if a := &r.Steps[i].Attempts[j]; model == nil || a.Start >= model.Start {
				model = a
			}
		}
	}
	if model != nil && model.Outcome == OutcomeError && r.RootEnded {
		return RunOutcomeFailure
	}
	return RunOutcomeUnset
}

func isFailure(s Sign) bool { return s == SignRejected || s == SignLost || s == SignException }

// runLimits are the words by which frameworks say that a limit ended a run.
var runLimits = [...]string{"maxturns", "max_turns", "max turns", "recursionerror", "recursion limit", "usagelimit", "llmcallslimit", "max_iterations", "maximum number of"}

func isRunLimit(text string) bool {
	text = strings.ToLower(text)
	for _, w := range runLimits {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// attemptsVisible tells whether retries of model calls can be seen: all where
// each attempt states its number or its requests are here.
func attemptsVisible(r *Run) Visibility {
	seen, calls := 0, 0
	for i := range r.Steps {
		if r.Steps[i].Op != OpModel {
			continue
		}
		calls++
		st := &r.Steps[i]
		if len(st.Attempts) > 1 || st.Attempts[0].Source == AttemptSourceReported || hasRequest(&st.Attempts[0]) {
			seen++
		}
	}
	switch {
	case calls == 0 || seen == calls:
		return VisibleAll
	case seen > 0:
		return VisibleSome
	}
	return VisibleNone
}

func hasRequest(a *Attempt) bool {
	for _, s := range a.Spans {
		if s.Op == OpHTTP {
			return true
		}
	}
	return false
}

// argumentsRecorded is the share of the tool attempts whose arguments were.
func argumentsRecorded(r *Run) float64 {
	recorded, all := 0, 0
	for i := range r.Steps {
		if k := r.Steps[i].Kind; k != KindRead && k != KindAct {
			continue
		}
		for j := range r.Steps[i].Attempts {
			all++
			if r.Steps[i].Attempts[j].Arguments.State == RecordedYes {
				recorded++
			}
		}
	}
	if all == 0 {
		return 1
	}
	return float64(recorded) / float64(all)
}
