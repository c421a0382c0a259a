package agent

import (
	"cmp"
	"slices"
	"strings"
)

// Runs derives every run of the input, in the order of (Started, ID). Units in
// which nothing is a step and nothing is an agent's root give none. The input
// must hold all units that may be joined; spans of several tenants never are.
// It is pure and changes nothing: any order and any repetition of the input
// gives deeply equal runs, which point into it.
func Runs(in Input) []*Run {
	if split := tenants(in); split != nil {
		var all []*Run
		for _, one := range split {
			all = append(all, Runs(one)...)
		}
		slices.SortStableFunc(all, compareRuns)
		return all
	}
	a := newArena(in)
	defer a.release()
	var out []*Run
	for g := range a.runs {
		if r := a.derive(int32(g)); r != nil {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, compareRuns)
	return out
}

// NewRun derives the run of that id, or nil if the input holds none. The input
// may hold other units and runs as well. Where spans of several tenants stand in
// it, the first tenant by name that has the run is meant.
func NewRun(id string, in Input) *Run {
	if split := tenants(in); split != nil {
		for _, one := range split {
			if r := NewRun(id, one); r != nil {
				return r
			}
		}
		return nil
	}
	a := newArena(in)
	defer a.release()
	for g := range a.runs {
		if a.runs[g].id == id {
			return a.derive(int32(g))
		}
	}
	return nil
}

func compareRuns(x, y *Run) int {
	return cmp.Or(cmp.Compare(x.Started, y.Started), strings.Compare(x.ID, y.ID), strings.Compare(x.Tenant, y.Tenant))
}

// class is what may share a step: only attempts of one class.
type class uint8

const (
	classTool class = iota
	classModel
	classHuman
	classReconcile
	classOther
)

// cand is an attempt while it is being found.
type cand struct {
	node    int32   // the span that names it
	spans   []int32 // all its spans, outermost and earliest first; nil if node only
	part    uint16
	frame   int32 // the model span of which it is one of several attempts; -1
	gone    bool  // folded into another, or no attempt after all
	op      Op
	class   class
	kind    Kind
	source  KindSource
	lane    int32
	tool    string
	callID  string
	target  string
	key     string
	gate    Gate
	args    Content
	sent    Digest
	result  Content
	shown   Content // the result as a later input shows it, where the span has none
	outcome Outcome
	start   int64
	end     int64
	http    []int32        // topmost HTTP spans below it
	request *RequestedCall // what the model asked, where it is known
	answer  *CallAnswer    // what a later input says of it
	noSpan  bool
	seen    bool
	parts   bool // one of several attempts inside one model span, each a request
	counted bool // an attempt that its span only counts
	tail    bool // the last of several attempts that one span is around
	early   bool // an attempt of a model call before the last one
	waits   bool // its span only waits: nothing ran
	unsafe  bool
}

// builder derives one run.
type builder struct {
	a        *arena
	g        *runGroup
	run      int32
	lanes    []lane
	orphans  map[orphanKey]int32
	cands    []cand
	requests []request
	steps    []stepGroup
	ids      strings.Builder // derived ids of steps
	turns    []Turn
	words    map[string]CallWord  // by call id
	openEnds map[int32]*openEnd   // by the agent's span
	spanless map[int32]Sign       // by agent span
	under    map[agentUnder]int64 // when the last of them began
}

// derive runs the passes over one run; nil if it is none.
func (a *arena) derive(g int32) *Run {
	b := &builder{a: a, g: &a.runs[g], run: g}
	if !b.isRun() {
		return nil
	}
	b.lanesPass()
	b.candidates()
	b.foldModels()
	b.foldTools()
	b.joinGates()
	b.collectHTTP()
	b.splitByCount()
	b.hear()
	b.tie()
	b.outcomes()
	b.receipts()
	b.unseen()
	b.group()
	return b.build()
}

// isRun: something in it is a step or an agent's root.
func (b *builder) isRun() bool {
	for _, at := range b.g.nodes {
		if b.a.nodes[at].step || b.a.nodes[at].isAgent {
			return true
		}
	}
	return false
}

// candidates makes an attempt of each span that is a step.
func (b *builder) candidates() {
	n := 0
	for _, at := range b.g.nodes {
		if b.a.nodes[at].step {
			n++
		}
	}
	b.cands = sized(&b.a.use.cands, n)[:0]
	for _, at := range b.g.nodes {
		nd, s := &b.a.nodes[at], b.a.steps[at]
		if !nd.step && !b.isLoneNode(at) {
			continue
		}
		nd.cand = int32(len(b.cands))
		c := cand{
			node: at, frame: noSpan, op: s.Op, lane: b.laneOf(at), tool: s.Call.Tool, callID: s.Call.ID,
			target: s.Call.Target, key: s.Call.Key, gate: s.Call.Gate, args: s.Call.Arguments, sent: s.Call.ArgumentsSent,
			result: s.Call.Result, start: s.Start, end: s.End, seen: true,
		}
		b.classify(&c)
		l := &b.lanes[c.lane]
		l.latest = max(l.latest, c.start)
		b.cands = append(b.cands, c)
	}
}

// isLoneNode: a workflow or graph node without tool, model or agent of its own.
func (b *builder) isLoneNode(at int32) bool {
	nd := &b.a.nodes[at]
	return b.a.steps[at].Op == OpWorkflow && nd.parent >= 0 && !nd.isAgent && nd.child < 0
}

// span gives the step that a candidate is named by.
func (b *builder) span(c *cand) *Step { return b.a.steps[c.node] }

// members are all spans of a candidate.
func (b *builder) members(c *cand) []int32 {
	if c.spans != nil {
		return c.spans
	}
	return []int32{c.node}
}
