package assemble

import "hash/maphash"

// textTable numbers the strings of a packed text by where they stand in it, so
// that it holds none of them and nothing that the garbage collector reads.
type textTable struct {
	at    []textPlace // by number
	slots []uint32    // number + 1 by hash; 0: free; a power of two
}

type textPlace struct{ from, size uint32 }

// minTexts is the first size of a table.
const minTexts = 32

var textSeed = maphash.MakeSeed() // what is packed does not depend on it

// find gives the number of a string; -1 if it has none. slot is where it belongs.
func (t *textTable) find(out []byte, s string) (number int, slot int) {
	if 4*(len(t.at)+1) > 3*len(t.slots) {
		t.enlarge(out)
	}
	mask := len(t.slots) - 1
	i := int(maphash.String(textSeed, s)) & mask
	for ; t.slots[i] != 0; i = (i + 1) & mask {
		n := int(t.slots[i] - 1)
		if p := t.at[n]; string(out[p.from:p.from+p.size]) == s {
			return n, i
		}
	}
	return -1, i
}

// add numbers a string that was written.
func (t *textTable) add(slot, from, size int) {
	t.at = append(t.at, textPlace{uint32(from), uint32(size)})
	t.slots[slot] = uint32(len(t.at))
}

func (t *textTable) enlarge(out []byte) {
	if t.at == nil {
		t.at = make([]textPlace, 0, minTexts/2)
	}
	t.slots = make([]uint32, max(minTexts, 2*len(t.slots)))
	mask := len(t.slots) - 1
	for n, p := range t.at {
		i := int(maphash.Bytes(textSeed, out[p.from:p.from+p.size])) & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = uint32(n + 1)
	}
}

// reset forgets all strings.
func (t *textTable) reset() {
	t.at = t.at[:0]
	clear(t.slots)
}

func (t *textTable) bytes() int64 { return 8*int64(cap(t.at)) + 4*int64(len(t.slots)) }
