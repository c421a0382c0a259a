package custody

import (
	"context"
	"slices"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store"
)

// hold copies what the hold covers and has not copied yet, or drops the copies
// once it was released.
func (k *Keeper) hold(ctx context.Context, h *agent.Hold, now time.Time) error {
	known, err := k.store.UnitsOfJob(ctx, store.HoldUnits, h.Tenant, h.ID)
	if err != nil {
		return err
	}
	if h.Event == agent.HoldReleased {
		return k.endHold(ctx, h, known, now)
	}
	since := int64(0) // everything, with the first look of this process
	if at, ok := k.looked[h.ID]; ok {
		since = at.Add(-overlap).UnixNano()
	}
	fresh, err := k.newOfHold(ctx, h, known, since)
	if err != nil {
		return err
	}
	if len(fresh) > 0 { // before their rows, so that no erasure takes them meanwhile
		if err := k.store.AddUnits(ctx, store.HoldUnits, h.Tenant, h.ID, fresh, false, now.UnixNano()); err != nil {
			return err
		}
	}
	copied, err := k.copyHeld(ctx, h, known, fresh, since)
	if err != nil {
		return err
	}
	k.looked[h.ID] = now
	_, runs := split(append(slices.Clone(known), fresh...))
	if h.Event == agent.HoldCopied && copied == 0 && int64(len(runs)) == h.Runs {
		return nil
	}
	h.Event, h.Runs, h.Rows = agent.HoldCopied, int64(len(runs)), h.Rows+copied
	return k.store.WriteHold(ctx, h, now.UnixNano())
}

// newOfHold finds what the hold means and does not cover yet.
func (k *Keeper) newOfHold(ctx context.Context, h *agent.Hold, known []agent.UnitOfRun, since int64) ([]agent.UnitOfRun, error) {
	found, err := k.find(ctx, h.Tenant, h.Selector, since)
	if err != nil {
		return nil, err
	}
	joined, err := k.store.UnitsJoined(ctx, store.HoldUnits, h.Tenant, h.ID)
	if err != nil {
		return nil, err
	}
	return without(append(found, joined...), known), nil
}

// copyHeld copies the rows of new units, and of those that got rows since.
func (k *Keeper) copyHeld(ctx context.Context, h *agent.Hold, known, fresh []agent.UnitOfRun, since int64) (rows int64, err error) {
	work := fresh
	if since == 0 {
		work = append(slices.Clone(known), fresh...)
	} else {
		changed, err := k.store.UnitsChanged(ctx, store.HoldUnits, h.Tenant, h.ID, since)
		if err != nil {
			return 0, err
		}
		for _, u := range known {
			if _, ok := slices.BinarySearch(changed, u.Unit); ok {
				work = append(work, u)
			}
		}
	}
	for part := range slices.Chunk(work, chunk) {
		units, runs := split(part)
		n, err := k.store.CopyHeld(ctx, h.Tenant, units, runs)
		if err != nil {
			return rows, err
		}
		rows += n
	}
	return rows, nil
}

// endHold drops the copies that no other hold needs.
func (k *Keeper) endHold(ctx context.Context, h *agent.Hold, known []agent.UnitOfRun, now time.Time) error {
	live, err := k.store.HeldUnits(ctx, h.Tenant)
	if err != nil {
		return err
	}
	units, runs := map[string]bool{}, map[string]bool{}
	for _, u := range live {
		if u.Job != h.ID {
			units[u.Unit], runs[u.Run] = true, true
		}
	}
	names, ofRuns := split(known)
	names = slices.DeleteFunc(names, func(u string) bool { return units[u] })
	ofRuns = slices.DeleteFunc(ofRuns, func(r string) bool { return runs[r] })
	if err := k.store.DropHeld(ctx, h.Tenant, names, ofRuns); err != nil {
		return err
	}
	delete(k.looked, h.ID)
	if h.Scope == agent.ScopeTarget || h.Scope == agent.ScopeUser {
		if err := k.store.ForgetHold(ctx, h.Tenant, h.ID); err != nil {
			return err
		}
		h.Subject, h.Also = "", ""
	}
	h.Event = agent.HoldEnded
	return k.store.WriteHold(ctx, h, now.UnixNano())
}
