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
// What a hold keeps is none of them while it does. It is safe for concurrent use.
type erasedUnits struct {
	mu    sync.Mutex
	all   map[agent.UnitID]bool // that erasures cover; true: nothing at all is kept
	units map[agent.UnitID]bool // those among them that no hold keeps; never changed, but replaced
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
	if e.all == nil {
		e.all = map[agent.UnitID]bool{}
	}
	for id, full := range fresh {
		e.all[id] = e.all[id] || full
	}
	var kept map[agent.UnitID]bool
	if len(e.all) > 0 {
		if kept, err = s.erasedKept(ctx); err != nil {
			return nil, err
		}
	}
	if len(e.units) != len(e.all)-len(kept) || len(fresh) > 0 || len(kept) > 0 {
		e.units = maps.Clone(e.all)
		maps.DeleteFunc(e.units, func(id agent.UnitID, _ bool) bool { return kept[id] })
	}
	e.read, e.since = now, now.Add(-erasedOverlap).UnixNano()
	return e.units, nil
}

// erasedKept gives the units that an erasure covers and a hold keeps.
func (s *Store) erasedKept(ctx context.Context) (map[agent.UnitID]bool, error) {
	var set column.Set
	tenant := column.Add(&set, "tenant", column.NewDict())
	unit := column.Add(&set, "unit", column.NewString())
	out := map[agent.UnitID]bool{}
	err := s.wire.query(ctx, string(sqlErasedKept), nil, &set, func() error {
		for i := range set.Rows() {
			out[agent.UnitID{Tenant: tenant.Row(i), Unit: unit.Row(i)}] = true
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("erased units that are held: %w", err)
	}
	return out, nil
}

// known gives the erased units without asking the store.
func (e *erasedUnits) known() map[agent.UnitID]bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.units
}

// note notes units that this process erases.
func (e *erasedUnits) note(tenant string, names []string, full bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.all == nil {
		e.all = map[agent.UnitID]bool{}
	}
	e.units = maps.Clone(e.units)
	if e.units == nil {
		e.units = map[agent.UnitID]bool{}
	}
	for _, name := range names {
		id := agent.UnitID{Tenant: tenant, Unit: name}
		e.all[id] = e.all[id] || full
		e.units[id] = e.all[id]
	}
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
	b.late = b.erase(erased) || b.late
	return nil
}

// EraseKnown takes content and identifying fields out of the batch where it is
// for units of which this process knows that they were erased. It asks nobody:
// Insert does.
func (s *Store) EraseKnown(b *Batch) {
	if erased := s.erased.known(); len(erased) > 0 {
		b.erase(erased)
	}
}

// ErasedUnits gives the number of units that erasures cover, of all tenants.
func (s *Store) ErasedUnits(ctx context.Context) (int, error) {
	_, err := s.erased.get(ctx, s)
	s.erased.mu.Lock()
	defer s.erased.mu.Unlock()
	return len(s.erased.all), err
}

// Late reports whether Insert has found content of erased units in the batch,
// and left it out: it has passed whatever the batch came through.
func (b *Batch) Late() bool { return b.late }

// erase replaces the rows of erased units by what stays of them, and reports
// whether there were any.
func (b *Batch) erase(erased map[agent.UnitID]bool) bool {
	hit := false
	for i := range b.steps.Rows() {
		full, ok := erased[agent.UnitID{Tenant: b.steps.tenant.Row(i), Unit: b.steps.unit.Row(i)}]
		hit = hit || ok && (full || !b.steps.erased.Row(i))
	}
	for i := range b.logs.Rows() {
		full, ok := erased[agent.UnitID{Tenant: b.logs.tenant.Row(i), Unit: b.logs.unit.Row(i)}]
		hit = hit || ok && (full || !b.logs.erased.Row(i))
	}
	for i := range b.findings.Rows() {
		_, ok := erased[agent.UnitID{Tenant: b.findings.tenant.Row(i), Unit: b.findings.run.Row(i)}]
		hit = hit || ok
	}
	if !hit {
		return false
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
	out.stored, out.late = b.stored, b.late
	*b = *out
	return true
}

// unitOf is the unit that an item belongs to; of a late finding that of its run.
func (b *Batch) unitOf(from, to ends) (agent.UnitID, bool) {
	if i := int(from[tableSteps]); i < int(to[tableSteps]) {
		return agent.UnitID{Tenant: b.steps.tenant.Row(i), Unit: b.steps.unit.Row(i)}, true
	}
	if i := int(from[tableLogs]); i < int(to[tableLogs]) {
		return agent.UnitID{Tenant: b.logs.tenant.Row(i), Unit: b.logs.unit.Row(i)}, true
	}
	if i := int(from[tableFindings]); i < int(to[tableFindings]) {
		return agent.UnitID{Tenant: b.findings.tenant.Row(i), Unit: b.findings.run.Row(i)}, true
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
