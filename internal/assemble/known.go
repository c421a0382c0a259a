package assemble

import "github.com/steptrail/steptrail/internal/agent"

// known remembers which findings were reported, the newest so many of them.
type known struct {
	at   map[agent.FindingID]struct{}
	ring []agent.FindingID
	next int
	max  int
}

func newKnown(most int) known {
	return known{at: map[agent.FindingID]struct{}{}, max: max(most, 1)}
}

// add remembers an id and reports whether it is new.
func (k *known) add(id agent.FindingID) bool {
	if _, ok := k.at[id]; ok {
		return false
	}
	if len(k.ring) < k.max {
		k.ring = append(k.ring, id)
	} else {
		delete(k.at, k.ring[k.next])
		k.ring[k.next] = id
		k.next = (k.next + 1) % k.max
	}
	k.at[id] = struct{}{}
	return true
}
