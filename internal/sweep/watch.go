package sweep

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
)

// watch finds out which units changed and decides when each is due. It reads
// run_changes in aligned slices of time and reads every slice again until it is
// older than the overlap, because a slow insert becomes readable late. Inside a
// slice the number of rows of a unit only grows, so a difference is a change.
type watch struct {
	cfg     Config
	quiet   time.Duration
	slice   time.Duration
	next    time.Time // start of the first slice that is still open
	seen    map[int64]map[agent.UnitID]int64
	pending map[agent.UnitID]*waiting
	judged  map[agent.UnitID]judgement // of units that were judged and may go on
}

// waiting is a unit with rows that no judgement has seen.
type waiting struct {
	since  int64 // Unix nanoseconds, first unseen arrival
	newest int64 // Unix nanoseconds, newest arrival
	rows   int64 // unseen rows
	atOnce bool  // due whatever its age
}

type judgement struct {
	at    int64 // Unix nanoseconds
	steps int64
}

func newWatch(cfg Config, quiet time.Duration) *watch {
	return &watch{
		cfg: cfg, quiet: quiet, slice: max(cfg.Overlap/4, time.Second),
		seen:    map[int64]map[agent.UnitID]int64{},
		pending: map[agent.UnitID]*waiting{},
		judged:  map[agent.UnitID]judgement{},
	}
}

// look reads the slices that may have changed.
func (w *watch) look(ctx context.Context, store Store, now time.Time) error {
	if w.next.IsZero() {
		if err := w.catchUp(ctx, store, now); err != nil {
			return err
		}
	}
	// Rows may carry a time slightly ahead of ours: read one slice beyond now.
	for from := w.next; !from.After(now); from = from.Add(w.slice) {
		to := from.Add(w.slice)
		if to.After(now) {
			to = to.Add(w.slice)
		}
		changes, err := store.Changes(ctx, from, to)
		if err != nil {
			return fmt.Errorf("read run_changes: %w", err)
		}
		w.note(from.UnixNano(), changes)
	}
	for ; w.next.Add(w.slice + w.cfg.Overlap).Before(now); w.next = w.next.Add(w.slice) {
		delete(w.seen, w.next.UnixNano())
	}
	maps.DeleteFunc(w.judged, func(_ agent.UnitID, j judgement) bool {
		return j.at < now.Add(-w.cfg.Forced).UnixNano()
	})
	return nil
}

// catchUp reads, with one statement, all that came before the time from which
// slices may still grow.
func (w *watch) catchUp(ctx context.Context, store Store, now time.Time) error {
	start, err := w.start(ctx, store, now)
	if err != nil {
		return err
	}
	open := now.Add(-w.cfg.Overlap - w.slice).Truncate(w.slice)
	if start.Before(open) {
		changes, err := store.Changes(ctx, start, open)
		if err != nil {
			return fmt.Errorf("read run_changes: %w", err)
		}
		w.note(start.UnixNano(), changes)
		delete(w.seen, start.UnixNano())
	}
	w.next = open
	return nil
}

// start is where a new sweeper begins: before the last sweep's oldest possible
// leftover, else as far back as changes are kept.
func (w *watch) start(ctx context.Context, store Store, now time.Time) (time.Time, error) {
	last, err := store.LastSweep(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the last sweep's time: %w", err)
	}
	oldest := now.Add(-w.cfg.Lookback)
	start := last.Add(-w.cfg.Forced - w.cfg.Overlap - w.quiet)
	if last.IsZero() || start.Before(oldest) {
		return oldest, nil
	}
	return start, nil
}

func (w *watch) note(slice int64, changes []agent.Change) {
	known := w.seen[slice]
	if known == nil {
		known = make(map[agent.UnitID]int64, len(changes))
		w.seen[slice] = known
	}
	for _, c := range changes {
		grown := c.Rows - known[c.UnitID]
		if grown <= 0 {
			continue
		}
		known[c.UnitID] = c.Rows
		p := w.pending[c.UnitID]
		if p == nil {
			p = &waiting{since: c.InsertedAt}
			w.pending[c.UnitID] = p
		}
		p.rows += grown
		p.newest = max(p.newest, c.InsertedAt)
	}
}

// again makes a unit due now although nothing new came.
func (w *watch) again(id agent.UnitID, now time.Time) {
	if p := w.pending[id]; p != nil {
		return // it is judged anyway once it is quiet
	}
	w.pending[id] = &waiting{since: now.UnixNano(), atOnce: true}
}

// due lists the units to judge, those that wait longest first.
func (w *watch) due(now time.Time) []agent.UnitID {
	var out []agent.UnitID
	for id, p := range w.pending {
		if w.isDue(id, p, now.UnixNano()) {
			out = append(out, id)
		}
	}
	w.sortOldest(out)
	if over := len(w.pending) - len(out) - w.cfg.MaxPending; over > 0 {
		out = append(out, w.oldestNotIn(out, over)...)
	}
	return out
}

func (w *watch) isDue(id agent.UnitID, p *waiting, now int64) bool {
	if p.atOnce || now-p.newest >= int64(w.quiet) {
		return true
	}
	age := now - p.since
	if age >= int64(w.cfg.Forced) {
		return true
	}
	return age >= int64(w.cfg.GrowAfter) && p.rows*4 >= w.judged[id].steps
}

func (w *watch) oldestNotIn(taken []agent.UnitID, n int) []agent.UnitID {
	skip := make(map[agent.UnitID]bool, len(taken))
	for _, id := range taken {
		skip[id] = true
	}
	rest := make([]agent.UnitID, 0, len(w.pending))
	for id := range w.pending {
		if !skip[id] {
			rest = append(rest, id)
		}
	}
	w.sortOldest(rest)
	rest = rest[:n]
	for _, id := range rest {
		w.pending[id].atOnce = true
	}
	return rest
}

func (w *watch) sortOldest(ids []agent.UnitID) {
	slices.SortFunc(ids, func(a, b agent.UnitID) int {
		return cmp.Or(cmp.Compare(w.pending[a].since, w.pending[b].since),
			cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Unit, b.Unit))
	})
}

// forced reports whether a unit is judged although its group is not quiet.
func (w *watch) forced(id agent.UnitID, now time.Time) bool {
	p := w.pending[id]
	return p != nil && (p.atOnce || now.UnixNano()-p.since >= int64(w.cfg.GrowAfter))
}

// postpone notes a newer arrival in another unit of the group.
func (w *watch) postpone(id agent.UnitID, arrival int64) {
	if p := w.pending[id]; p != nil {
		p.newest = max(p.newest, arrival)
	}
}

// rows is the number of unseen rows of a unit, as a guess at its size.
func (w *watch) rows(id agent.UnitID) int64 {
	if p := w.pending[id]; p != nil {
		return max(p.rows, w.judged[id].steps)
	}
	return 0
}

// done takes a judged unit off the list.
func (w *watch) done(id agent.UnitID, steps int64, now time.Time) {
	delete(w.pending, id)
	w.judged[id] = judgement{at: now.UnixNano(), steps: steps}
}

// backlog counts what waits, and how much longer than the quiet period the
// oldest has waited.
func (w *watch) backlog(now time.Time) (n int, lag time.Duration) {
	for _, p := range w.pending {
		lag = max(lag, time.Duration(now.UnixNano()-p.since)-w.quiet)
	}
	return len(w.pending), lag
}
