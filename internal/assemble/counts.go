package assemble

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/steptrail/steptrail/internal/agent"
)

// counts says how often things were seen, by a hash of 56 bits. Two things with
// one hash count as one, which makes a watch look once more than it must.
type counts struct {
	at   []uint64 // the hash, and below it 8 bits: how often, or marks; 0: free; a power of two
	used int
}

// minCounts is the first size of a table.
const minCounts = 64

// below is the part of an entry that is not of the hash.
const below = 1<<8 - 1

// add counts a thing and gives how often it was seen by now, up to 255.
func (c *counts) add(key uint64) int {
	e := c.entry(key)
	if *e&below < below {
		*e++
	}
	return int(*e & below)
}

// mark adds marks to a thing that is not counted, and gives those that it had.
func (c *counts) mark(key uint64, m mark) (had mark) {
	e := c.entry(key)
	had = mark(*e & below)
	*e |= uint64(m)
	return had
}

// get gives how often a thing was seen.
func (c *counts) get(key uint64) int {
	if len(c.at) == 0 {
		return 0
	}
	return int(c.at[c.slot(key)] & below)
}

// marks gives the marks of a thing.
func (c *counts) marks(key uint64) mark { return mark(c.get(key)) }

// entry is that of a thing, which is made if need be.
func (c *counts) entry(key uint64) *uint64 {
	if 4*(c.used+1) > 3*len(c.at) {
		c.enlarge()
	}
	e := &c.at[c.slot(key)]
	if *e == 0 {
		*e = key &^ below
		c.used++
	}
	return e
}

// slot is where a key stands, or would.
func (c *counts) slot(key uint64) int {
	mask := len(c.at) - 1
	i := int(key>>8) & mask // any bits of the hash will do
	for c.at[i] != 0 && (c.at[i]^key) > below {
		i = (i + 1) & mask
	}
	return i
}

func (c *counts) enlarge() {
	old := c.at
	c.at = make([]uint64, max(minCounts, 2*len(old)))
	for _, e := range old {
		if e != 0 {
			c.at[c.slot(e)] = e
		}
	}
}

// bytes is the memory of the table.
func (c *counts) bytes() int64 { return 8 * int64(len(c.at)) }

// mark is what is known of a call id.
type mark uint8

const (
	markSpan     mark = 1 << iota // a span has it
	markRan                       // a span executes it
	markRead                      // as a call that only reads
	markAnswered                  // it was answered
	markUnsure                    // by what leaves open whether an act took effect, or refuses it
)

// trait is what a counted thing is.
type trait uint64

const (
	traitCall     trait = iota + 1 // a call with its arguments
	traitSent                      // a call with the hash of its arguments as sent
	traitRequest                   // a call that a model asks for
	traitCallID                    // a call id
	traitRanAs                     // a call id that a span executes, and its tool
	traitAnswered                  // a place in a message that was answered
	traitAnswer                    // an answer in its message
	traitResult                    // a result on a span
	traitShown                     // a result in an answer
	traitOutput                    // a model's output
	traitStep                      // a step id
	traitEngine                    // a durable engine's step
	traitGate                      // a step id on a gate's decision
	traitGateHas                   // a step id with what its gate states
	traitInside                    // calls inside a span
	traitName                      // a name of a tool
	traitFinding                   // a kind and anchor
)

const (
	prime1 = 0x9e3779b97f4a7c15
	prime2 = 0xc2b2ae3d27d4eb4f
	prime3 = 0x100000001b3
)

// mixed spreads bits, and is never 0 in what counts compares.
func mixed(h uint64) uint64 {
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	h ^= h >> 31
	return max(h, 1<<8)
}

func (k trait) text(texts ...string) uint64 {
	h := uint64(k) * prime1
	for _, s := range texts {
		h = mixed(h ^ maphash.String(textSeed, s))
	}
	return h
}

// with is a thing together with another that was hashed.
func (k trait) with(x, y uint64) uint64 { return mixed(uint64(k)*prime1 ^ x ^ y*prime2) }

func (k trait) digest(with uint64, d agent.Digest) uint64 {
	return mixed(uint64(k)*prime1 ^ with ^ binary.LittleEndian.Uint64(d[:8])*prime2 ^ binary.LittleEndian.Uint64(d[8:])*prime3)
}

func (k trait) span(t agent.TraceID, s agent.SpanID) uint64 {
	return mixed(uint64(k)*prime1 ^ binary.LittleEndian.Uint64(t[:8]) ^ binary.LittleEndian.Uint64(t[8:])*prime2 ^ binary.LittleEndian.Uint64(s[:])*prime3)
}

func (k trait) place(r agent.Ref, n int) uint64 {
	return mixed(uint64(k)*prime1 ^ binary.LittleEndian.Uint64(r[:8]) ^ binary.LittleEndian.Uint64(r[8:])*prime2 ^ uint64(n)*prime3)
}
