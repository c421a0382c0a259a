package sweep

import (
	"container/heap"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
)

// maxTimers bounds the runs that wait for what only time can raise. Beyond it
// the latest deadlines are not kept; a restart reads them again.
const maxTimers = 1 << 20

// timers is one heap of units to judge again at a time, for all of them.
type timers struct {
	heap deadlines
	at   map[agent.UnitID]int64 // the deadline that counts
}

// set asks for the unit to be judged again at a time; an earlier deadline of
// the unit is replaced.
func (t *timers) set(id agent.UnitID, at time.Time) {
	if t.at == nil {
		t.at = map[agent.UnitID]int64{}
	}
	if _, known := t.at[id]; !known && len(t.at) >= maxTimers {
		return
	}
	if t.at[id] == at.UnixNano() {
		return
	}
	t.at[id] = at.UnixNano()
	heap.Push(&t.heap, deadline{at.UnixNano(), id})
}

// clear forgets the unit's deadline.
func (t *timers) clear(id agent.UnitID) { delete(t.at, id) }

// popDue gives the units whose deadline has come.
func (t *timers) popDue(now time.Time) []agent.UnitID {
	var due []agent.UnitID
	for len(t.heap) > 0 && t.heap[0].at <= now.UnixNano() {
		d := heap.Pop(&t.heap).(deadline) // the heap holds nothing else
		if t.at[d.id] == d.at {
			delete(t.at, d.id)
			due = append(due, d.id)
		}
	}
	return due
}

type deadline struct {
	at int64
	id agent.UnitID
}

type deadlines []deadline

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].at < d[j].at }
func (d deadlines) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *deadlines) Push(x any)        { *d = append(*d, x.(deadline)) } // only set pushes
func (d *deadlines) Pop() any {
	old := *d
	x := old[len(old)-1]
	*d = old[:len(old)-1]
	return x
}
