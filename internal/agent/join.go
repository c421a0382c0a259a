package agent

import (
	"cmp"
	"slices"
	"strings"
)

// pair is a join that is wanted: of two groups, the later named first.
type pair struct{ later, earlier int32 }

// join makes one run of units that belong together (conventions, "Joined
// units"): by a link, by a call id, by a checkpoint. Joins are taken in the
// order in which the later units began; one that would bring two explicit ids
// into a run is not taken.
func (a *arena) join() {
	if len(a.runs) < 2 {
		return
	}
	var want []pair
	want = a.joinByLink(want)
	want = a.joinByCall(want)
	want = a.joinByCheckpoint(want)
	if len(want) == 0 {
		return
	}
	slices.SortFunc(want, func(x, y pair) int {
		return cmp.Or(a.compareBegin(x.later, y.later), a.compareBegin(x.earlier, y.earlier))
	})
	set := newUnion(a.runs)
	for _, w := range slices.Compact(want) {
		if a.service(w.later) == a.service(w.earlier) {
			set.join(w.later, w.earlier)
		}
	}
	a.regroup(set)
}

// compareBegin orders groups by when they began, then by id.
func (a *arena) compareBegin(x, y int32) int {
	if x == y {
		return 0
	}
	return cmp.Or(cmp.Compare(a.steps[a.runs[x].first].Start, a.steps[a.runs[y].first].Start), strings.Compare(a.runs[x].id, a.runs[y].id))
}

func (a *arena) service(g int32) string { return a.steps[a.runs[g].first].Service }

func (a *arena) pairOf(x, y int32) pair {
	if a.compareBegin(x, y) > 0 {
		return pair{x, y}
	}
	return pair{y, x}
}

// joinByLink: a span of one unit links into the other. A span that links into
// several units joins none.
func (a *arena) joinByLink(want []pair) []pair {
	var ofTrace map[TraceID]int32
	for i, s := range a.steps {
		if len(s.Links) == 0 {
			continue
		}
		if ofTrace == nil {
			ofTrace = a.groupOfTrace()
		}
		own := a.nodes[i].run
		to := int32(noSpan)
		var unseen TraceID
		units := 0
		for _, l := range s.Links {
			g, ok := ofTrace[l.Trace]
			switch {
			case l.Trace.IsZero() || l.Trace == s.Trace || g == own && ok:
			case !ok && l.Trace != unseen:
				unseen = l.Trace
				units++
			case ok && g != to:
				to = g
				units++
			}
		}
		if units == 1 && to >= 0 {
			want = append(want, a.pairOf(own, to))
		}
	}
	return want
}

// groupOfTrace gives the group that each trace began in.
func (a *arena) groupOfTrace() map[TraceID]int32 {
	of := map[TraceID]int32{}
	for i, s := range a.steps {
		if _, ok := of[s.Trace]; !ok {
			of[s.Trace] = a.nodes[i].run
		}
	}
	return of
}

// joinByCheckpoint: both carry one langgraph_checkpoint_ns.
func (a *arena) joinByCheckpoint(want []pair) []pair {
	var first map[string]int32
	for i, s := range a.steps {
		if s.Checkpoint == "" {
			continue
		}
		if first == nil {
			first = map[string]int32{}
		}
		own := a.nodes[i].run
		if g, ok := first[s.Checkpoint]; !ok {
			first[s.Checkpoint] = own
		} else if g != own {
			want = append(want, a.pairOf(own, g))
		}
	}
	return want
}

// callUnits says which groups ask for a call id, execute it, answer it in any
// input, or begin with its answer. Each list is sorted by begin.
type callUnits struct {
	asks, executes, answers, begins []int32
}

// joinByCall: one unit asks for a call and does not run it, a later one does, or
// goes on with its answer.
func (a *arena) joinByCall(want []pair) []pair {
	if len(a.in.Facts) == 0 {
		return want
	}
	calls, ids := a.callIndex()
	for _, id := range ids {
		c := calls[id]
		for _, list := range [...]*[]int32{&c.asks, &c.executes, &c.answers, &c.begins} {
			slices.SortFunc(*list, a.compareUnits)
			*list = slices.Compact(*list)
		}
		want = a.joinsOfCall(c, want)
	}
	return want
}

// asking is what the units of one service have to do with a call id.
type asking struct {
	from     int32 // the unit that asks first
	next     int32 // the next one that asks; -1 for none
	executed bool  // a unit of the service executes the call
	begun    bool  // one that may go on with its answer was looked at
}

// joinsOfCall costs time linear in the units that have to do with the id: where
// ids are numbered by the model's server, all runs share them.
func (a *arena) joinsOfCall(c *callUnits, want []pair) []pair {
	if len(c.asks) == 0 || len(c.asks) == 1 && len(c.executes) == 1 && c.asks[0] == c.executes[0] {
		return want
	}
	services := map[string]*asking{}
	for _, g := range c.asks {
		switch s := services[a.service(g)]; {
		case s == nil:
			services[a.service(g)] = &asking{from: g, next: noSpan}
		case s.next < 0:
			s.next = g
		}
	}
	// Only the first that asks may be gone on with, and only by one that begins
	// before another asks: after that the id is no id.
	goesOn := func(s *asking, to int32) bool {
		return a.compareBegin(to, s.from) > 0 && (s.next < 0 || a.compareBegin(to, s.next) < 0) && !a.within(c.asks, to)
	}
	for _, to := range c.executes {
		s := services[a.service(to)]
		if s == nil {
			continue
		}
		s.executed = true
		if goesOn(s, to) && !a.within(c.executes, s.from) {
			want = append(want, a.pairOf(s.from, to))
		}
	}
	for _, to := range c.begins {
		s := services[a.service(to)]
		if s == nil || s.executed || s.begun || a.compareBegin(to, s.from) <= 0 {
			continue
		}
		s.begun = true
		if goesOn(s, to) && !a.within(c.answers, s.from) {
			want = append(want, a.pairOf(s.from, to))
		}
	}
	return want
}

