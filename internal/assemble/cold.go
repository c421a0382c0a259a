package assemble

import (
	"slices"
	"unsafe"

	"github.com/steptrail/steptrail/internal/agent"
)

// cold holds the steps of a group that was never judged as packed text, which grows
// by each step as it comes: most groups end without a look at their steps. What
// placing and watching ask of earlier steps is in spots. The group is warmed (its
// steps unpacked) for a judgement, a merge, and all else that is rare.
type cold struct {
	segments []segment       // full ones, in the order of arrival
	sealed   int64           // bytes of their texts
	p        packer          // of the segment that grows
	grown    segment         // that segment, but for its text
	closed   bool            // it grows no further
	spots    []spot          // of all steps that are kept, in the order of arrival
	index    spanIndex       // of spots; empty while there are few
	places   []place         // of the steps, as spots number them
	units    []string        // in places, each once
	sizes    [families]int64 // of the steps in p
}

// spot is what is asked of an earlier step while nothing is judged.
type spot struct {
	span    agent.SpanID
	parent  agent.SpanID
	start   int64
	end     int64
	place   int32 // in cold.places
	op      agent.Op
	holds   bool // calls inside may be its attempts
	context bool // it is a model call with an input
}

// place is what mostly is the same for many steps. One may have several numbers.
type place struct {
	trace agent.TraceID
	unit  string
}

const (
	spotCost  = int64(unsafe.Sizeof(spot{}))
	placeCost = int64(unsafe.Sizeof(place{}))
	coldCost  = int64(unsafe.Sizeof(cold{}))
	// manyPlaces is among how many of the last places that of a step is looked for.
	manyPlaces = 8
	// maxColdUnits is how many units a cold group tells apart.
	maxColdUnits = 8
	// coldWindows is how many windows of steps a cold group may hold: they take
	// little, and cutting a window reads what is left.
	coldWindows = 8
)

// newCold makes room for the steps of a short run.
func newCold() *cold {
	return &cold{p: packer{out: make([]byte, 0, 640), owns: true}, spots: make([]spot, 0, 8)}
}

// add packs a step. What it gives is its copy, valid until the next one comes.
// fresh is room to work in.
func (c *cold) add(s *agent.Step, fresh *[]*string) *agent.Step {
	if c.closed || c.isFull() {
		c.seal()
	}
	c.p.fresh = *fresh
	kept := c.p.step(s)
	ownTexts(c.p.fresh)
	clear(c.p.fresh)
	*fresh, c.p.fresh = c.p.fresh[:0], nil
	c.grown.add()
	c.sizes[familyOf(s.Op)] = sizeOf(kept) - refCost*int64(len(kept.Model.Context))
	c.note(&spot{
		span: s.Span, parent: s.Parent, start: s.Start, end: s.End, place: c.placeOf(s),
		op: s.Op, holds: holdsAttempts(s), context: s.Op == agent.OpModel && len(s.Model.Context) > 0,
	})
	return kept
}

// placeOf gives the number of a step's place.
func (c *cold) placeOf(s *agent.Step) int32 {
	for i := len(c.places) - 1; i >= max(0, len(c.places)-manyPlaces); i-- {
		if x := &c.places[i]; x.trace == s.Trace && x.unit == s.Unit {
			return int32(i)
		}
	}
	c.places = append(c.places, place{s.Trace, c.unit(s.Unit)})
	return int32(len(c.places) - 1)
}

// unit gives a unit's name that keeps no other text of a step. There are few.
func (c *cold) unit(name string) string {
	i := slices.Index(c.units, name)
	if i < 0 {
		i = len(c.units)
		c.units = append(c.units, own(name))
	}
	return c.units[i]
}

// note adds a spot.
func (c *cold) note(x *spot) {
	if len(c.spots) == cap(c.spots) {
		c.spots = slices.Grow(c.spots, max(16, len(c.spots)))
	}
	c.spots = append(c.spots, *x)
	switch n := len(c.spots); {
	case n == few+1:
		c.reindex()
	case n > few:
		c.index.add(spanHash(c.places[x.place].trace, x.span), n-1)
	}
}

// reindex makes the index of spots anew.
func (c *cold) reindex() {
	c.index.reset()
	if len(c.spots) <= few {
		return
	}
	for i := range c.spots {
		x := &c.spots[i]
		c.index.add(spanHash(c.places[x.place].trace, x.span), i)
	}
}

func (c *cold) is(i int, k spanKey) bool {
	x := &c.spots[i]
	return x.span == k.span && c.places[x.place].trace == k.trace
}

// find gives the place of a span in spots; -1 if it is not here.
func (c *cold) find(k spanKey) int {
	if len(c.spots) > few {
		return c.index.find(spanHash(k.trace, k.span), func(i int) bool { return c.is(i, k) })
	}
	for i := range c.spots {
		if c.is(i, k) {
			return i
		}
	}
	return -1
}

// bytes is the memory of all of it.
func (c *cold) bytes() int64 {
	n := coldCost + c.sealed + segmentCost*int64(cap(c.segments)) + spotCost*int64(cap(c.spots)) + c.index.bytes() + placeCost*int64(cap(c.places))
	for f, s := range c.p.state {
		if s != nil {
			n += c.sizes[f]
		}
	}
	return n + int64(cap(c.p.out)) + c.p.table.bytes() + refCost*int64(cap(c.p.last))
}

// hasBegun is group.hasBegun.
func (c *cold) hasBegun(s *agent.Step) bool {
	for i := len(c.spots) - 1; i >= max(0, len(c.spots)-lookBack); i-- {
		x := &c.spots[i]
		if x.context && x.start < s.Start && c.places[x.place].trace == s.Trace && c.places[x.place].unit == s.Unit {
			return true
		}
	}
	return false
}

// keepCold adds a step to a cold group. What it gives is valid until the next
// call; its strings are its own.
func (o *Open) keepCold(g *group, s *agent.Step) *agent.Step {
	kept := g.cold.add(s, &o.fresh)
	o.weighCold(g)
	return kept
}

func (o *Open) weighCold(g *group) {
	n := g.cold.bytes()
	o.grow(g, n-g.chilled)
	g.chilled = n
}

// warm unpacks the steps of a cold group.
func (o *Open) warm(g *group) {
	if g.cold == nil {
		return
	}
	steps := make([]*agent.Step, 0, len(g.cold.spots))
	n := -g.chilled
	g.cold.each(func(s *agent.Step) {
		x := *s
		steps = append(steps, &x)
		n += sizeOf(&x)
	})
	g.cold, g.steps, g.chilled = nil, steps, 0
	g.reindex()
	o.grow(g, n)
}
