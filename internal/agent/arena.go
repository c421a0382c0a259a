package agent

import (
	"slices"
	"strings"
)

// arena holds the distinct spans of one Input as one array of nodes, over which
// the passes of the derivation run, each in a file of its own:
//
//	merge → link → agents → runIDs → join        (all units of the input)
//	lanes → kinds → fold → gates → http, counted → words → tie → outcomes → steps → number   (one run)
//
// Nodes stand in the order of Step.Less, so an index comparison is a comparison
// of (start, end, trace, span). No pass depends on the order of the input or on
// the iteration order of a map.
type arena struct {
	in    Input
	steps []*Step // distinct, in order
	nodes []node
	order []int32 // every node after its parent
	runs  []runGroup
	logs  map[spanKey]*logMessages // content that came as log records
	use   *scratch
}

// node is what the passes over all units know of a span. Indices are -1 for
// none.
type node struct {
	parent  int32
	child   int32 // first child
	sibling int32 // next child of the same parent
	last    int32 // last child, while linking
	agent   int32 // innermost agent span above it, not itself
	user    int32 // the span, itself or above, whose agent.run.id holds for it
	dialect int32 // the span, itself or above, whose dialect's run id holds for it
	run     int32 // index into arena.runs
	top     int32 // furthest ancestor seen, itself if none
	tool    int32 // innermost tool span above it, no model or agent between
	call    int32 // innermost model call above it, no tool or agent between
	depth   int32 // how many agents stand above it
	lane    int32 // lane of the invocation, for an agent
	cand    int32 // the attempt that it names, while its run is derived
	orphan  bool  // its stated parent is not here
	isAgent bool  // an invocation of an agent
	model   bool  // a model call below it, with no agent between
	below   bool  // an agent below it
	inHTTP  bool  // below another HTTP span, no step between
	step    bool  // a step of a run
}

type spanKey struct {
	trace TraceID
	span  SpanID
}

// few is up to how many spans a linear look-up beats a map.
const few = 24

// newArena runs the passes over all units of the input.
func newArena(in Input) *arena {
	a := &arena{in: in, logs: indexLogs(in.Logs), use: getScratch()}
	find := a.merge()
	a.link(find)
	a.agents()
	a.runIDs()
	a.join()
	return a
}

// release gives the scratch memory back; the arena is of no use after it.
func (a *arena) release() {
	a.nodes, a.order, a.runs = nil, nil, nil
	putScratch(a.use)
	a.use = nil
}

// merge keeps every span once, in order, and gives a look-up by its ids.
func (a *arena) merge() func(spanKey) int32 {
	in := a.in.Steps
	a.steps = make([]*Step, 0, len(in))
	var at map[spanKey]int32
	if len(in) > few {
		at = make(map[spanKey]int32, len(in))
	}
	find := func(k spanKey) int32 {
		if at != nil {
			if i, ok := at[k]; ok {
				return i
			}
			return -1
		}
		for i, s := range a.steps {
			if s.Span == k.span && s.Trace == k.trace {
				return int32(i)
			}
		}
		return -1
	}
	for _, s := range in {
		if s == nil {
			continue
		}
		k := spanKey{s.Trace, s.Span}
		if i := find(k); i >= 0 {
			a.steps[i] = mergeSteps(a.steps[i], s)
			continue
		}
		if at != nil {
			at[k] = int32(len(a.steps))
		}
		a.steps = append(a.steps, s)
	}
	if !slices.IsSortedFunc(a.steps, compareSteps) {
		slices.SortFunc(a.steps, compareSteps)
		if at != nil {
			for i, s := range a.steps {
				at[spanKey{s.Trace, s.Span}] = int32(i)
			}
		}
	}
	return find
}

func compareSteps(x, y *Step) int {
	switch {
	case x == y:
		return 0
	case x.Less(y):
		return -1
	case y.Less(x):
		return 1
	}
	return 0
}

// link finds the parents, cuts cycles at their first span, and orders the nodes
// so that each comes after its parent.
func (a *arena) link(find func(spanKey) int32) {
	n := len(a.steps)
	a.nodes = sized(&a.use.nodes, n)
	for i, s := range a.steps {
		nd := &a.nodes[i]
		*nd = node{parent: -1, child: -1, sibling: -1, last: -1, agent: -1, user: -1, dialect: -1, run: -1, top: int32(i), tool: -1, call: -1, cand: -1}
		if s.Parent.IsZero() {
			continue
		}
		nd.parent = find(spanKey{s.Trace, s.Parent})
		nd.orphan = nd.parent < 0
		if nd.parent == int32(i) {
			nd.parent = -1
		}
	}
	a.cutCycles()
	for i := range a.nodes {
		p := a.nodes[i].parent
		if p < 0 {
			continue
		}
		if l := a.nodes[p].last; l >= 0 {
			a.nodes[l].sibling = int32(i)
		} else {
			a.nodes[p].child = int32(i)
		}
		a.nodes[p].last = int32(i)
	}
	a.order = sized(&a.use.order, n)[:0]
	for i := range a.nodes {
		if a.nodes[i].parent < 0 {
			a.order = append(a.order, int32(i))
		}
	}
	for at := 0; at < len(a.order); at++ {
		for c := a.nodes[a.order[at]].child; c >= 0; c = a.nodes[c].sibling {
			a.order = append(a.order, c)
		}
	}
}

