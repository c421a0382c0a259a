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
	var keys []string
	own := map[string][]moment{}
	for _, m := range x.timeline() {
		if m.step.Kind != agent.KindAct || m.at.Key == "" {
			continue
		}
		if own[m.at.Key] == nil {
			keys = append(keys, m.at.Key)
		}
		own[m.at.Key] = append(own[m.at.Key], m)
	}
	var found []agent.Finding
	for _, key := range keys {
		if f, ok := x.collisionUnder(key, own[key]); ok {
			found = append(found, f)
		}
	}
	return found
}

// keyed is an act under a key, with its step if it is of this run.
type keyed struct {
	act agent.Act
	m   moment
}

func (x *scene) collisionUnder(key string, own []moment) (agent.Finding, bool) {
	var others []agent.Act
	if x.Under != nil {
		others = x.Under(key)
	}
	if len(own) < 2 && len(others) == 0 {
		return agent.Finding{}, false
	}
	all := make([]keyed, 0, len(own)+len(others))
	for _, m := range own {
		all = append(all, keyed{agent.ActOf(x.Run, m.step, m.at), m})
	}
	for _, a := range others {
		moved := func(k keyed) bool {
			return k.m.at != nil && k.act.Trace == a.Trace && k.act.Span == a.Span && k.act.Part == a.Part
		}
		if a.Run != x.Run.ID && a.Kind == agent.KindAct && !slices.ContainsFunc(all[:min(len(own), maxUnderKey)], moved) {
			all = append(all, keyed{act: a})
		}
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return compareActs(&a.act, &b.act) })
	for i := range all {
		later := &all[i]
		if later.m.at == nil {
			continue
		}
		before := earlierStep(all[:i], &later.act)
		if before == nil || sameThing(&before.act, &later.act) {
			continue
		}
		return x.collision(key, before, later), true
	}
	return agent.Finding{}, false
}

// earlierStep is the nearest earlier act of another step.
func earlierStep(before []keyed, a *agent.Act) *keyed {
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

func (x *scene) collision(key string, before, later *keyed) agent.Finding {
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
