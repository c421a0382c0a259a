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
// What a hold keeps is none of them while it does. It is safe for concurrent use,
// and who only wants what is known never waits for the store.
type erasedUnits struct {
	asking chan struct{} // one token: who asks the store
	since  int64         // what was noted before was read; of who asks

	mu      sync.Mutex
	all     map[agent.UnitID]bool // that erasures cover; true: nothing at all is kept
	kept    map[agent.UnitID]bool // by holds, when units were taken from all
	units   map[agent.UnitID]bool // those among all that no hold keeps; never changed, but replaced
	changes int                   // how often it was
	read    time.Time
}

const (
	erasedAge = 2 * time.Second
	// erasedOverlap is how long a row may take until it can be read.
	erasedOverlap = 10 * time.Minute
)

func newErasedUnits() erasedUnits {
	return erasedUnits{asking: make(chan struct{}, 1), all: map[agent.UnitID]bool{}}
}

// get gives the erased units, and asks the store where it did not lately. The map
// is not changed afterwards.
func (e *erasedUnits) get(ctx context.Context, s *Store) (map[agent.UnitID]bool, error) {
	if units, ok := e.recent(); ok {
		return units, nil
	}
	select {
	case e.asking <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("erased units: %w", ctx.Err())
	}
	defer func() { <-e.asking }()
	if units, ok := e.recent(); ok { // somebody else asked meanwhile
		return units, nil
	}
	now := time.Now()
	fresh, err := s.erasedSince(ctx, e.since)
	if err != nil {
		return nil, err
	}
	var kept map[agent.UnitID]bool
	if len(fresh) > 0 || e.any() {
		if kept, err = s.erasedKept(ctx); err != nil {
			return nil, err
		}
	}
	e.since = now.Add(-erasedOverlap).UnixNano()
	return e.update(fresh, kept, now), nil
}

// recent gives the erased units, and whether they were read lately.
func (e *erasedUnits) recent() (units map[agent.UnitID]bool, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.units, time.Since(e.read) < erasedAge
}

// update takes in what the store said.
func (e *erasedUnits) update(fresh, kept map[agent.UnitID]bool, read time.Time) map[agent.UnitID]bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	changed := !maps.Equal(kept, e.kept)
	for id, full := range fresh {
		if had, known := e.all[id]; !known || full && !had {
			e.all[id], changed = full, true
		}
	}
	if changed {
		e.changes++
		e.units = maps.Clone(e.all)
		maps.DeleteFunc(e.units, func(id agent.UnitID, _ bool) bool { return kept[id] })
	}
	e.kept, e.read = kept, read
	return e.units
}

// known gives the erased units without asking the store.
func (e *erasedUnits) known() map[agent.UnitID]bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.units
}

// any reports whether erasures cover any unit, as far as known.
func (e *erasedUnits) any() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.all) > 0
}

func (e *erasedUnits) generation() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changes
}

// note notes units that this process erases.
func (e *erasedUnits) note(tenant string, names []string, full bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changes++
	if e.units = maps.Clone(e.units); e.units == nil {
		e.units = map[agent.UnitID]bool{}
	}
	for _, name := range names {
		id := agent.UnitID{Tenant: tenant, Unit: name}
		e.all[id] = e.all[id] || full
		e.units[id] = e.all[id]
	}
	e.kept = nil // the next read says anew which of them are held
}

// erasedSince gives the units of all tenants that were noted as erased since, Unix
// nanoseconds; true: nothing at all is kept.
func (s *Store) erasedSince(ctx context.Context, since int64) (map[agent.UnitID]bool, error) {
	var set column.Set
	tenant := column.Add(&set, "tenant", column.NewDict())
	unit := column.Add(&set, "unit", column.NewString())
	full := column.Add(&set, "full", &column.Bool{})
	out := map[agent.UnitID]bool{}
	err := s.wire.query(ctx, string(sqlErasedUnits), params{}.number("since", since), &set, func() error {
		for i := range set.Rows() {
			out[agent.UnitID{Tenant: tenant.Row(i), Unit: unit.Row(i)}] = full.Row(i)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("erased units: %w", err)
	}
	return out, nil
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
