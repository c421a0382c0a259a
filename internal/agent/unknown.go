package agent

import (
	"cmp"
	"slices"
)

// SettledBy is what settled an unknown outcome.
type SettledBy uint8

// Values of SettledBy.
const (
	SettledByNothing    SettledBy = iota // it is open
	SettledByReconcile                   // a conclusive look
	SettledByReplay                      // the act ran again under its key and ended clearly
	SettledByPerson                      // a person's step said which way
	SettledByGate                        // a gate answered duplicate and stated the outcome
	SettledByResolution                  // a person said so afterwards, outside the run
)

// Unknown is an attempt of an act that ended without proof either way, and what
// became of it.
type Unknown struct {
	Step    int // index into Run.Steps
	Attempt int // index into its Attempts

	By      SettledBy
	Way     Settlement // unset: it was settled without saying which way
	At      int64      // Unix nanoseconds, when it was known; 0 while it is open
	Settler *Attempt   // nil where nothing in the run settled it

	// Decisions are when a person decided about the act, other than to reject it
	// or to let it expire, in order. A decision need not say what happened.
	Decisions []int64
}

// Open reports whether nothing has settled it.
func (u *Unknown) Open() bool { return u.By == SettledByNothing }

// SettledBefore reports whether it was settled by then.
func (u *Unknown) SettledBefore(t int64) bool { return !u.Open() && u.At <= t }

// DecidedBetween reports whether a person decided about the act in between.
func (u *Unknown) DecidedBetween(from, to int64) bool {
	return slices.ContainsFunc(u.Decisions, func(t int64) bool { return t >= from && t <= to })
}

// Resolution is what a person said afterwards of an unknown outcome. It names any
// span of the attempt.
type Resolution struct {
	Unit  string
	Trace TraceID
	Span  SpanID
	Part  uint16
	Way   Settlement
	At    int64 // Unix nanoseconds
}

// UnknownRules is what Unknowns must be told besides the run.
type UnknownRules struct {
	// IsReconciledBy tells whether the policy names the tool look among those
	// that tell whether act took effect; nil: the names on the act's span count.
	IsReconciledBy func(act, look string) bool
	Resolutions    []Resolution
}

// Unknowns gives the unknown outcomes of the run's acts, settled ones too, by the
// start of their attempts (conventions, "Settling an unknown outcome"). It is
// pure, and costs nothing where there are none.
func Unknowns(r *Run, rules UnknownRules) []Unknown {
	n := 0
	for i := range r.Steps {
		if r.Steps[i].Kind != KindAct {
			continue
		}
		for j := range r.Steps[i].Attempts {
			if isUnknown(&r.Steps[i].Attempts[j]) {
				n++
			}
		}
	}
	if n == 0 {
		return nil
	}
	l := life{
		r: r, rules: rules, all: make([]Unknown, 0, n),
		byKey: map[string][]int{}, byStep: map[int][]int{}, byID: map[string][]int{}, byTarget: map[string][]int{}, keyed: map[string][]int{},
	}
	for _, ev := range l.events() {
		l.see(ev)
	}
	l.resolve()
	return l.all
}

func isUnknown(a *Attempt) bool { return a.Outcome == OutcomeUnknown && a.Executed }

// life follows the unknown outcomes of a run through time.
type life struct {
	r     *Run
	rules UnknownRules
	all   []Unknown

	// Indices into all, in order of start. Settled ones are dropped from the end
	// of a list when it is looked at.
	byKey    map[string][]int
	byStep   map[int][]int
	byID     map[string][]int // agent.step.id
	byTarget map[string][]int // and under "" those without

	keyed map[string][]int // by key, the first steps of all acts seen
}

type lifeEvent struct {
	step, attempt int
	at            *Attempt
}

// events are the attempts that open or settle unknown outcomes, by start.
func (l *life) events() []lifeEvent {
	var evs []lifeEvent
	for i := range l.r.Steps {
		switch l.r.Steps[i].Kind {
		case KindAct, KindHuman, KindReconcile, KindRead:
		default:
			continue
		}
		for j := range l.r.Steps[i].Attempts {
			evs = append(evs, lifeEvent{i, j, &l.r.Steps[i].Attempts[j]})
		}
	}
	slices.SortStableFunc(evs, func(x, y lifeEvent) int { return CompareAttempts(x.at, y.at) })
	return evs
}

// CompareAttempts orders attempts by start, end and the ids of the spans that
// name them.
func CompareAttempts(x, y *Attempt) int {
	switch {
	case x.Start != y.Start:
		return cmp.Compare(x.Start, y.Start)
	case x.End != y.End:
		return cmp.Compare(x.End, y.End)
	}
	return cmp.Or(x.Trace.Compare(y.Trace), x.Span.Compare(y.Span), cmp.Compare(x.Part, y.Part))
}