// cutCycles makes the first span of each cycle of parents a span without one.
// Every node is walked once: the mark of a walk tells a cycle from a path that
// an earlier walk has cleared.
func (a *arena) cutCycles() {
	ahead := true // every parent stands before its child: no cycle
	for i := range a.nodes {
		if a.nodes[i].parent >= int32(i) {
			ahead = false
			break
		}
	}
	if ahead {
		return
	}
	walk := make([]int32, len(a.nodes)) // 0: not walked
	for i := range a.nodes {
		mark := int32(i) + 1
		at := int32(i)
		for at >= 0 && walk[at] == 0 {
			walk[at] = mark
			at = a.nodes[at].parent
		}
		if at < 0 || walk[at] != mark {
			continue
		}
		first := at
		for c := a.nodes[at].parent; c != at; c = a.nodes[c].parent {
			first = min(first, c)
		}
		a.nodes[first].parent = -1
	}
}

// agents marks the invocations of agents and, for each node, the innermost one
// above it and what lies below.
func (a *arena) agents() {
	for i := len(a.order) - 1; i >= 0; i-- {
		at := a.order[i]
		nd, s := &a.nodes[at], a.steps[at]
		for c := nd.child; c >= 0; c = a.nodes[c].sibling {
			ch := &a.nodes[c]
			agent := a.steps[c].Op == OpAgent
			nd.below = nd.below || agent || ch.below
			nd.model = nd.model || isModel(a.steps[c]) || (!agent && ch.model)
		}
		// A workflow's root is an agent only with a name of its own and no
		// agents below it.
		nd.isAgent = s.Op == OpAgent || (s.Op == OpWorkflow && nd.parent < 0 && s.Agent != "" && !nd.below)
		nd.step = isStep(s)
	}
	for _, at := range a.order {
		nd := &a.nodes[at]
		if nd.parent < 0 {
			continue
		}
		p, ps := &a.nodes[nd.parent], a.steps[nd.parent]
		nd.top = p.top
		nd.agent, nd.tool, nd.call, nd.depth = p.agent, p.tool, p.call, p.depth
		nd.inHTTP = p.inHTTP || ps.Op == OpHTTP
		switch {
		case p.isAgent:
			nd.agent, nd.tool, nd.call, nd.inHTTP = nd.parent, noSpan, noSpan, false
			nd.depth++
		case ps.Op == OpTool:
			nd.tool, nd.call, nd.inHTTP = nd.parent, noSpan, false
		case isModel(ps):
			nd.tool, nd.call, nd.inHTTP = noSpan, nd.parent, false
		}
		nd.isAgent = nd.isAgent && !a.isSameAgent(at)
	}
}

// isSameAgent reports whether an agent's span lies in another of its name with
// neither tool nor model between: two instrumentations, or two levels of one, show
// one invocation.
func (a *arena) isSameAgent(at int32) bool {
	nd, s := &a.nodes[at], a.steps[at]
	return nd.agent >= 0 && nd.tool < 0 && nd.call < 0 && s.Agent != "" && s.Agent == a.steps[nd.agent].Agent
}

func isModel(s *Step) bool { return s.Op == OpModel }

// isStep reports whether the span is something the agent did, rather than
// structure, transport or an agent's frame.
func isStep(s *Step) bool {
	switch s.Op {
	case OpModel, OpTool, OpRetrieval, OpHuman, OpGate, OpHandoff:
		return true
	case OpAgent:
		return false
	case OpNone, OpWorkflow, OpHTTP:
		return s.Kind != KindUnset && s.Kind != KindOther
	}
	return false
}

// tenants splits an input of several tenants into one input each, by tenant;
// nil where there is one only.
func tenants(in Input) []Input {
	var first *Step
	several := false
	for _, s := range in.Steps {
		switch {
		case s == nil:
		case first == nil:
			first = s
		case s.Tenant != first.Tenant:
			several = true
		}
	}
	if !several {
		return nil
	}
	by := map[string][]*Step{}
	var names []string
	for _, s := range in.Steps {
		if s == nil {
			continue
		}
		if _, ok := by[s.Tenant]; !ok {
			names = append(names, s.Tenant)
		}
		by[s.Tenant] = append(by[s.Tenant], s)
	}
	slices.SortFunc(names, strings.Compare)
	out := make([]Input, len(names))
	for i, t := range names {
		out[i] = in
		out[i].Steps = by[t]
		out[i].Logs = nil
		for _, l := range in.Logs {
			if l.Tenant == t {
				out[i].Logs = append(out[i].Logs, l)
			}
		}
	}
	return out
}
