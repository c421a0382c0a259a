package detect

import (
	"slices"
	"strconv"

	"github.com/steptrail/steptrail/internal/agent"
)

// maxBack is how many executions of a call back the nearest earlier one that
// counts is looked for.
const maxBack = 64

// effectDuplicate raises effect.duplicate: two executions of one act, both ok,
// where nothing says that both were wanted; likewise an execution after an
// unknown outcome of the act was settled as applied.
func effectDuplicate(x *scene) []agent.Finding {
	e := effects{x: x}
	e.classes = x.equalCalls()
	again := make([]uint8, len(e.classes.named)+1) // how often a class ran ok, up to 2
	doubled := false
	for _, m := range x.timeline() {
		if m.step.Kind != agent.KindAct || !m.at.Executed || m.at.Outcome != agent.OutcomeOK {
			continue
		}
		e.all = append(e.all, m)
		if again[m.class] < 2 {
			again[m.class]++
		}
		doubled = doubled || len(m.step.Attempts) > 1 || m.class != 0 && again[m.class] > 1
	}
	life := x.life()
	if !doubled && len(life) == 0 {
		return nil
	}
	e.byStep, e.byCall = map[*agent.RunStep][]moment{}, map[classID][]moment{}
	for _, m := range e.all {
		if !e.x.repeatable(m.at) {
			e.pair(m)
		}
		if len(m.step.Attempts) > 1 {
			e.byStep[m.step] = append(e.byStep[m.step], m)
		}
		if m.class != 0 && (again[m.class] > 1 || len(life) > 0) {
			e.byCall[m.class] = append(e.byCall[m.class], m)
		}
	}
	e.afterApplied(life)
	return e.found
}

// effects are the executions of a run that ended ok, in order.
type effects struct {
	x       *scene
	classes *classes
	all     []moment
	byStep  map[*agent.RunStep][]moment
	byCall  map[classID][]moment
	found   []agent.Finding
}

// pair looks for the nearest earlier execution that an execution doubles.
func (e *effects) pair(later moment) {
	best := e.nearest(e.byStep[later.step], later)
	if later.class != 0 {
		if b := e.nearest(e.byCall[later.class], later); b.at != nil && (best.at == nil || agent.CompareAttempts(best.at, b.at) < 0) {
			best = b
		}
	}
	if best.at != nil {
		e.raise(best, later, "")
	}
}

func (e *effects) nearest(before []moment, later moment) moment {
	for i := len(before) - 1; i >= max(0, len(before)-maxBack); i-- {
		b := before[i]
		switch {
		case e.x.repeatable(b.at), b.at.Tool != later.at.Tool:
		case b.step == later.step && !equalTarget(b.at.Target, later.at.Target):
		case wantedBoth(b, later), e.undoneBetween(b, later):
		default:
			return b
		}
	}
	return moment{}
}

func equalTarget(a, b string) bool { return a == b || a == "" || b == "" }

// wantedBoth: under one key it is key.duplicate; two steps with two keys are two
// intentions.
func wantedBoth(a, b moment) bool {
	if a.at.Key == "" || b.at.Key == "" {
		return false
	}
	return a.at.Key == b.at.Key || a.step != b.step
}

// undoneBetween reports whether a tool that takes back what the act did ended ok
// in between: on the same target, or without targets with an id of the act in
// its arguments.
func (e *effects) undoneBetween(a, b moment) bool {
	tool := e.x.tool(a.at.Tool)
	if tool == nil || len(tool.UndoneBy) == 0 {
		return false
	}
	from, _ := slices.BinarySearchFunc(e.all, a, func(m, t moment) int { return agent.CompareAttempts(m.at, t.at) })
	looked := 0
	for _, m := range e.all[from:] {
		if m.at.Start >= b.at.Start || looked >= maxUnderKey {
			break
		}
		looked++
		if !tool.IsUndoneBy(m.at.Tool) {
			continue
		}
		if a.at.Target != "" && m.at.Target == a.at.Target || (a.at.Target == "" || m.at.Target == "") && namesID(m.at, a.at) {
			return true
		}
	}
	return false
}

