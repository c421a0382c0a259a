package assemble

import (
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
)

// refs packs a list against the one before: what both begin with takes a
// number.
func (p *packer) refs(v, at *[]agent.Ref) {
	if !p.differs(!slices.Equal(*v, *at)) {
		return
	}
	shared := 0
	if !p.read {
		shared = common(*v, *at)
	}
	shared = int(min(p.uint(uint64(shared)), uint64(len(*at))))
	n := p.count(len(*v) - shared)
	var list []agent.Ref
	if shared+n > 0 {
		list = append(make([]agent.Ref, 0, shared+n), (*at)[:shared]...)[:shared+n]
	}
	if !p.read {
		copy(list[shared:], (*v)[shared:])
	}
	for i := range list[shared:] {
		p.raw(list[shared+i][:])
	}
	*at = list
}

// common is how many messages two lists begin with alike.
func common(x, y []agent.Ref) (n int) {
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}

// context packs a model's input against the one before it, whatever steps lie
// between: it mostly goes on with it.
func (p *packer) context(v, at *[]agent.Ref) {
	if !p.differs(len(*v) > 0) {
		*at = nil
		return
	}
	shared := 0
	if !p.read {
		shared = common(*v, p.last)
	}
	shared = int(min(p.uint(uint64(shared)), uint64(len(p.last))))
	n := p.count(len(*v) - shared)
	if shared < len(p.last) { // who has the last one has what follows
		p.last = append(make([]agent.Ref, 0, shared+n), p.last[:shared]...)
	}
	p.last = slices.Grow(p.last, n)[:shared+n]
	if !p.read {
		copy(p.last[shared:], (*v)[shared:])
	}
	for i := range p.last[shared:] {
		p.raw(p.last[shared+i][:])
	}
	*at = slices.Clip(p.last)
}

func (p *packer) strs(v, at *[]string) {
	listOf(p, v, at, ownAll, func(s *string) { *s = p.text(*s) })
}

func (p *packer) links(v, at *[]agent.Link) {
	listOf(p, v, at, slices.Clone, func(l *agent.Link) {
		p.raw(l.Trace[:])
		p.raw(l.Span[:])
	})
}

// listOf packs a list as a whole where it differs from the one before. own copies it,
// item packs or unpacks one of it in place.
func listOf[T comparable](p *packer, v, at *[]T, own func([]T) []T, item func(*T)) {
	if !p.differs(!slices.Equal(*v, *at)) {
		return
	}
	switch n := p.count(len(*v)); {
	case !p.read:
		*at = own(*v)
	case n > 0:
		*at = make([]T, n)
	default:
		*at = nil
	}
	for i := range *at {
		item(&(*at)[i])
	}
}
