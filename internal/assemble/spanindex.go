package assemble

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/steptrail/steptrail/internal/agent"
)

// spanIndex finds numbered things by the hash of their span: a table without
// pointers, in which most spans that are not here are told without a look at those
// that are.
type spanIndex struct {
	slots []uint64 // upper half of the hash, then number + 1; 0: free; a power of two
	used  int
}

// minSlots is the first size of a table.
const minSlots = 64

// Spans choose their ids, and know nothing of these numbers.
var (
	spanSeed  = maphash.Comparable(textSeed, 1) | 1
	traceSeed = maphash.Comparable(textSeed, 2)
)

func spanHash(t agent.TraceID, s agent.SpanID) uint64 {
	h := binary.LittleEndian.Uint64(s[:])*spanSeed ^ binary.LittleEndian.Uint64(t[:8]) ^ traceSeed
	return mixed(mixed(h) ^ binary.LittleEndian.Uint64(t[8:]))
}

// find gives the number of a thing; -1 if none of those with its hash is it.
func (x *spanIndex) find(hash uint64, is func(n int) bool) int {
	if x.used == 0 {
		return -1
	}
	mask := len(x.slots) - 1
	for i := int(hash>>32) & mask; x.slots[i] != 0; i = (i + 1) & mask {
		if e := x.slots[i]; e>>32 == hash>>32 {
			if n := int(uint32(e)) - 1; is(n) {
				return n
			}
		}
	}
	return -1
}

// add numbers a thing that is not here.
func (x *spanIndex) add(hash uint64, n int) {
	if 4*(x.used+1) > 3*len(x.slots) {
		old := x.slots
		x.slots = make([]uint64, max(minSlots, 2*len(old)))
		for _, e := range old {
			if e != 0 {
				x.put(e)
			}
		}
	}
	x.put(hash>>32<<32 | uint64(n+1))
	x.used++
}

func (x *spanIndex) put(e uint64) {
	mask := len(x.slots) - 1
	i := int(e>>32) & mask
	for x.slots[i] != 0 {
		i = (i + 1) & mask
	}
	x.slots[i] = e
}

// reset forgets all.
func (x *spanIndex) reset() {
	clear(x.slots)
	x.used = 0
}

func (x *spanIndex) bytes() int64 { return 8 * int64(len(x.slots)) }
