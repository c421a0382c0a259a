package assemble

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/steptrail/steptrail/internal/agent"
)

// Groups that have been quiet for a while are kept packed: their steps and
// facts as one string, a twelfth of the size. Packing and unpacking run over the
// same list of fields (fields.go), each step against the last one of its family,
// so that what does not change takes a bit.

// packer writes or reads values. While reading, strings are parts of the packed
// text: nothing is copied.
type packer struct {
	out    []byte    // written so far
	in     string    // left to read
	read   bool      // direction
	table  textTable // strings written before, by number
	texts  []string  // strings read before
	mask   int       // where the bits of the step in hand are
	bits   string    // the same, while reading
	bit    int
	last   []agent.Ref           // the model input before; what follows it in memory is written once
	state  [families]*agent.Step // the last step of each family
	begun  [families]bool        // it is of this text
	newest *agent.Step           // the last one of all
	alone  bool                  // it is the first of this text, and one of the others
	fresh  []*string             // texts in state that are still those of the step in hand
	owns   bool                  // fresh is kept: such steps go, and state stays
	bad    bool                  // the text to read was none of ours
}

// pack turns steps and facts into one string.
func pack(steps []*agent.Step, facts map[agent.Ref]*agent.MessageFacts) string {
	p := &packer{out: make([]byte, 0, 160*len(steps)+96*len(facts))}
	p.count(0)
	p.count(len(steps))
	for _, s := range steps {
		p.step(s)
	}
	p.allFacts(facts)
	return string(p.out)
}

// allFacts packs what is known of messages.
func (p *packer) allFacts(facts map[agent.Ref]*agent.MessageFacts) {
	refs := make([]agent.Ref, 0, len(facts))
	for r := range facts {
		refs = append(refs, r)
	}
	slices.SortFunc(refs, func(x, y agent.Ref) int { return slices.Compare(x[:], y[:]) })
	p.count(len(refs))
	for _, r := range refs {
		p.facts(facts[r])
	}
}

// unpack gives the steps and facts of a packed string: segments, then what came
// after them.
func unpack(text string) (steps []*agent.Step, facts map[agent.Ref]*agent.MessageFacts) {
	p := &packer{in: text, read: true}
	for range p.count(0) {
		n, size := p.count(0), p.count(0)
		if p.bad || size > len(p.in) {
			return steps, nil
		}
		part := &packer{in: p.in[:size], read: true}
		steps = part.unpackSteps(steps, n)
		p.in = p.in[size:]
	}
	steps = p.unpackSteps(steps, p.count(0))
	if n := p.count(0); n > 0 && !p.bad {
		facts = make(map[agent.Ref]*agent.MessageFacts, n)
		for range n {
			f := new(agent.MessageFacts)
			if p.facts(f); p.bad {
				break
			}
			facts[f.Ref] = f
		}
	}
	return steps, facts
}

// unpackSteps adds the next n steps to a list.
func (p *packer) unpackSteps(steps []*agent.Step, n int) []*agent.Step {
	steps = slices.Grow(steps, n)
	for range n {
		s := p.step(nil)
		if p.bad {
			break
		}
		c := *s
		steps = append(steps, &c)
	}
	return steps
}

// count writes how many things follow, or reads it: never more than there are
// bytes left.
func (p *packer) count(n int) int {
	u := p.uint(uint64(n))
	if p.read && u > uint64(len(p.in)) {
		p.bad = true
		return 0
	}
	return int(u)
}

