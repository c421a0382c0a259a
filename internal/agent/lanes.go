package agent

import (
	"cmp"
	"container/heap"
	"slices"
)

// lane is a row of steps in which loops are looked for: those of one invocation
// of an agent, or of several that follow each other under one parent.
type lane struct {
	name   string // the agent's; empty for the run's own
	agent  int32  // its first invocation; -1 for a lane without an agent seen
	latest int64  // when its last step began
}

// laneKey tells which invocations may share a lane.
type laneKey struct {
	parent int32  // lane of the agent above
	name   string // agent name
	asTool bool
	args   Digest // of an agent that is called as a tool
}

// orphanKey is a parent that has not come.
type orphanKey struct {
	trace TraceID
	span  SpanID
}

// lanes gives every invocation of an agent its lane (conventions, "Lane").
// Lane 0 is the run's own.
func (b *builder) lanesPass() {
	b.lanes = make([]lane, 1, 4)
	b.lanes[0].agent = noSpan
	agents := b.agentsByDepth()
	if len(agents) == 0 {
		return
	}
	pools := map[laneKey]*lanePool{}
	for _, at := range agents {
		nd, s := &b.a.nodes[at], b.a.steps[at]
		key := laneKey{parent: b.laneOf(at), name: s.Agent}
		share := true
		if nd.tool >= 0 {
			call := &b.a.steps[nd.tool].Call
			key.asTool, key.args = true, call.Arguments.Digest
			share = !call.Arguments.Digest.IsZero()
		}
		if !share {
			nd.lane = b.openLane(s.Agent, at)
			continue
		}
		p := pools[key]
		if p == nil {
			p = &lanePool{}
			pools[key] = p
		}
		nd.lane = p.take(s.Start)
		if nd.lane < 0 {
			nd.lane = b.openLane(s.Agent, at)
		}
		heap.Push(&p.busy, busyLane{max(s.End, s.Start), nd.lane})
	}
}

func (b *builder) openLane(name string, agent int32) int32 {
	b.lanes = append(b.lanes, lane{name: name, agent: agent})
	return int32(len(b.lanes) - 1)
}

// agentsByDepth gives the run's agents, outer ones first, then in order.
func (b *builder) agentsByDepth() (agents []int32) {
	for _, at := range b.g.nodes {
		if b.a.nodes[at].isAgent {
			agents = append(agents, at)
		}
	}
	slices.SortStableFunc(agents, func(x, y int32) int {
		return cmp.Or(cmp.Compare(b.a.nodes[x].depth, b.a.nodes[y].depth), cmp.Compare(x, y))
	})
	return agents
}

// ownAgent is the innermost agent above a node that belongs to the run; -1 if
// the agent above belongs to another run.
func (b *builder) ownAgent(at int32) int32 {
	up := b.a.nodes[at].agent
	if up >= 0 && b.a.nodes[up].run == b.run {
		return up
	}
	return noSpan
}

// laneOf gives the lane that a node stands in: of the innermost agent above it;
// until that is seen, of the parent that has not come.
func (b *builder) laneOf(at int32) int32 {
	if up := b.ownAgent(at); up >= 0 {
		return b.a.nodes[up].lane
	}
	top := b.a.nodes[at].top
	if b.a.in.Quiet || !b.a.nodes[top].orphan {
		return 0
	}
	k := orphanKey{b.a.steps[top].Trace, b.a.steps[top].Parent}
	if l, ok := b.orphans[k]; ok {
		return l
	}
	if b.orphans == nil {
		b.orphans = map[orphanKey]int32{}
	}
	l := b.openLane("", noSpan)
	b.orphans[k] = l
	return l
}

// lanePool keeps the lanes of one key: those whose last invocation runs, by its
// end, and those that are free, by number. Invocations come in order of start.
type lanePool struct {
	busy busyLanes
	free freeLanes
}

// take gives the first lane whose last invocation had ended at start; -1 if
// there is none.
func (p *lanePool) take(start int64) int32 {
	for len(p.busy) > 0 && isAfter(start, p.busy[0].end) {
		heap.Push(&p.free, heap.Pop(&p.busy).(busyLane).lane)
	}
	if len(p.free) == 0 {
		return noSpan
	}
	return heap.Pop(&p.free).(int32)
}

type busyLane struct {
	end  int64
	lane int32
}

type busyLanes []busyLane

func (h busyLanes) Len() int           { return len(h) }
func (h busyLanes) Less(i, j int) bool { return h[i].end < h[j].end }
func (h busyLanes) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *busyLanes) Push(x any)        { *h = append(*h, x.(busyLane)) }
func (h *busyLanes) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

type freeLanes []int32

func (h freeLanes) Len() int           { return len(h) }
func (h freeLanes) Less(i, j int) bool { return h[i] < h[j] }
func (h freeLanes) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *freeLanes) Push(x any)        { *h = append(*h, x.(int32)) }
func (h *freeLanes) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
