package assemble

import (
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
		g.floor = g.cold.cut(limit)
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
