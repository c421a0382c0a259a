package agent

import "slices"

// runGroup is a run while it is being found: first the spans that resolve to
// one id, then several of these joined.
type runGroup struct {
	id       string
	explicit bool  // an id that a span states
	weak     bool  // explicit, but does not stand against a join
	first    int32 // first node
	nodes    []int32
}

const (
	noSpan  = -1
	several = -2
)

// runIDs decides the run of each span (conventions, "The run of a span").
func (a *arena) runIDs() {
	open := a.inheritIDs()
	if open > 0 && open < len(a.nodes) {
		a.idsFromStepsUnderAgent()
		a.idsFromAgentBelow()
	}
	a.groupByID()
}

// inheritIDs passes stated ids down and counts the spans that have none.
func (a *arena) inheritIDs() (open int) {
	for _, at := range a.order {
		nd, s := &a.nodes[at], a.steps[at]
		if nd.parent >= 0 {
			nd.user, nd.dialect = a.nodes[nd.parent].user, a.nodes[nd.parent].dialect
		}
		if s.RunID != "" {
			nd.user = at
		}
		if s.DialectRun != "" {
			nd.dialect = at
		}
		if nd.user < 0 && nd.dialect < 0 {
			open++
		}
	}
	return open
}

// stated gives the explicit id that holds for a node so far.
func (a *arena) stated(at int32) (id string, weak, ok bool) {
	nd := &a.nodes[at]
	switch {
	case nd.user >= 0:
		return a.steps[nd.user].RunID, false, true
	case nd.dialect >= 0:
		return a.steps[nd.dialect].DialectRun, a.steps[nd.dialect].DialectRunWeak, true
	}
	return "", false, false
}

// idsFromStepsUnderAgent: a span takes the one id that the steps directly under
// the same agent span carry.
func (a *arena) idsFromStepsUnderAgent() {
	under := make([]int32, len(a.nodes)) // per agent: a step that carries the id
	for i := range under {
		under[i] = noSpan
	}
	for i := range a.nodes {
		nd := &a.nodes[i]
		id, _, ok := a.stated(int32(i))
		if !ok || !nd.step || nd.agent < 0 {
			continue
		}
		u := &under[nd.agent]
		if *u == noSpan {
			*u = int32(i)
		} else if *u >= 0 {
			if other, _, _ := a.stated(*u); other != id {
				*u = several
			}
		}
	}
	for _, at := range a.order {
		nd := &a.nodes[at]
		if _, _, ok := a.stated(at); ok {
			continue
		}
		from := int32(noSpan)
		if nd.isAgent {
			from = under[at]
		}
		if from < 0 && nd.agent >= 0 {
			from = under[nd.agent]
		}
		if from >= 0 {
			nd.user, nd.dialect = a.nodes[from].user, a.nodes[from].dialect
		} else if nd.parent >= 0 {
			nd.user, nd.dialect = a.nodes[nd.parent].user, a.nodes[nd.parent].dialect
		}
	}
}

// idsFromAgentBelow: a span above agents takes the id of the first agent below
// it that no tool call stands before.
func (a *arena) idsFromAgentBelow() {
	below := make([]int32, len(a.nodes))
	for i := range below {
		below[i] = noSpan
	}
	for i := len(a.order) - 1; i >= 0; i-- {
		at := a.order[i]
		for c := a.nodes[at].child; c >= 0; c = a.nodes[c].sibling {
			found := below[c]
			switch {
			case a.nodes[c].isAgent:
				found = c
			case a.steps[c].Op == OpTool:
				found = noSpan
			}
			if found >= 0 && (below[at] < 0 || found < below[at]) {
				below[at] = found
			}
		}
	}
	for _, at := range a.order {
		nd := &a.nodes[at]
		if _, _, ok := a.stated(at); ok || nd.isAgent || nd.agent >= 0 || below[at] < 0 {
			continue
		}
		nd.user, nd.dialect = a.nodes[below[at]].user, a.nodes[below[at]].dialect
	}
}

// groupByID collects the spans of each id. What has none goes with the only
// explicit run of its trace, else with its trace.
func (a *arena) groupByID() {
	groups := groupIndex{a: a}
	for i := range a.nodes {
		if id, weak, ok := a.stated(int32(i)); ok {
			groups.add(int32(i), id, true, weak)
		}
	}
	only := a.onlyRunOfTrace()
	for i, s := range a.steps {
		if a.nodes[i].run >= 0 {
			continue
		}
		if g, ok := only[s.Trace]; ok && g >= 0 {
			a.nodes[i].run = g
			continue
		}
		groups.add(int32(i), traceRun(s), false, false)
	}
	a.collect()
}

// collect gives each group its nodes, in order.
func (a *arena) collect() {
	all := sized(&a.use.all, len(a.nodes))
	if len(a.runs) == 1 {
		for i := range all {
			all[i] = int32(i)
		}
		a.runs[0].nodes = all
	} else {
		ends := make([]int32, len(a.runs)+1)
		for i := range a.nodes {
			ends[a.nodes[i].run+1]++
		}
		for g := range a.runs {
			ends[g+1] += ends[g]
			a.runs[g].nodes = all[ends[g]:ends[g]:ends[g+1]]
		}
		for i := range a.nodes {
			g := &a.runs[a.nodes[i].run]
			g.nodes = append(g.nodes, int32(i))
		}
	}
	for g := range a.runs {
		if len(a.runs[g].nodes) > 0 {
			a.runs[g].first = a.runs[g].nodes[0]
		}
	}
}

// traceRun is the run id of a span that has no better one. Its unit is the
// trace id, if it states no id of its own.
func traceRun(s *Step) string {
	if s.Unit != "" && s.Explicit() == "" {
		return s.Unit
	}
	return s.Trace.String()
}

// onlyRunOfTrace gives the explicit run of each trace that has one only.
func (a *arena) onlyRunOfTrace() map[TraceID]int32 {
	if len(a.runs) == 0 {
		return nil
	}
	open := false
	for i := range a.nodes {
		if a.nodes[i].run < 0 {
			open = true
			break
		}
	}
	if !open {
		return nil
	}
	only := map[TraceID]int32{}
	for i, s := range a.steps {
		g := a.nodes[i].run
		if g < 0 {
			continue
		}
		if was, ok := only[s.Trace]; !ok {
			only[s.Trace] = g
		} else if was != g {
			only[s.Trace] = several
		}
	}
	return only
}

// groupIndex finds the group of an id; by comparing while there are few.
type groupIndex struct {
	a  *arena
	at map[string]int32
}

func (x *groupIndex) add(node int32, id string, explicit, weak bool) {
	g := x.find(id)
	if g < 0 {
		g = int32(len(x.a.runs))
		x.a.runs = append(x.a.runs, runGroup{id: id, explicit: explicit, weak: weak, first: node})
		if x.at != nil {
			x.at[id] = g
		} else if len(x.a.runs) > few {
			x.at = make(map[string]int32, 2*len(x.a.runs))
			for i := range x.a.runs {
				x.at[x.a.runs[i].id] = int32(i)
			}
		}
	}
	r := &x.a.runs[g]
	r.weak = r.weak && weak
	x.a.nodes[node].run = g
}

func (x *groupIndex) find(id string) int32 {
	if x.at != nil {
		if g, ok := x.at[id]; ok {
			return g
		}
		return noSpan
	}
	return int32(slices.IndexFunc(x.a.runs, func(g runGroup) bool { return g.id == id }))
}
