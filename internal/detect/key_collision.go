package detect

import (
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
)

// keyCollision raises key.collision: one key on acts of different steps with
// different tools or targets, against the nearest earlier act under the key,
// executed or not, in this run or another. The later one carries it; one finding
// per key.
func keyCollision(x *scene) []agent.Finding {
	var found []agent.Finding
	keys := x.underKeys()
	for i := range keys {
		if f, ok := x.collisionUnder(&keys[i]); ok {
			found = append(found, f)
		}
	}
	return found
}

// use is an act under a key, with its place in the run if it is of this run.
type use struct {
	act agent.Act
	m   moment
}

func (x *scene) collisionUnder(k *keyed) (agent.Finding, bool) {
	own := k.own()
	if len(k.others) == 0 && !slices.ContainsFunc(own[1:], func(m moment) bool {
		return m.at.Tool != own[0].at.Tool || m.at.Target != own[0].at.Target
	}) {
		return agent.Finding{}, false
	}
	all := make([]use, 0, len(own)+len(k.others))
	for _, m := range own {
		all = append(all, use{agent.ActOf(x.Run, m.step, m.at), m})
	}
	for _, a := range k.others {
		moved := func(u use) bool {
			return u.m.at != nil && u.act.Trace == a.Trace && u.act.Span == a.Span && u.act.Part == a.Part
		}
		if !slices.ContainsFunc(all[:min(len(own), maxUnderKey)], moved) {
			all = append(all, use{act: a})
		}
	}
	slices.SortStableFunc(all, func(a, b use) int { return compareActs(&a.act, &b.act) })
	for i := range all {
		later := &all[i]
		if later.m.at == nil {
			continue
		}
		before := earlierStep(all[:i], &later.act)
		if before == nil || sameThing(&before.act, &later.act) {
			continue
		}
		return x.collision(k.key, before, later), true
	}
	return agent.Finding{}, false
}

// earlierStep is the nearest earlier act of another step.
func earlierStep(before []use, a *agent.Act) *use {
	for i := len(before) - 1; i >= max(0, len(before)-maxUnderKey); i-- {
		if b := &before[i]; b.act.Run != a.Run || b.act.StepID != a.StepID {
			return b
		}
	}
	return nil
}

func sameThing(a, b *agent.Act) bool {
	return a.Tool == b.Tool && (a.Target == b.Target || a.Target == "" || b.Target == "")
}

func (x *scene) collision(key string, before, later *use) agent.Finding {
	where := "step " + show(before.act.StepID)
	if before.m.at == nil {
		where += " of run " + show(before.act.Run)
	}
	return agent.Finding{
		Anchor: key, Severity: agent.SeverityWarning, Step: later.act.StepID, Tool: later.act.Tool, Agent: later.act.Agent,
		DetectedAt: max(before.act.End, later.act.End, later.act.Start),
		Evidence: []agent.Evidence{
			{Unit: before.act.Unit, Trace: before.act.Trace, Span: before.act.Span, Attempt: before.act.Attempt}, evidence(later.m.at),
		},
		Message: "key " + show(key) + " of " + what(later.act.Tool, later.act.Target) + " was used " + lapse(later.act.Start-before.act.Start) + " before by " +
			what(before.act.Tool, before.act.Target) + " (" + where + "); the service may drop one of the two: make the key of what is to be done",
	}
}
