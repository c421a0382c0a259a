package agent

import "slices"

// look: a reconcile or human step, or a tool that an act's reconcile_with names.
func (l *life) look(ev lifeEvent, kind Kind) {
	if ev.at.Outcome == OutcomeDeferred {
		return
	}
	says := readVerdict(ev.at, kind)
	if !says.conclusive && !says.decided {
		return
	}
	for _, n := range l.linked(ev, kind) {
		u := &l.all[n]
		if says.decided {
			u.Decisions = append(u.Decisions, max(ev.at.End, ev.at.Start))
		}
		if !says.conclusive || !u.Open() {
			continue
		}
		by := SettledByReconcile
		if kind == KindHuman {
			by = SettledByPerson
		}
		l.settle(n, by, says.way, ev)
	}
}

// linked gives the unknown outcomes that a look is about: all open attempts of
// one act that began before it.
func (l *life) linked(ev lifeEvent, kind Kind) []int {
	if name := reconciles(ev.at); name != "" {
		if list := l.before(l.byID[name], ev, kind); len(list) > 0 {
			return list
		}
		return l.before(l.byKey[name], ev, kind)
	}
	if ev.at.Key != "" {
		list, known := l.underKey(ev, kind)
		if known {
			return list
		}
	}
	list := l.trim(l.byTarget[ev.at.Target])
	l.byTarget[ev.at.Target] = list
	for k := len(list) - 1; k >= max(0, len(list)-maxOpen); k-- {
		n := list[k]
		if l.all[n].Open() && l.mayLook(n, ev, kind) {
			return l.ofOneAct(n, ev, kind)
		}
	}
	return nil
}

// underKey gives the open attempts of the act with the look's key, and whether
// there is such an act: a look that names one is not about another.
func (l *life) underKey(ev lifeEvent, kind Kind) (list []int, known bool) {
	steps := l.keyed[ev.at.Key]
	list = l.before(l.byKey[ev.at.Key], ev, kind)
	for _, step := range steps {
		list = append(list, l.before(l.byStep[step], ev, kind)...)
	}
	return distinct(list), len(steps) > 0
}

// ofOneAct gives the open attempts of the act that an attempt is one of: those of
// its step, and calls of the tool on the target under its key.
func (l *life) ofOneAct(n int, ev lifeEvent, kind Kind) []int {
	list, act := l.before(l.byStep[l.all[n].Step], ev, kind), l.attempt(n)
	if act.Key != "" {
		for _, m := range l.before(l.byKey[act.Key], ev, kind) {
			if x := l.attempt(m); x.Tool == act.Tool && sameTarget(x.Target, act.Target) {
				list = append(list, m)
			}
		}
	}
	return distinct(list)
}

func distinct(list []int) []int {
	slices.Sort(list)
	return slices.Compact(list)
}

func reconciles(a *Attempt) string {
	for _, s := range a.Own() {
		if s.Reconciles != "" {
			return s.Reconciles
		}
	}
	return ""
}

// before keeps the open ones that began before the look did.
func (l *life) before(list []int, ev lifeEvent, kind Kind) (out []int) {
	for _, n := range list[max(0, len(list)-maxOpen):] {
		if l.all[n].Open() && l.attempt(n).Start <= ev.at.Start && (kind != KindRead || l.isReconciledBy(n, ev)) {
			out = append(out, n)
		}
	}
	return out
}

// mayLook reports whether a step may tell of an act with the same target, or
// with none as it has none itself.
func (l *life) mayLook(n int, ev lifeEvent, kind Kind) bool {
	named := kind != KindHuman && l.isReconciledBy(n, ev)
	if kind == KindRead && !named || l.attempt(n).Start > ev.at.Start {
		return false
	}
	if ev.at.Target != "" || !named {
		return true
	}
	return shareValues(l.attempt(n), ev.at)
}

func (l *life) isReconciledBy(n int, ev lifeEvent) bool {
	act := l.attempt(n)
	if l.rules.IsReconciledBy != nil {
		return l.rules.IsReconciledBy(act.Tool, ev.at.Tool)
	}
	return slices.ContainsFunc(act.Step().Call.ReconcileWith, func(name string) bool { return sameTool(name, ev.at.Tool) })
}

// shareValues reports whether the arguments that both calls name are equal.
func shareValues(x, y *Attempt) bool {
	xs, ys := x.Facts().Values, y.Facts().Values
	for _, v := range xs {
		for _, w := range ys {
			if v.Name == w.Name && v.Mark != w.Mark {
				return false
			}
		}
	}
	return true
}

// Own gives the attempt's spans; none for a call without a span, which stands
// under the model span that asked for it.
func (a *Attempt) Own() []*Step {
	if a.NoSpan {
		return nil
	}
	return a.Spans
}

// Facts are the facts of the attempt's span that has any.
func (a *Attempt) Facts() CallFacts {
	for _, s := range a.Own() {
		if s.Facts != "" {
			return ParseCallFacts(s.Facts)
		}
	}
	return CallFacts{}
}

// verdict is what a look or a person says.
type verdict struct {
	conclusive bool
	way        Settlement
	decided    bool // a person decided, other than to reject or to let expire
}

func readVerdict(a *Attempt, kind Kind) (v verdict) {
	stated := OutcomeUnset
	way, decision := SettlementUnset, DecisionUnset
	for _, s := range a.Own() {
		if stated == OutcomeUnset {
			stated = s.Outcome
		}
		if way == SettlementUnset {
			way = s.ReconcileResult
		}
		if decision == DecisionUnset {
			decision = s.Decision
		}
	}
	f := a.Facts()
	v.decided = kind == KindHuman && (f.Decided || decision != DecisionUnset)
	if decision == DecisionUnset {
		decision = f.Decision
	}
	if decision == DecisionRejected || decision == DecisionExpired {
		v.decided = false
	}
	for _, w := range [...]Settlement{wayOf(decision), f.Way} {
		if way == SettlementUnset {
			way = w
		}
	}
	ended := stated == OutcomeOK || stated == OutcomeUnset && a.Outcome == OutcomeOK
	v.conclusive = ended && (way != SettlementUnset || kind != KindHuman && stated == OutcomeOK)
	v.decided = v.decided && ended
	v.way = way
	return v
}

func wayOf(d Decision) Settlement {
	switch d {
	case DecisionApplied:
		return SettlementApplied
	case DecisionNotApplied:
		return SettlementNotApplied
	default:
		return SettlementUnset
	}
}
