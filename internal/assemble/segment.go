package assemble

import (
	"encoding/binary"
	"unsafe"

	"github.com/steptrail/steptrail/internal/agent"
)

// segment is a stretch of a cold group's steps, packed so that it is read without
// those before it. A window is cut by dropping whole segments; where only some of
// a segment's steps are left, they are marked.
type segment struct {
	text string
	n    int    // steps in text
	left int    // those of them that are kept
	kept []bool // which; nil: all
}

const (
	segmentCost = int64(unsafe.Sizeof(segment{}))
	// fullSegment is how many steps make a segment full.
	fullSegment = 256
	// contextShare: each segment begins with the whole input of a model call, which
	// may be long. Then segments are longer, so that it takes no more of them.
	contextShare = 4
)

// isFull reports whether the next step begins a segment.
func (c *cold) isFull() bool {
	return c.grown.n >= fullSegment && len(c.p.out) >= contextShare*int(refCost)*len(c.p.last)
}

// seal ends the segment that grows, if there is anything in it.
func (c *cold) seal() {
	if c.grown.n > 0 {
		c.grown.text = string(c.p.out)
		c.segments = append(c.segments, c.grown)
		c.sealed += c.grown.bytes()
		c.grown = segment{}
	}
	c.closed = false
	c.p.restart()
}

func (x *segment) bytes() int64 { return int64(len(x.text) + cap(x.kept)) }

// add counts a step.
func (x *segment) add() {
	x.n++
	x.left++
	if x.kept != nil {
		x.kept = append(x.kept, true)
	}
}

// restart makes a packer write as if nothing had been written.
func (p *packer) restart() {
	p.out = p.out[:0]
	p.table.reset()
	p.forget()
}

// forget leaves nothing for the next step to be packed against.
func (p *packer) forget() {
	p.last, p.newest, p.alone, p.begun = nil, nil, false, [families]bool{}
	for _, s := range p.state {
		if s != nil {
			*s = agent.Step{}
		}
	}
}

// each calls f with each kept step of a segment. The step is f's until it returns;
// its strings are parts of the text.
func (x *segment) each(p *packer, f func(s *agent.Step)) {
	p.in, p.texts = x.text, p.texts[:0]
	p.forget()
	all := x.kept == nil
	for i, left := 0, x.left; left > 0; i++ {
		s := p.step(nil)
		if all || x.kept[i] {
			f(s)
			left--
		}
	}
}

// each calls f with each step in the order of their arrival, as segment.each.
func (c *cold) each(f func(s *agent.Step)) {
	p := &packer{read: true}
	for i := range c.segments {
		c.segments[i].each(p, f)
	}
	last := c.grown
	last.text = string(c.p.out)
	last.each(p, f)
}

// text ends the packing: the steps and facts as one string.
func (c *cold) text(facts map[agent.Ref]*agent.MessageFacts) string {
	if c.grown.kept != nil {
		c.seal()
	}
	c.repack(func(x *segment) bool { return x.kept != nil })
	c.p.allFacts(facts)
	head := binary.AppendUvarint(make([]byte, 0, len(c.p.out)+int(c.sealed)+20*len(c.segments)+20), uint64(len(c.segments)))
	for i := range c.segments {
		x := &c.segments[i]
		head = binary.AppendUvarint(head, uint64(x.n))
		head = binary.AppendUvarint(head, uint64(len(x.text)))
		head = append(head, x.text...)
	}
	head = binary.AppendUvarint(head, uint64(c.grown.n))
	return string(append(head, c.p.out...))
}

// repack packs the steps that are kept of some segments anew: those of neighbours
// together. Segments without any go.
func (c *cold) repack(which func(x *segment) bool) {
	in := &packer{read: true}
	out := &packer{}
	var anew segment
	end := func(list []segment) []segment {
		if anew.n == 0 {
			return list
		}
		anew.text = string(out.out)
		list = append(list, anew)
		out.restart()
		anew = segment{}
		return list
	}
	list := make([]segment, 0, len(c.segments))
	for i := range c.segments {
		x := &c.segments[i]
		switch {
		case x.left == 0:
		case which(x):
			x.each(in, func(s *agent.Step) {
				if anew.n == fullSegment {
					list = end(list)
				}
				out.step(s)
				anew.add()
			})
		default:
			list = append(end(list), *x)
		}
	}
	c.segments, c.sealed = end(list), 0
	for i := range c.segments {
		c.sealed += c.segments[i].bytes()
	}
}
