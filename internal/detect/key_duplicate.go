package detect

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/steptrail/steptrail/internal/agent"
)

// execution is an act that ran and ended ok under a key: of this run, with its
// step and attempt, or of another.
type execution struct {
	act     agent.Act
	step    *agent.RunStep
	attempt *agent.Attempt
}

// keyDuplicate raises key.duplicate: two executions of one tool and target with
// outcome ok under one key, in this run, or in this run and an earlier one. A
// call that the gate answered is no execution. The run of the later execution
// carries the finding, against the nearest earlier one. One finding per key.
func keyDuplicate(x *scene) []agent.Finding {
	var found []agent.Finding
	keys := x.underKeys()
	for i := range keys {
		k := &keys[i]
		var all []execution
		for _, m := range k.own() {
			if m.at.Executed && m.at.Outcome == agent.OutcomeOK {
				all = append(all, execution{agent.ActOf(x.Run, m.step, m.at), m.step, m.at})
			}
		}
		if len(all) == 0 {
			continue
		}
		if f, ok := duplicateUnder(k.key, withOthers(all, k.others)); ok {
			found = append(found, f)
		}
	}
	return found
}

// withOthers adds the executions of other runs. A span that both have, because
// it moved between runs, counts as this run's.
func withOthers(own []execution, acts []agent.Act) []execution {
	all := slices.Clone(own)
	for _, a := range acts {
		if !a.Executed || a.Outcome != agent.OutcomeOK {
			continue
		}
		moved := slices.ContainsFunc(own, func(e execution) bool {
			return e.act.Trace == a.Trace && e.act.Span == a.Span && e.act.Part == a.Part
		})
		if !moved {
			all = append(all, execution{act: a})
		}
	}
	return all
}

// maxUnderKey is how many executions back the nearest earlier one is looked for.
const maxUnderKey = 1000

func duplicateUnder(key string, all []execution) (agent.Finding, bool) {
	if len(all) < 2 {
		return agent.Finding{}, false
	}
	slices.SortFunc(all, func(x, y execution) int { return compareActs(&x.act, &y.act) })
	var f agent.Finding
	var firstEarlier, firstLater *execution
	used := make([]bool, len(all))
	ran := 0
	for i := range all {
		later := &all[i]
		if later.attempt == nil {
			continue
		}
		n := nearestEarlier(all[:i], &later.act)
		if n < 0 {
			continue
		}
		if firstLater == nil {
			firstEarlier, firstLater = &all[n], later
		}
		for _, k := range [...]int{n, i} {
			if !used[k] {
				used[k] = true
				ran++
			}
		}
		f.Waste.Attempts++
		f.Waste.Duration += max(0, later.act.End-later.act.Start)
		f.Waste.Tokens += later.attempt.Tokens.Total()
		f.Waste.CostNano += later.attempt.CostNano
	}
	if firstLater == nil {
		return f, false
	}
	for i := range all {
		if used[i] && len(f.Evidence) < maxEvidence {
			a := &all[i].act
			f.Evidence = append(f.Evidence, agent.Evidence{Unit: a.Unit, Trace: a.Trace, Span: a.Span, Attempt: a.Attempt})
		}
	}
	f.Anchor = key
	f.Severity = agent.SeverityCritical
	if firstLater.step.Source == agent.KindSourceDefault {
		f.Severity = agent.SeverityWarning
	}
	f.Step, f.Tool, f.Agent = firstLater.step.ID, firstLater.act.Tool, firstLater.act.Agent
	f.DetectedAt = max(firstEarlier.act.End, firstLater.act.End)
	f.Message = duplicateMessage(key, ran, firstEarlier, firstLater)
	return f, true
}

// nearestEarlier finds the last of the executions before that is of the same
// tool and target; an absent target is no other target.
func nearestEarlier(before []execution, a *agent.Act) int {
	for i := len(before) - 1; i >= max(0, len(before)-maxUnderKey); i-- {
		b := &before[i].act
		if b.Tool == a.Tool && (b.Target == a.Target || b.Target == "" || a.Target == "") {
			return i
		}
	}
	return -1
}

func compareActs(x, y *agent.Act) int {
	return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.End, y.End), bytes.Compare(x.Trace[:], y.Trace[:]),
		bytes.Compare(x.Span[:], y.Span[:]), cmp.Compare(x.Part, y.Part))
}

func duplicateMessage(key string, ran int, earlier, later *execution) string {
	m := what(later.act.Tool, cmp.Or(later.act.Target, earlier.act.Target)) + " took effect " + times(ran) + " under key " + show(key) + ": "
	switch {
	case earlier.attempt == nil:
		m += "first in run " + show(earlier.act.Run) + ", then again in this run "
	case earlier.step == later.step:
		m += "attempt " + strconv.Itoa(int(earlier.act.Attempt)) + " succeeded, and attempt " + strconv.Itoa(int(later.act.Attempt)) + " again "
	default:
		m += "step " + show(earlier.act.StepID) + " succeeded, and step " + show(later.act.StepID) + " again "
	}
	return m + lapse(later.act.Start-earlier.act.Start) + " later; check why the key did not stop it, and undo what is too much"
}