// compareUnits is compareBegin as a total order.
func (a *arena) compareUnits(x, y int32) int {
	return cmp.Or(a.compareBegin(x, y), cmp.Compare(x, y))
}

// within reports whether a list that is sorted by compareUnits has a group.
func (a *arena) within(list []int32, g int32) bool {
	_, ok := slices.BinarySearchFunc(list, g, a.compareUnits)
	return ok
}

// callIndex collects the call ids of all groups. The ids are sorted.
func (a *arena) callIndex() (calls map[string]*callUnits, ids []string) {
	calls = map[string]*callUnits{}
	of := func(id string) *callUnits {
		c := calls[id]
		if c == nil {
			c = &callUnits{}
			calls[id] = c
			ids = append(ids, id)
		}
		return c
	}
	begun := make([]bool, len(a.runs)) // the first model input of the group was read
	for i, s := range a.steps {
		g := a.nodes[i].run
		switch {
		case s.Op == OpModel:
			for _, r := range a.outputs(s) {
				if f := a.facts(r); f != nil {
					for _, call := range f.Calls {
						if call.ID != "" && !isHandoffName(call.Tool) {
							c := of(call.ID)
							c.asks = append(c.asks, g)
						}
					}
				}
			}
			input := a.inputs(s)
			for _, r := range input {
				if f := a.facts(r); f != nil {
					for _, answer := range f.Answers {
						if answer.ID != "" {
							c := of(answer.ID)
							c.answers = append(c.answers, g)
						}
					}
				}
			}
			if !begun[g] && len(input) > 0 {
				begun[g] = true
				for _, answer := range a.closingAnswers(input) {
					if answer.ID != "" {
						c := of(answer.ID)
						c.begins = append(c.begins, g)
					}
				}
			}
		case s.Call.ID != "" && executes(s):
			c := of(s.Call.ID)
			c.executes = append(c.executes, g)
		}
	}
	slices.Sort(ids)
	return calls, ids
}

// executes reports whether a tool span ran its call, rather than deferring it or
// being turned away.
func executes(s *Step) bool {
	if s.Op != OpTool && s.Op != OpRetrieval {
		return false
	}
	if s.Outcome == OutcomeRefused || s.Outcome == OutcomeDeferred {
		return false
	}
	return s.Outcome != OutcomeUnset || (s.Sign != SignDeferred && s.Sign != SignRefused && !gateStops(s))
}

// gateStops reports whether the gate answered the call, so that nothing ran.
func gateStops(s *Step) bool {
	switch s.Call.Gate {
	case GateDuplicate, GateInFlight:
		return true
	case GateUnknown: // replayed under its key, if the span says how it ended
		return s.Outcome != OutcomeOK && s.Outcome != OutcomeError && s.Outcome != OutcomeUnknown
	case GateUnset, GateNew:
		return false
	}
	return false
}

// union is a disjoint-set forest over groups, in which a set has at most one
// explicit id that stands against others.
type union struct {
	parent []int32
	strong []bool
}

func newUnion(runs []runGroup) *union {
	u := &union{parent: make([]int32, len(runs)), strong: make([]bool, len(runs))}
	for i := range runs {
		u.parent[i] = int32(i)
		u.strong[i] = runs[i].explicit && !runs[i].weak
	}
	return u
}

func (u *union) root(x int32) int32 {
	for u.parent[x] != x {
		u.parent[x] = u.parent[u.parent[x]]
		x = u.parent[x]
	}
	return x
}

func (u *union) join(x, y int32) {
	x, y = u.root(x), u.root(y)
	if x == y || (u.strong[x] && u.strong[y]) {
		return
	}
	x, y = min(x, y), max(x, y)
	u.parent[y] = x
	u.strong[x] = u.strong[x] || u.strong[y]
}

// regroup makes one group of each set. Its id is its explicit id, else that of
// the unit that began first.
func (a *arena) regroup(set *union) {
	best := make([]int32, len(a.runs)) // per set: the group that names it
	for i := range best {
		best[i] = noSpan
	}
	for g := range a.runs {
		root := set.root(int32(g))
		b := best[root]
		if b < 0 || a.namesBefore(int32(g), b) {
			best[root] = int32(g)
		}
	}
	var runs []runGroup
	at := make([]int32, len(a.runs))
	for g := range a.runs {
		if set.root(int32(g)) == int32(g) {
			at[g] = int32(len(runs))
			named := a.runs[best[g]]
			named.nodes = nil
			runs = append(runs, named)
		}
	}
	for i := range a.nodes {
		a.nodes[i].run = at[set.root(a.nodes[i].run)]
	}
	a.runs = runs
	a.collect()
}

func (a *arena) namesBefore(x, y int32) bool {
	rank := func(g int32) int {
		switch r := a.runs[g]; {
		case r.explicit && !r.weak:
			return 0
		case r.explicit:
			return 1
		}
		return 2
	}
	if rx, ry := rank(x), rank(y); rx != ry {
		return rx < ry
	}
	return a.compareBegin(x, y) < 0
}
