package store

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// erasedUnits remembers which units were erased, so that what arrives for them
// later is erased before it is stored. It is read again when it is older than
// erasedAge; what slips through before that the next look at the erasure takes.
// It is safe for concurrent use.
type erasedUnits struct {
	mu    sync.Mutex
	units map[agent.UnitID]bool // true: nothing at all is kept
	read  time.Time
	since int64
}

const (
	erasedAge = 2 * time.Second
	// erasedOverlap is how long a row may take until it can be read.
	erasedOverlap = 10 * time.Minute
)

// get gives the erased units. The map is not changed afterwards.
func (e *erasedUnits) get(ctx context.Context, s *Store) (map[agent.UnitID]bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	if now.Sub(e.read) < erasedAge {
		return e.units, nil
	}
	var set column.Set
	tenant := column.Add(&set, "tenant", column.NewDict())
	unit := column.Add(&set, "unit", column.NewString())
	full := column.Add(&set, "full", &column.Bool{})
	fresh := map[agent.UnitID]bool{}
	err := s.wire.query(ctx, string(sqlErasedUnits), params{}.number("since", e.since), &set, func() error {
		for i := range set.Rows() {
			fresh[agent.UnitID{Tenant: tenant.Row(i), Unit: unit.Row(i)}] = full.Row(i)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("erased units: %w", err)
	}
	e.add(fresh)
	e.read, e.since = now, now.Add(-erasedOverlap).UnixNano()
	return e.units, nil
}

// add notes units in a map of its own, if there are new ones.
func (e *erasedUnits) add(fresh map[agent.UnitID]bool) {
	news := false
	for id, full := range fresh {
		had, known := e.units[id]
		news = news || !known || full && !had
	}
	if !news {
		return
	}
	all := make(map[agent.UnitID]bool, len(e.units)+len(fresh))
	maps.Copy(all, e.units)
	for id, full := range fresh {
		all[id] = all[id] || full
	}
	e.units = all
}

// eraseArrivals takes content and identifying fields out of the batch where it
// is for erased units.
func (s *Store) eraseArrivals(ctx context.Context, b *Batch) error {
	if b.done != ([tableCount + 1]bool{}) {
		return nil // begun: what is stored of it is found by the erasure's next look
	}
	erased, err := s.erased.get(ctx, s)
	if err != nil || len(erased) == 0 {
		return err
	}
	b.erase(erased)
	return nil
}

// erase replaces the rows of erased units by what stays of them.
func (b *Batch) erase(erased map[agent.UnitID]bool) {
	hit := false
	for i := range b.steps.Rows() {
		_, ok := erased[agent.UnitID{Tenant: b.steps.tenant.Row(i), Unit: b.steps.unit.Row(i)}]
		hit = hit || ok
	}
	for i := range b.logs.Rows() {
		_, ok := erased[agent.UnitID{Tenant: b.logs.tenant.Row(i), Unit: b.logs.unit.Row(i)}]
		hit = hit || ok
	}
	if !hit {
		return
	}
	out, sc := newBatch(nil), newScrubber()
	out.id = b.id
	for i := range b.steps.Rows() {
		sc.note(b.steps.tool.Row(i), b.steps.stepID.Row(i))
	}
	var from ends
	for i, to := range b.items {
		id, known := b.unitOf(from, to)
		full, ok := erased[id]
		switch {
		case !known || !ok:
			out.Take(b, i, i+1)
		case !full:
			out.takeErased(b, from, to, sc)
		}
		from = to
	}
	out.stored = b.stored
	*b = *out
}

// unitOf is the unit that an item belongs to.
func (b *Batch) unitOf(from, to ends) (agent.UnitID, bool) {
	if i := int(from[tableSteps]); i < int(to[tableSteps]) {
		return agent.UnitID{Tenant: b.steps.tenant.Row(i), Unit: b.steps.unit.Row(i)}, true
	}
	if i := int(from[tableLogs]); i < int(to[tableLogs]) {
		return agent.UnitID{Tenant: b.logs.tenant.Row(i), Unit: b.logs.unit.Row(i)}, true
	}
	return agent.UnitID{}, false
}

// takeErased appends what stays of an item: no bodies, no findings. What joins
// units is ids and stays as it is.
func (b *Batch) takeErased(src *Batch, from, to ends, sc *scrubber) {
	for i := int(from[tableFacts]); i < int(to[tableFacts]); i++ {
		f := sc.message(*src.facts.row(i))
		b.facts.append(src.facts.tenant.Row(i), src.facts.unit.Row(i), int64(src.facts.expires.Row(i)), &f)
	}
	for i := int(from[tableLogs]); i < int(to[tableLogs]); i++ {
		l := sc.log(src.logs.row(i))
		b.logs.append(&l, int64(src.logs.expires.Row(i)))
	}
	b.sets[tableKeys].Take(src.sets[tableKeys], int(from[tableKeys]), int(to[tableKeys]))
	for i := int(from[tableSteps]); i < int(to[tableSteps]); i++ {
		b.steps.append(sc.step(src.steps.row(i)))
	}
	b.end()
}
