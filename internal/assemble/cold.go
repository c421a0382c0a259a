package assemble

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"unsafe"

	"github.com/steptrail/steptrail/internal/agent"
)

// cold holds the steps of a group that was never judged as its packed text, which
// grows by each step as it comes: most groups end without a look at their steps.
// What placing and watching ask of earlier steps is in spots. The group is warmed
// (its steps unpacked) for a judgement, a merge, and all else that is rare.
type cold struct {
	p      packer
	spots  []spot
	slots  []int32  // place in spots + 1 by hash; 0: free; a power of two; nil while there are few
	units  []string // of the steps, as spots number them
	newest *agent.Step
}

// spot is what is asked of an earlier step while nothing is judged.
type spot struct {
	span    spanKey
	parent  agent.SpanID
	start   int64
	end     int64
	unit    int32 // place in cold.units
	op      agent.Op
	holds   bool // calls inside may be its attempts
	context bool // it is a model call with an input
}

const (
	spotCost = int64(unsafe.Sizeof(spot{}))
	coldCost = int64(unsafe.Sizeof(cold{}))
	// minSlots is the first size of the index of spots.
	minSlots = 64
	// maxColdUnits is how many units a cold group tells apart.
	maxColdUnits = 8
	// coldWindows is how many windows of steps a cold group may hold: they take
	// little, and cutting a window reads all of it.
	coldWindows = 8
)

// newCold makes room for the steps of a short run.
func newCold() *cold {
	return &cold{p: packer{out: make([]byte, 0, 512)}, spots: make([]spot, 0, 8)}
}

// like gives the step that the next one of that operation is packed against.
func (c *cold) like(op agent.Op) *agent.Step { return c.p.before[familyOf(op)] }

// add packs a step and keeps it until the next one of its family, which frees it.
func (c *cold) add(s *agent.Step) (free *agent.Step) {
	c.p.step(s)
	like := &c.p.before[familyOf(s.Op)]
	free, *like, c.newest = *like, s, s
	unit := slices.Index(c.units, s.Unit)
	if unit < 0 {
		unit = len(c.units)
		c.units = append(c.units, s.Unit)
	}
	c.note(spot{
		span: spanKey{s.Trace, s.Span}, parent: s.Parent, start: s.Start, unit: int32(unit),
		end: s.End, op: s.Op, holds: holdsAttempts(s), context: s.Op == agent.OpModel && len(s.Model.Context) > 0,
	})
	return free
}

// note adds a spot.
func (c *cold) note(x spot) {
	c.spots = append(c.spots, x)
	n := len(c.spots)
	switch {
	case n <= few:
	case 4*n > 3*len(c.slots):
		c.slots = make([]int32, max(minSlots, 2*len(c.slots)))
		for i := range c.spots {
			c.slots[c.slot(c.spots[i].span)] = int32(i + 1)
		}
	default:
		c.slots[c.slot(x.span)] = int32(n)
	}
}

// slot is where a span stands in slots, or would.
func (c *cold) slot(k spanKey) int {
	mask := len(c.slots) - 1
	i := int(maphash.Comparable(textSeed, k)) & mask
	for c.slots[i] != 0 && c.spots[c.slots[i]-1].span != k {
		i = (i + 1) & mask
	}
	return i
}

// find gives the place of a span in spots; -1 if it is not here.
func (c *cold) find(k spanKey) int {
	if c.slots != nil {
		return int(c.slots[c.slot(k)]) - 1
	}
	for i := range c.spots {
		if x := &c.spots[i].span; x.span == k.span && x.trace == k.trace {
			return i
		}
	}
	return -1
}

// text ends the packing: the steps and facts as one string.
func (c *cold) text(facts map[agent.Ref]*agent.MessageFacts) string {
	c.p.allFacts(facts)
	var head [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(head[:], uint64(len(c.spots)))
	return string(append(head[:n:n], c.p.out...))
}

func (c *cold) bytes() int64 {
	n := coldCost + int64(cap(c.p.out)) + c.p.table.bytes() + spotCost*int64(cap(c.spots)) + 4*int64(len(c.slots))
	for _, s := range c.p.before {
		if s != nil {
			n += sizeOf(s)
		}
	}
	return n
}

// hasBegun is group.hasBegun.
func (c *cold) hasBegun(s *agent.Step) bool {
	for i := len(c.spots) - 1; i >= max(0, len(c.spots)-lookBack); i-- {
		x := &c.spots[i]
		if x.context && x.start < s.Start && x.span.trace == s.Trace && c.units[x.unit] == s.Unit {
			return true
		}
	}
	return false
}

// keepCold adds a step to a cold group. What it gives is valid until the next
// call; its strings are its own.
func (o *Open) keepCold(g *group, s *agent.Step) *agent.Step {
	kept := o.chill(g.cold, s)
	o.weighCold(g)
	return kept
}

// chill adds a copy of a step.
func (o *Open) chill(c *cold, s *agent.Step) *agent.Step {
	kept := o.scratch
	if kept == nil {
		kept = new(agent.Step)
	}
	cloneInto(kept, s, c.like(s.Op))
	o.scratch = c.add(kept)
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
	steps, _ := unpack(g.cold.text(nil))
	g.cold, g.steps = nil, steps
	g.reindex()
	n := -g.chilled
	for _, s := range steps {
		n += sizeOf(s)
	}
	g.chilled = 0
	o.grow(g, n)
}

// each calls f with each step in the order of their arrival. The step is f's
// until it returns; its strings are parts of one text.
func (c *cold) each(f func(i int, s *agent.Step)) {
	p := &packer{in: string(c.p.out), read: true}
	var free *agent.Step
	for i := range c.spots {
		if free == nil {
			free = new(agent.Step)
		}
		s := free
		p.step(s) // sets all that clone keeps
		f(i, s)
		at := &p.before[familyOf(s.Op)]
		free, *at = *at, s
	}
}