func (l *life) see(ev lifeEvent) {
	kind := l.r.Steps[ev.step].Kind
	if kind != KindAct {
		if len(l.all) > 0 {
			l.look(ev, kind)
		}
		return
	}
	if steps := l.keyed[ev.at.Key]; ev.at.Key != "" && len(steps) < maxKeyed && !slices.Contains(steps, ev.step) {
		l.keyed[ev.at.Key] = append(steps, ev.step)
	}
	l.replay(ev)
	if isUnknown(ev.at) {
		l.open(ev)
	}
}

func (l *life) open(ev lifeEvent) {
	n := len(l.all)
	l.all = append(l.all, Unknown{Step: ev.step, Attempt: ev.attempt})
	if ev.at.Key != "" {
		l.byKey[ev.at.Key] = append(l.byKey[ev.at.Key], n)
	}
	l.byStep[ev.step] = append(l.byStep[ev.step], n)
	if id := statedStepID(ev.at); id != "" {
		l.byID[id] = append(l.byID[id], n)
	}
	l.byTarget[ev.at.Target] = append(l.byTarget[ev.at.Target], n)
}

func statedStepID(a *Attempt) string {
	for _, s := range a.Own() {
		if s.StepID != "" {
			return s.StepID
		}
	}
	return ""
}

func (l *life) attempt(n int) *Attempt {
	u := &l.all[n]
	return &l.r.Steps[u.Step].Attempts[u.Attempt]
}

// maxKeyed is how many steps under one key are looked at for attempts that state
// no key.
const maxKeyed = 8

// maxOpen is how many open outcomes back one step may settle or decide about.
const maxOpen = 1000

// replay: the act runs again under its key and ends clearly, or the gate says how
// it ended.
func (l *life) replay(ev lifeEvent) {
	a := ev.at
	by, way := SettledByNothing, SettlementApplied
	if a.Outcome == OutcomeError {
		way = SettlementNotApplied
	}
	switch known := a.Outcome == OutcomeOK || a.Outcome == OutcomeError; {
	case !known || len(l.all) == 0:
	case a.Gate == GateDuplicate && !a.Executed:
		by = SettledByGate
	case a.Executed && a.Key != "" && (a.Outcome == OutcomeOK || judged(a)):
		by = SettledByReplay
	}
	if by == SettledByNothing {
		return
	}
	list := l.byKey[a.Key]
	if a.Key == "" {
		list = l.byStep[ev.step]
	}
	for k := len(list) - 1; k >= max(0, len(list)-maxOpen); k-- {
		n := list[k]
		x := l.attempt(n)
		if l.all[n].Open() && (by == SettledByGate || a.Tool == x.Tool && sameTarget(a.Target, x.Target)) {
			l.settle(n, by, way, ev)
		}
	}
	if a.Key != "" {
		l.byKey[a.Key] = l.trim(list)
	}
}

// sameTarget: an absent target is no other target.
func sameTarget(x, y string) bool { return x == y || x == "" || y == "" }

// judged reports whether the service judged the act itself, rather than who
// asked or how often.
func judged(a *Attempt) bool {
	e := a.Evidence()
	return !Unreached(e) && !Unauthorised(e)
}

func (l *life) settle(n int, by SettledBy, way Settlement, ev lifeEvent) {
	u := &l.all[n]
	u.By, u.Way, u.At, u.Settler = by, way, max(ev.at.End, ev.at.Start), ev.at
}

// trim drops settled ones from the end of a list.
func (l *life) trim(list []int) []int {
	for len(list) > 0 && !l.all[list[len(list)-1]].Open() {
		list = list[:len(list)-1]
	}
	return list
}

// resolve takes what people said afterwards; the first word on an attempt
// counts.
func (l *life) resolve() {
	if len(l.rules.Resolutions) == 0 {
		return
	}
	said := slices.Clone(l.rules.Resolutions)
	slices.SortStableFunc(said, func(x, y Resolution) int { return cmp.Compare(x.At, y.At) })
	at := map[spanKey][]int{}
	for n := range l.all {
		for _, s := range l.attempt(n).Spans {
			k := spanKey{s.Trace, s.Span}
			at[k] = append(at[k], n)
		}
	}
	for _, res := range said {
		for _, n := range at[spanKey{res.Trace, res.Span}] {
			if u := &l.all[n]; u.Open() && l.attempt(n).Part == res.Part {
				u.By, u.Way, u.At = SettledByResolution, res.Way, res.At
			}
		}
	}
}
