package canon

import (
	"hash/maphash"

	"github.com/steptrail/steptrail/internal/agent"
)

// cache remembers messages by two independent hashes of tenant, role and text
// (128 bits, seeds of this process), in two generations: a full one becomes the
// old one, and what is used again moves back into the new one. It never holds
// more than twice its size.
type cache struct {
	seedA, seedB maphash.Seed
	young, old   map[cacheKey]*message
	bytes, limit int
	span         uint64 // number of the current span
}

type cacheKey struct{ a, b uint64 }

// maxCached is the longest message that is remembered, in bytes.
const maxCached = 1 << 18

// entryCost is what an entry takes beside its strings, about.
const entryCost = 400

func newCache(limit int) cache {
	return cache{
		seedA: maphash.MakeSeed(), seedB: maphash.MakeSeed(), limit: limit,
		young: make(map[cacheKey]*message),
	}
}

func (c *cache) key(tenant string, role agent.Role, raw string) cacheKey {
	var k cacheKey
	t := maphash.String(c.seedA, tenant)*16 + uint64(role)
	k.a = maphash.String(c.seedA, raw) + t
	k.b = maphash.String(c.seedB, raw) ^ t
	return k
}

func (c *cache) get(tenant string, role agent.Role, raw string) *message {
	if c.limit == 0 || len(raw) > maxCached {
		return nil
	}
	k := c.key(tenant, role, raw)
	if m := c.young[k]; m != nil {
		return m
	}
	m := c.old[k]
	if m != nil {
		c.add(k, m)
	}
	return m
}

func (c *cache) put(tenant string, role agent.Role, raw string, m *message) {
	if c.limit == 0 || len(raw) > maxCached || m.refused {
		return
	}
	c.add(c.key(tenant, role, raw), m)
}

func (c *cache) add(k cacheKey, m *message) {
	cost := entryCost + len(m.stored) + 96*(len(m.facts.Calls)+len(m.facts.Answers))
	if c.bytes+cost > c.limit {
		c.old, c.young, c.bytes = c.young, make(map[cacheKey]*message, len(c.young)/2), 0
	}
	c.young[k] = m
	c.bytes += cost
}