func (p *packer) uint(v uint64) uint64 {
	if !p.read {
		w := v
		for ; w >= 0x80; w >>= 7 {
			p.out = append(p.out, byte(w)|0x80)
		}
		p.out = append(p.out, byte(w))
		return v
	}
	v = 0
	for shift := 0; shift < 64; shift += 7 {
		if len(p.in) == 0 {
			break
		}
		c := p.in[0]
		p.in = p.in[1:]
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	p.bad = true
	return 0
}

func (p *packer) int(v int64) int64 {
	u := p.uint(uint64(v<<1) ^ uint64(v>>63))
	return int64(u>>1) ^ -int64(u&1)
}

// raw writes or reads bytes of a known number.
func (p *packer) raw(b []byte) {
	if !p.read {
		p.out = append(p.out, b...)
		return
	}
	if len(p.in) < len(b) {
		p.bad = true
		return
	}
	copy(b, p.in)
	p.in = p.in[len(b):]
}

// text writes a string once; after that its number.
func (p *packer) text(s string) string {
	if !p.read {
		n, slot := p.table.find(p.out, s)
		p.uint(uint64(n + 1))
		if n >= 0 {
			return s
		}
		p.uint(uint64(len(s)))
		p.table.add(slot, len(p.out), len(s))
		p.out = append(p.out, s...)
		return s
	}
	if n := p.uint(0); n > 0 {
		if n > uint64(len(p.texts)) {
			p.bad = true
			return ""
		}
		return p.texts[n-1]
	}
	n := p.uint(0)
	if n > uint64(len(p.in)) {
		p.bad = true
		return ""
	}
	s, p.in = p.in[:n], p.in[n:]
	p.texts = append(p.texts, s)
	return s
}

// littleRoom is with how much room for a step the text is doubled.
const littleRoom = 4 * maskBytes

// begin opens the bits of a step: one for each field that differs from the step
// before.
func (p *packer) begin() {
	p.bit = 0
	if !p.read {
		if n := cap(p.out); n-len(p.out) < littleRoom {
			p.out = append(make([]byte, 0, 2*n+littleRoom), p.out...)
		}
		p.mask = len(p.out)
		p.out = append(p.out, make([]byte, maskBytes)...)
		return
	}
	if len(p.in) < maskBytes {
		p.bad = true
		p.bits = strings.Repeat("\x00", maskBytes)
		return
	}
	p.bits, p.in = p.in[:maskBytes], p.in[maskBytes:]
}

// differs writes, or reads, whether the next field differs from that of the
// step before.
func (p *packer) differs(d bool) bool {
	i := p.bit
	p.bit++
	if !p.read {
		if d {
			p.out[p.mask+i/8] |= 1 << (i % 8)
		}
		return d
	}
	return p.bits[i/8]&(1<<(i%8)) != 0
}

func (p *packer) str(v, at *string) {
	if !p.read {
		if len(*v) == len(*at) && (len(*v) == 0 || sameText(v, at) || *v == *at) {
			p.bit++
			return
		}
		p.differs(true)
		p.text(*v)
		if *at = ""; *v != "" { // an empty one may lie in a request too
			*at = *v
			if p.owns {
				p.fresh = append(p.fresh, at)
			}
		}
		return
	}
	if p.differs(false) {
		*at = p.text("")
	}
}

// num packs a number against the one before.
func num[T ~int64 | ~int32 | ~uint8](p *packer, v, at *T) {
	if !p.read && *v == *at {
		p.bit++
		return
	}
	if p.differs(true) {
		*at = T(p.int(int64(*v)-int64(*at)) + int64(*at))
	}
}

func (p *packer) flag(v, at *bool) {
	if p.differs(*v != *at) {
		*at = !*at
	}
}

func (p *packer) bytes(v, at []byte) {
	if p.differs(!bytes.Equal(v, at)) {
		copy(at, v)
		p.raw(at)
	}
}

// float packs a pointer to a number by the bits of the number.
func float(p *packer, v, at **float64) {
	same := *v == *at || *v != nil && *at != nil && math.Float64bits(**v) == math.Float64bits(**at)
	if !p.differs(!same) {
		return
	}
	if p.uint(boolNumber(*v != nil)) == 0 {
		*at = nil
		return
	}
	bits := uint64(0)
	if !p.read {
		bits = math.Float64bits(**v)
	}
	f := math.Float64frombits(p.uint(bits))
	*at = &f
}

func integer(p *packer, v, at **int64) {
	same := *v == *at || *v != nil && *at != nil && **v == **at
	if !p.differs(!same) {
		return
	}
	if p.uint(boolNumber(*v != nil)) == 0 {
		*at = nil
		return
	}
	n := int64(0)
	if !p.read {
		n = **v
	}
	n = p.int(n)
	*at = &n
}

func boolNumber(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
