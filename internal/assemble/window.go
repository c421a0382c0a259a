package assemble

import (
	"cmp"
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
)

// limit is how many spans of a group are kept: a window for each of its runs.
func (g *group) limit(window int) int {
	runs := len(g.verdicts)
	if runs == 0 {
		runs = g.units // as many as there may be
	}
	return window * min(max(1, runs), maxRuns)
}

// maxRuns bounds the windows of one group.
const maxRuns = 16

// trim drops the oldest steps beyond the window. What the kept ones lie in
// stays, so that they keep their agents.
func (o *Open) trim(g *group) {
	limit := g.limit(o.limits.Window)
	before := g.size()
	if g.cold != nil {
		g.cold, g.floor = o.cut(g.cold, limit)
		o.weighCold(g)
	} else {
		o.cutSteps(g, limit)
	}
	left := g.size()
	o.stats.Trimmed += int64(before - left)
	o.stats.Steps -= before - left
	g.trimmed, g.trimAt = true, left+limit/2
	g.judged = min(g.judged, left)
	g.reindex()
	if g.watch != nil {
		o.rewatch(g, g.shared) // what is pending stays so
		g.watch.due = 0
	}
}

// cutSteps is trim for steps as they came.
func (o *Open) cutSteps(g *group, limit int) {
	slices.SortFunc(g.steps, func(x, y *agent.Step) int {
		if x.Less(y) {
			return 1
		}
		if y.Less(x) {
			return -1
		}
		return 0
	})
	parents := make(map[spanKey]bool, limit)
	kept := g.steps[:0]
	for i, s := range g.steps {
		k := spanKey{s.Trace, s.Span}
		if i >= limit && (!parents[k] || len(kept) >= 2*limit) {
			o.grow(g, -sizeOf(s))
			continue
		}
		if i < limit {
			g.floor = s.Start
		}
		if !s.Parent.IsZero() {
			parents[spanKey{s.Trace, s.Parent}] = true
		}
		kept = append(kept, s)
	}
	clear(g.steps[len(kept):])
	g.steps = kept
}

// cutAt is beyond how many steps the window is cut.
func (g *group) cutAt(window int) int { return max(g.trimAt, g.limit(window)*3/2) }

// cut drops the oldest steps beyond the limit, but for those that kept ones lie
// in, and gives the start of the oldest step within it.
func (o *Open) cut(c *cold, limit int) (left *cold, floor int64) {
	newest := make([]int32, len(c.spots))
	for i := range newest {
		newest[i] = int32(i)
	}
	slices.SortFunc(newest, func(x, y int32) int { return c.spots[y].compare(&c.spots[x]) })
	keep := make([]bool, len(c.spots))
	parents := make(map[spanKey]bool, limit)
	kept := 0
	for n, i := range newest {
		x := &c.spots[i]
		if n >= limit && (!parents[x.span] || kept >= 2*limit) {
			continue
		}
		if n < limit {
			floor = x.start
		}
		if !x.parent.IsZero() {
			parents[spanKey{x.span.trace, x.parent}] = true
		}
		keep[i] = true
		kept++
	}
	left = newCold()
	c.each(func(i int, s *agent.Step) {
		if keep[i] {
			o.chill(left, s)
		}
	})
	return left, floor
}

// compare orders as agent.Step.Less does.
func (x *spot) compare(y *spot) int {
	return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.end, y.end), x.span.trace.Compare(y.span.trace), x.span.span.Compare(y.span.span))
}