// namesID reports whether a call names an id of an act's arguments or result.
func namesID(undo, act *agent.Attempt) bool {
	given := undo.Facts().Values
	if len(given) == 0 {
		return false
	}
	f := act.Facts()
	ids := f.Made
	for _, v := range f.Values {
		if v.ID {
			ids = append(ids, v.Mark)
		}
	}
	for _, v := range given {
		if slices.Contains(ids, v.Mark) {
			return true
		}
	}
	return false
}

// raise adds the finding of a pair. The later one carries it.
func (e *effects) raise(earlier, later moment, settled string) {
	a, b := earlier.at, later.at
	f := agent.Finding{
		Anchor: stepAnchor(later.step, b), Severity: e.severity(earlier, later), Step: later.step.ID, Tool: b.Tool, Agent: later.step.Agent,
		DetectedAt: max(a.End, b.End, b.Start), Evidence: []agent.Evidence{evidence(a), evidence(b)},
		Waste: agent.Waste{Attempts: 1, Duration: max(0, b.End-b.Start), Tokens: b.Tokens.Total(), CostNano: b.CostNano},
	}
	f.Message = what(b.Tool, b.Target) + " took effect twice: "
	if earlier.step == later.step {
		f.Message += "attempt " + strconv.Itoa(int(a.Number)) + " " + settledOr(settled, "succeeded") + ", and attempt " + strconv.Itoa(int(b.Number)) + " succeeded "
	} else {
		f.Message += "step " + show(earlier.step.ID) + " " + settledOr(settled, "succeeded") + ", and step " + show(later.step.ID) + " did the same "
	}
	f.Message += lapse(b.Start-max(a.End, a.Start)) + " later, " + underKeys(a, b) + "; undo what is too much, and send one key for one intention"
	f.Severity = onToolInfo(f.Severity, later.step)
	e.found = append(e.found, f)
}

func settledOr(settled, otherwise string) string {
	if settled != "" {
		return settled
	}
	return otherwise
}

// severity is a warning where no target is stated, where another act ended ok on
// the target in between, or where a person spoke in between.
func (e *effects) severity(a, b moment) agent.Severity {
	if a.at.Target == "" || b.at.Target == "" || e.x.spokeBetween(a.at.Start, b.at.Start) {
		return agent.SeverityWarning
	}
	if a.step != b.step && a.at.Key != "" && b.at.Key != "" {
		return agent.SeverityWarning
	}
	if e.otherActBetween(a, b) {
		return agent.SeverityWarning
	}
	return agent.SeverityCritical
}

func (e *effects) otherActBetween(a, b moment) bool {
	from, _ := slices.BinarySearchFunc(e.all, a, func(m, t moment) int { return agent.CompareAttempts(m.at, t.at) })
	for n, m := range e.all[from:] {
		if m.at.Start >= b.at.Start || n >= maxUnderKey {
			break
		}
		if m.at.Tool != b.at.Tool && m.at.Target == b.at.Target && m.at.End <= b.at.Start {
			return true
		}
	}
	return false
}

// afterApplied: an execution that ended ok, of the same step or an equal call,
// after the unknown outcome of the act was settled as applied, under another key
// or none.
func (e *effects) afterApplied(life []agent.Unknown) {
	for i := range life {
		u := &life[i]
		if u.Open() || u.Way != agent.SettlementApplied {
			continue
		}
		st := &e.x.Run.Steps[u.Step]
		lost := moment{step: st, at: &st.Attempts[u.Attempt]}
		if e.x.repeatable(lost.at) {
			continue
		}
		lists := [][]moment{e.byStep[st]}
		if class := e.classes.of(lost.at); class != 0 {
			lists = append(lists, e.byCall[class])
		}
		for _, list := range lists {
			for _, m := range after(list, lost.at) {
				if m.at == u.Settler || m.at.Start < u.At || lost.at.Key != "" && m.at.Key == lost.at.Key || e.undoneBetween(lost, m) {
					continue
				}
				e.raise(lost, m, "had taken effect, as was found out afterwards")
				break
			}
		}
	}
}
