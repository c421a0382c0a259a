package redact

// Trigger bits that are no detector's.
const (
	spelling = 1 << 31 // begins another spelling of a text
	digit    = 1 << 30 // begins a row of digit groups
	paired   = 1 << 29 // is the second byte of a pair
	cell     = 1 << 28 // ends a cell of a table
	prefix   = 1 << 27 // is the second byte of what a rule's matches begin with
	flags    = spelling | digit | paired | cell | prefix
)

// triggers tell the places of a text at which there is something to do.
type triggers struct {
	// here and before have a bit in common where a byte and the one before it are
	// such a place: bit 0 for bytes that are one behind any other, one for each
	// second byte of pairs. Two small tables are all that most bytes are looked up in.
	here, before [256]uint64
	// single says what there is to do at a byte, pairs at a byte (high) behind
	// another one.
	single [256]uint32
	pairs  [1 << 16]uint32
	bits   int // given to second bytes so far
}

// next returns the next such place from i on, the text's length for none.
func (t *triggers) next(text string, i int) int {
	var last byte
	if i > 0 && i <= len(text) {
		last = text[i-1]
	}
	for ; i < len(text); i++ {
		c := text[i]
		if t.here[c]&t.before[last] != 0 {
			return i
		}
		last = c
	}
	return len(text)
}

// at returns what there is to do at text[i].
func (t *triggers) at(text string, i int) uint32 {
	hits := t.single[text[i]]
	if hits&paired != 0 && i > 0 {
		hits |= t.pairs[uint(text[i])<<8|uint(text[i-1])]
	}
	return hits
}

// add says what there is to do at a byte.
func (t *triggers) add(c byte, what uint32) {
	t.single[c] |= what
	t.here[c] |= 1
	if t.before[0]&1 == 0 {
		for n := range t.before {
			t.before[n] |= 1
		}
	}
}

// addPair says what there is to do at a byte behind another one.
func (t *triggers) addPair(first, second byte, what uint32) {
	t.pairs[uint(second)<<8|uint(first)] |= what
	t.single[second] |= paired
	bit := t.here[second] &^ 1
	if bit == 0 {
		bit = 1 << (1 + t.bits%63) // two second bytes that share a bit only cost a look
		t.bits++
		t.here[second] |= bit
	}
	t.before[first] |= bit
}
