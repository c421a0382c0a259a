package assemble

import (
	"encoding/binary"

	"github.com/steptrail/steptrail/internal/agent"
)

// counts says how often things were seen, by a hash of 64 bits. Two things with
// one hash count as one, which makes a watch look once more than it must.
type counts struct {
	keys []uint64 // 0: free; a power of two
	n    []uint8  // up to 255
	used int
}

// minCounts is the first size of a table.
const minCounts = 64

// add counts a thing and gives how often it was seen by now.
func (c *counts) add(key uint64) int {
	if 4*(c.used+1) > 3*len(c.keys) {
		c.enlarge()
	}
	i := c.slot(key)
	if c.keys[i] == 0 {
		c.keys[i] = key
		c.used++
	}
	if c.n[i] < 255 {
		c.n[i]++
	}
	return int(c.n[i])
}

// get gives how often a thing was seen.
func (c *counts) get(key uint64) int {
	if len(c.keys) == 0 {
		return 0
	}
	return int(c.n[c.slot(key)])
}

// slot is where a key stands, or would.
func (c *counts) slot(key uint64) int {
	mask := len(c.keys) - 1
	i := int(key) & mask // any bits will do
	for c.keys[i] != 0 && c.keys[i] != key {
		i = (i + 1) & mask
	}
	return i
}

func (c *counts) enlarge() {
	old := *c
	size := max(minCounts, 2*len(old.keys))
	c.keys, c.n = make([]uint64, size), make([]uint8, size)
	for i, k := range old.keys {
		if k != 0 {
			at := c.slot(k)
			c.keys[at], c.n[at] = k, old.n[i]
		}
	}
}

// bytes is the memory of the table.
func (c *counts) bytes() int64 { return 9 * int64(len(c.keys)) }

// trait is what a counted thing is.
type trait uint64

const (
	traitCall     trait = iota + 1 // a call with its arguments
	traitSent                      // a call with the hash of its arguments as sent
	traitRequest                   // a call that a model asks for
	traitCallID                    // a call id on a span
	traitRan                       // a call id that a span executes
	traitRanAs                     // and its tool
	traitRead                      // likewise, of a call that only reads
	traitAnswered                  // a call id, or place in a message, that was answered
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

// mixed spreads bits, and is never 0.
func mixed(h uint64) uint64 {
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	h ^= h >> 31
	return max(h, 1)
}

func (k trait) text(texts ...string) uint64 {
	h := uint64(k) * prime1
	for _, s := range texts {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * prime3
		}
		h = (h ^ 0xff) * prime3
	}
	return mixed(h)
}

func (k trait) digest(with uint64, d agent.Digest) uint64 {
	return mixed(uint64(k)*prime1 ^ with ^ binary.LittleEndian.Uint64(d[:8])*prime2 ^ binary.LittleEndian.Uint64(d[8:])*prime3)
}

func (k trait) span(t agent.TraceID, s agent.SpanID) uint64 {
	return mixed(uint64(k)*prime1 ^ binary.LittleEndian.Uint64(t[:8]) ^ binary.LittleEndian.Uint64(t[8:])*prime2 ^ binary.LittleEndian.Uint64(s[:])*prime3)
}

func (k trait) place(r agent.Ref, n int) uint64 {
	return mixed(uint64(k)*prime1 ^ binary.LittleEndian.Uint64(r[:8]) ^ binary.LittleEndian.Uint64(r[8:])*prime2 ^ uint64(n)*prime3)
}
