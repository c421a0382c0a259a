package assemble

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/steptrail/steptrail/internal/agent"
)

// Groups that have been quiet for a while are kept packed: their steps and
// facts as one string, a twelfth of the size. Packing and unpacking run over the
// same list of fields (fields.go), each step against the one before it, so that
// what does not change takes a bit.

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
	last   []agent.Ref           // the model input before
	before [families]*agent.Step // the step before of each family
	bad    bool                  // the text to read was none of ours
}

// pack turns steps and facts into one string.
func pack(steps []*agent.Step, facts map[agent.Ref]*agent.MessageFacts) string {
	p := &packer{out: make([]byte, 0, 160*len(steps)+96*len(facts))}
	p.count(len(steps))
	for _, s := range steps {
		p.step(s)
		p.before[familyOf(s.Op)] = s
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

// unpack gives the steps and facts of a packed string.
func unpack(text string) (steps []*agent.Step, facts map[agent.Ref]*agent.MessageFacts) {
	p := &packer{in: text, read: true}
	n := p.count(0)
	steps = make([]*agent.Step, 0, n)
	for range n {
		s := new(agent.Step)
		if p.step(s); p.bad {
			break
		}
		steps = append(steps, s)
		p.before[familyOf(s.Op)] = s
	}
	if n = p.count(0); n > 0 && !p.bad {
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
		p.out = binary.AppendUvarint(p.out, v)
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

// begin opens the bits of a step: one for each field that differs from the step
// before.
func (p *packer) begin() {
	p.bit = 0
	if !p.read {
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

func (p *packer) str(v, before *string) {
	if !p.read && sameText(v, before) {
		p.bit++
		return
	}
	if p.differs(*v != *before) {
		*v = p.text(*v)
	} else {
		*v = *before
	}
}

// num packs a number against the one before.
func num[T ~int64 | ~int32 | ~uint8](p *packer, v, before *T) {
	if p.differs(*v != *before) {
		*v = T(p.int(int64(*v)-int64(*before)) + int64(*before))
	} else {
		*v = *before
	}
}

func (p *packer) flag(v, before *bool) {
	if p.differs(*v != *before) {
		*v = !*before
	} else {
		*v = *before
	}
}

func (p *packer) bytes(v, before []byte) {
	if p.differs(!slices.Equal(v, before)) {
		p.raw(v)
	} else {
		copy(v, before)
	}
}

// float packs a pointer to a number by the bits of the number.
func float(p *packer, v, before **float64) {
	same := *v == *before || *v != nil && *before != nil && math.Float64bits(**v) == math.Float64bits(**before)
	if !p.differs(!same) {
		*v = *before
		return
	}
	if p.uint(boolNumber(*v != nil)) == 0 {
		*v = nil
		return
	}
	bits := uint64(0)
	if *v != nil {
		bits = math.Float64bits(**v)
	}
	f := math.Float64frombits(p.uint(bits))
	*v = &f
}

func integer(p *packer, v, before **int64) {
	same := *v == *before || *v != nil && *before != nil && **v == **before
	if !p.differs(!same) {
		*v = *before
		return
	}
	if p.uint(boolNumber(*v != nil)) == 0 {
		*v = nil
		return
	}
	n := int64(0)
	if *v != nil {
		n = **v
	}
	n = p.int(n)
	*v = &n
}

func boolNumber(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// refs packs a list against the one before: what both begin with takes a
// number.
func (p *packer) refs(v, before *[]agent.Ref) {
	if !p.differs(!slices.Equal(*v, *before)) {
		*v = *before
		return
	}
	shared := 0
	for shared < len(*v) && shared < len(*before) && (*v)[shared] == (*before)[shared] {
		shared++
	}
	shared = int(min(p.uint(uint64(shared)), uint64(len(*before))))
	n := p.count(len(*v) - shared)
	if p.read {
		*v = nil
		if shared+n > 0 {
			*v = append(make([]agent.Ref, 0, shared+n), (*before)[:shared]...)[:shared+n]
		}
	}
	for i := range (*v)[shared:] {
		p.raw((*v)[shared+i][:])
	}
}

// context packs a model's input against the one before it, whatever steps lie
// between: it mostly goes on with it.
func (p *packer) context(v *[]agent.Ref) {
	if !p.differs(len(*v) > 0) {
		*v = nil
		return
	}
	shared := 0
	for shared < len(*v) && shared < len(p.last) && (*v)[shared] == p.last[shared] {
		shared++
	}
	shared = int(min(p.uint(uint64(shared)), uint64(len(p.last))))
	n := p.count(len(*v) - shared)
	if p.read {
		*v = append(make([]agent.Ref, 0, shared+n), p.last[:shared]...)[:shared+n]
	}
	for i := range (*v)[shared:] {
		p.raw((*v)[shared+i][:])
	}
	p.last = *v
}

func (p *packer) strs(v, before *[]string) {
	if !p.differs(!slices.Equal(*v, *before)) {
		*v = *before
		return
	}
	n := p.count(len(*v))
	if p.read {
		*v = nil
		if n > 0 {
			*v = make([]string, n)
		}
	}
	for i := range *v {
		(*v)[i] = p.text((*v)[i])
	}
}

func (p *packer) links(v, before *[]agent.Link) {
	if !p.differs(!slices.Equal(*v, *before)) {
		*v = *before
		return
	}
	n := p.count(len(*v))
	if p.read {
		*v = nil
		if n > 0 {
			*v = make([]agent.Link, n)
		}
	}
	for i := range *v {
		p.raw((*v)[i].Trace[:])
		p.raw((*v)[i].Span[:])
	}
}
