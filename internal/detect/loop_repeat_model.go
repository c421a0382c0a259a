package detect

import (
	"slices"
	"sort"
	"strconv"

	"github.com/steptrail/steptrail/internal/agent"
)

// modelRow is a run of model calls that brought the same.
type modelRow struct {
	hits  []moment
	end   int64
	quick int
}

func (r *modelRow) add(m moment) {
	if len(r.hits) > 0 && m.at.Start-r.end <= seconds5 {
		r.quick++
	}
	r.hits, r.end = append(r.hits, m), max(m.at.End, m.at.Start)
}

func (r *modelRow) severity(n int) agent.Severity {
	if len(r.hits) >= 5*n && 2*r.quick >= len(r.hits) {
		return agent.SeverityCritical
	}
	return agent.SeverityWarning
}

// finding is raised by the n-th of the row.
func (r *modelRow) finding(n int) agent.Finding {
	first := r.hits[0]
	f := agent.Finding{Step: first.step.ID, Agent: first.step.Agent, DetectedAt: max(r.hits[n-1].at.End, r.hits[n-1].at.Start), Severity: r.severity(n)}
	f.Waste.Duration = r.end - max(first.at.End, first.at.Start)
	for i, m := range r.hits {
		if i > 0 {
			f.Waste.Attempts++
			addUsage(&f.Waste, m.at)
		}
		if i < maxEvidence {
			f.Evidence = append(f.Evidence, evidence(m.at))
		}
	}
	return f
}

// between reports whether anything but model calls stands in the lane, or a
// person spoke, after one time and before another.
func (x *scene) between(l *lane, from, to int64) bool {
	call := sort.Search(len(l.calls), func(i int) bool { return l.calls[i].start >= from })
	other := sort.Search(len(l.others), func(i int) bool { return l.others[i] >= from })
	return call < len(l.calls) && l.calls[call].start <= to || other < len(l.others) && l.others[other] <= to || x.spokeBetween(from, to)
}

// repeatedOutputs finds equal model outputs with nothing between, unless the
// inputs differ by more than those outputs. The attempts of one model call are
// retries: its last output counts.
func (x *scene) repeatedOutputs(l *lane, found []agent.Finding) []agent.Finding {
	var r modelRow
	n := x.detection.Repeat
	done := func() {
		if n > 0 && len(r.hits) >= n {
			f := r.finding(n)
			f.Anchor = "output\x00" + r.hits[0].at.Output.String()
			f.Message = "the model said the same " + strconv.Itoa(len(r.hits)) + " times in a row with nothing between; the agent talks to itself: end its turn or give it something new"
			found = append(found, f)
		}
		r = modelRow{hits: r.hits[:0]}
	}
	for _, m := range l.models {
		if m.at != lastAttempt(m.step) {
			continue
		}
		if m.at.Output.IsZero() || m.at.Outcome != agent.OutcomeOK {
			done()
			continue
		}
		if k := len(r.hits); k > 0 {
			last := r.hits[k-1]
			switch {
			case !last.at.Output.Same(m.at.Output), x.between(l, last.at.Start, m.at.Start), x.newInput(last.at, m.at):
				done()
			case m.at.Start < r.end:
				continue // beside it
			}
		}
		r.add(m)
	}
	done()
	return found
}

func lastAttempt(st *agent.RunStep) *agent.Attempt { return &st.Attempts[len(st.Attempts)-1] }

// maxInput is how many messages of two inputs are compared.
const maxInput = 256

// newInput reports whether a model call read more than the one before it had
// read and said.
func (x *scene) newInput(before, now *agent.Attempt) bool {
	if len(before.Inputs) == 0 || len(now.Inputs) == 0 {
		return false
	}
	old := before.Inputs[max(0, len(before.Inputs)-maxInput):]
	for _, ref := range now.Inputs[max(0, len(now.Inputs)-maxInput):] {
		if !slices.Contains(old, ref) && !x.saidIn(before, ref) {
			return true
		}
	}
	return false
}

// saidIn reports whether a message is what a model call said.
func (x *scene) saidIn(a *agent.Attempt, ref agent.Ref) bool {
	if slices.Contains(a.Outputs, ref) {
		return true
	}
	f := x.Run.Facts[ref]
	if f == nil || f.Role != agent.RoleAssistant {
		return false
	}
	for _, out := range a.Outputs {
		if o := x.Run.Facts[out]; o != nil && o.Text.Same(f.Text) {
			return true
		}
	}
	return false
}

// repeatedErrors finds equal errors of model calls in a row that no retry cures,
// more than a step may have attempts. Here the attempts of one model call count.
func (x *scene) repeatedErrors(l *lane, found []agent.Finding) []agent.Finding {
	var r modelRow
	n := x.limits().Attempts + 1
	done := func() {
		if len(r.hits) >= n {
			first := r.hits[0].at
			f := r.finding(n)
			f.Anchor = "error\x00" + first.ErrorType
			f.Message = strconv.Itoa(len(r.hits)) + " model calls in a row failed with the same error (" + show(errorName(first)) + "), which no retry cures; change the input or stop"
			found = append(found, f)
		}
		r = modelRow{hits: r.hits[:0]}
	}
	for _, m := range l.models {
		if m.at.Outcome != agent.OutcomeError || !incurable(m.at) {
			done()
			continue
		}
		if k := len(r.hits); k > 0 {
			last := r.hits[k-1].at
			if last.ErrorType != m.at.ErrorType || last.StatusCode != m.at.StatusCode || x.between(l, last.Start, m.at.Start) {
				done()
			}
		}
		r.add(m)
	}
	done()
	return found
}

// incurable: the request was judged and rejected, so it will be again.
func incurable(a *agent.Attempt) bool {
	e := a.Evidence()
	return agent.JudgeError(e) == agent.SignRejected && !agent.Unreached(e)
}

func errorName(a *agent.Attempt) string {
	switch {
	case a.ErrorType != "":
		return a.ErrorType
	case a.StatusCode != 0:
		return strconv.Itoa(int(a.StatusCode))
	}
	return "no type given"
}
