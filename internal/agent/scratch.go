package agent

import "sync"

// scratch is memory that a derivation needs and its result does not. It is used
// again by the next one; what holds pointers is cleared first, and nothing of it
// stands in a Run.
type scratch struct {
	nodes   []node
	order   []int32
	all     []int32
	cands   []cand
	steps   []stepGroup
	ordered []int32
	members []int32
	tails   []laneTail
}

// maxScratch is how many spans the kept memory is for: larger inputs give
// theirs back to the collector.
const maxScratch = 1 << 13

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func getScratch() *scratch { return scratches.Get().(*scratch) }

func putScratch(s *scratch) {
	if cap(s.nodes) > maxScratch || cap(s.cands) > maxScratch {
		return
	}
	clear(s.cands[:cap(s.cands)])
	clear(s.steps[:cap(s.steps)])
	scratches.Put(s)
}

// sized gives a slice of n zero values, in the memory of s where that suffices.
func sized[T any](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n, n+n/4)
		return *s
	}
	*s = (*s)[:n]
	clear(*s)
	return *s
}
