package assemble

import (
	"hash/maphash"
	"unsafe"

	"github.com/steptrail/steptrail/internal/agent"
)

// cold holds the steps of a group that was never judged as packed text, which grows
// by each step as it comes: most groups end without a look at their steps. What
// placing and watching ask of earlier steps is in spots. The group is warmed (its
// steps unpacked) for a judgement, a merge, and all else that is rare.
type cold struct {
	segments []segment // full ones, in the order of arrival
	sealed   int64     // bytes of their texts
	p        packer    // of the segment that grows
	grown    segment   // that segment, but for its text
	closed   bool      // it grows no further
	spots    []spot    // of all steps that are kept, in the order of arrival
	slots    []int32   // place in spots + 1 by hash; 0: free; a power of two; nil while there are few
	places   []place   // of the steps, as spots number them
	newest   *agent.Step
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
	// minSlots is the first size of the index of spots.
	minSlots = 64
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
	return &cold{p: packer{out: make([]byte, 0, 512), owns: true}, spots: make([]spot, 0, 8)}
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
	c.newest, c.sizes[familyOf(s.Op)] = kept, sizeOf(kept)-refCost*int64(len(kept.Model.Context))
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
	c.places = append(c.places, place{s.Trace, c.newest.Unit})
	return int32(len(c.places) - 1)
}

// note adds a spot.
func (c *cold) note(x *spot) {
	c.spots = append(c.spots, *x)
	n := len(c.spots)
	switch {
	case n <= few:
	case 4*n > 3*len(c.slots):
		c.slots = make([]int32, max(minSlots, 2*len(c.slots)))
		c.index()
	default:
		c.slots[c.slot(c.key(x))] = int32(n)
	}
}

// index fills the index of spots anew.
func (c *cold) index() {
	clear(c.slots)
	for i := range c.spots {
		c.slots[c.slot(c.key(&c.spots[i]))] = int32(i + 1)
	}
}

func (c *cold) key(x *spot) spanKey { return spanKey{c.places[x.place].trace, x.span} }

// slot is where a span stands in slots, or would.
func (c *cold) slot(k spanKey) int {
	mask := len(c.slots) - 1
	i := int(maphash.Comparable(textSeed, k)) & mask
	for c.slots[i] != 0 && !c.is(c.slots[i]-1, k) {
		i = (i + 1) & mask
	}
	return i
}

func (c *cold) is(i int32, k spanKey) bool {
	x := &c.spots[i]
	return x.span == k.span && c.places[x.place].trace == k.trace
}

// find gives the place of a span in spots; -1 if it is not here.
func (c *cold) find(k spanKey) int {
	if c.slots != nil {
		return int(c.slots[c.slot(k)]) - 1
	}
	for i := range c.spots {
		if c.spots[i].span == k.span && c.is(int32(i), k) {
			return i
		}
	}
	return -1
}

// bytes is the memory of all of it.
func (c *cold) bytes() int64 {
	n := coldCost + c.sealed + segmentCost*int64(cap(c.segments)) + spotCost*int64(cap(c.spots)) + 4*int64(len(c.slots)) + placeCost*int64(cap(c.places))
	return n + int64(cap(c.p.out)) + c.p.table.bytes() + refCost*int64(cap(c.p.last)) + c.sizes[0] + c.sizes[1] + c.sizes[2]
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
