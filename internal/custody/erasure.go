package custody

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store"
)

// erasures does the next step of every erasure, and erases what came late. It
// erases nothing of unsure tenants, of which a hold may cover more than is noted.
func (k *Keeper) erasures(ctx context.Context, jobs []agent.Erasure, unsure map[string]bool, now time.Time, stats *Stats) error {
	if len(jobs) == 0 {
		return nil
	}
	var errs []error
	errs = append(errs, k.lateRows(ctx, jobs, unsure, now))
	for i := range jobs {
		e := &jobs[i]
		if e.Event == agent.ErasureDone {
			continue
		}
		stats.Erasures++
		if err := k.erasure(ctx, e, unsure[e.Tenant], now); err != nil {
			errs = append(errs, fmt.Errorf("erasure %s: %w", e.ID, err))
		}
		if e.Waiting > 0 {
			stats.Waiting++
		}
	}
	return errors.Join(errs...)
}

func (k *Keeper) erasure(ctx context.Context, e *agent.Erasure, unsure bool, now time.Time) error {
	if e.Event == agent.ErasureRequested {
		if err := k.resolve(ctx, e, now); err != nil {
			return err
		}
	}
	if e.Event == agent.ErasureResolved && !unsure {
		if err := k.eraseCovered(ctx, e, now); err != nil {
			return err
		}
	}
	if e.Event == agent.ErasureErased {
		return k.finish(ctx, e, now)
	}
	return nil
}

// resolve notes which runs are meant, and forgets whom the request named.
func (k *Keeper) resolve(ctx context.Context, e *agent.Erasure, now time.Time) error {
	if e.Scope == agent.ScopeRun || e.Subject != "" { // else an earlier try came this far
		found, err := k.find(ctx, e.Tenant, e.Selector, 0)
		if err != nil {
			return err
		}
		known, err := k.store.UnitsOfJob(ctx, store.ErasureUnits, e.Tenant, e.ID)
		if err != nil {
			return err
		}
		if fresh := without(found, known); len(fresh) > 0 {
			if err := k.store.AddUnits(ctx, store.ErasureUnits, e.Tenant, e.ID, fresh, e.Full, now.UnixNano()); err != nil {
				return err
			}
		}
	}
	if e.Scope != agent.ScopeRun {
		if err := k.store.ForgetSubject(ctx, e.Tenant, e.ID); err != nil {
			return err
		}
		e.Subject, e.Also = "", ""
	}
	return k.advance(ctx, e, agent.ErasureResolved, now)
}

func (k *Keeper) advance(ctx context.Context, e *agent.Erasure, to agent.ErasureEvent, now time.Time) error {
	e.Event = to
	return k.store.WriteErasure(ctx, e, now.UnixNano()+int64(to)) // steps of one Tick in their order
}

// eraseCovered erases the units that no hold keeps. While one does, the erasure
// stays where it is.
func (k *Keeper) eraseCovered(ctx context.Context, e *agent.Erasure, now time.Time) error {
	covered, err := k.store.UnitsOfJob(ctx, store.ErasureUnits, e.Tenant, e.ID)
	if err != nil {
		return err
	}
	free, held, err := k.apart(ctx, e.Tenant, covered)
	if err != nil {
		return err
	}
	done := k.erased[e.ID]
	if done == nil {
		done = map[string]bool{}
		k.erased[e.ID] = done
	}
	free = slices.DeleteFunc(free, func(u agent.UnitOfRun) bool { return done[u.Unit] })
	if err := k.erase(ctx, e, free, now); err != nil {
		return err
	}
	for _, u := range free {
		done[u.Unit] = true
	}
	waiting := int64(len(held))
	if waiting == 0 {
		delete(k.erased, e.ID)
		e.Waiting = 0
		return k.advance(ctx, e, agent.ErasureErased, now)
	}
	if e.Waiting != waiting {
		e.Waiting = waiting
		return k.advance(ctx, e, agent.ErasureResolved, now)
	}
	return nil
}

// apart tells what a hold keeps, whole runs of it, from the rest.
func (k *Keeper) apart(ctx context.Context, tenant string, covered []agent.UnitOfRun) (free, held []agent.UnitOfRun, err error) {
	live, err := k.store.HeldUnits(ctx, tenant)
	if err != nil {
		return nil, nil, err
	}
	units, runs := map[string]bool{}, map[string]bool{}
	for _, u := range live {
		units[u.Unit], runs[u.Run] = true, true
	}
	for _, u := range covered {
		if units[u.Unit] {
			runs[u.Run] = true
		}
	}
	kept := map[string]bool{}
	for _, u := range covered {
		if runs[u.Run] {
			kept[u.Unit] = true
		}
	}
	for _, u := range covered {
		if kept[u.Unit] || runs[u.Run] {
			held = append(held, u)
		} else {
			free = append(free, u)
		}
	}
	return free, held, nil
}

// erase erases units and has them judged again from what is left.
func (k *Keeper) erase(ctx context.Context, e *agent.Erasure, of []agent.UnitOfRun, now time.Time) error {
	for part := range slices.Chunk(of, chunk) {
		if err := k.eraseChunk(ctx, e, part, now); err != nil {
			return err
		}
	}
	return nil
}

func (k *Keeper) eraseChunk(ctx context.Context, e *agent.Erasure, of []agent.UnitOfRun, now time.Time) error {
	k.judging.Lock()
	defer k.judging.Unlock()
	units, runs, err := k.store.ErasedRuns(ctx, e.Tenant, of)
	if err != nil {
		return err
	}
	if err := k.store.Erase(ctx, e.Tenant, e.ID, units, runs, e.Full, now.UnixNano()); err != nil {
		return err
	}
	delete(k.cleared, e.ID)
	ids := make([]agent.UnitID, len(units))
	for i, u := range units {
		ids[i] = agent.UnitID{Tenant: e.Tenant, Unit: u}
	}
	return k.judge(ctx, ids, now)
}

// finish waits until the parts that were replaced are gone from the disk, and
// the queues' files are written anew.
func (k *Keeper) finish(ctx context.Context, e *agent.Erasure, now time.Time) error {
	w := k.cleared[e.ID]
	switch {
	case w == nil:
		until, err := k.store.ServerTime(ctx)
		if err != nil {
			return err
		}
		w = &clearing{until: until}
		k.cleared[e.ID] = w
	case w.queued == nil && k.forget != nil:
		// With the second look: a request that was being read when the units were
		// noted is in the queue by now, others are erased before they get there.
		w.queued = k.forget()
	}
	gone, err := k.store.PartsGone(ctx, w.until)
	if err != nil || !gone {
		return err
	}
	if k.forget != nil && (w.queued == nil || !w.queued()) {
		return nil
	}
	delete(k.cleared, e.ID)
	e.Done = now.UnixNano()
	return k.advance(ctx, e, agent.ErasureDone, now)
}

// lateRows erases what came for units after they were erased: rows that passed a
// collector which did not know yet, and units that the sweep has found to belong
// to an erased run since.
func (k *Keeper) lateRows(ctx context.Context, jobs []agent.Erasure, unsure map[string]bool, now time.Time) error {
	if len(unsure) > 0 {
		return nil // they are looked for from the same time on with the next Tick
	}
	since := now.Add(-lookback)
	if !k.late.IsZero() {
		since = k.late.Add(-overlap)
	}
	late, err := k.store.ErasedChanged(ctx, since.UnixNano())
	if err != nil {
		return err
	}
	of := map[agent.JobID][]agent.UnitOfRun{}
	for _, u := range late {
		of[u.Job] = append(of[u.Job], u.UnitOfRun)
	}
	for i := range jobs {
		e := &jobs[i]
		if e.Event < agent.ErasureErased || len(of[e.ID]) == 0 {
			continue // those before are erased whole
		}
		if err := k.eraseLate(ctx, e, of[e.ID], now); err != nil {
			return fmt.Errorf("late rows of erasure %s: %w", e.ID, err)
		}
	}
	k.late = now
	return nil
}

func (k *Keeper) eraseLate(ctx context.Context, e *agent.Erasure, of []agent.UnitOfRun, now time.Time) error {
	known, err := k.store.UnitsOfJob(ctx, store.ErasureUnits, e.Tenant, e.ID)
	if err != nil {
		return err
	}
	if fresh := without(of, known); len(fresh) > 0 {
		if err := k.store.AddUnits(ctx, store.ErasureUnits, e.Tenant, e.ID, fresh, e.Full, now.UnixNano()); err != nil {
			return err
		}
	}
	units, runs, err := k.store.ErasedRuns(ctx, e.Tenant, of)
	if err != nil {
		return err
	}
	needs, err := k.store.NeedsErasing(ctx, e.Tenant, units, runs, e.Full)
	if err != nil || !needs {
		return err
	}
	free, held, err := k.apart(ctx, e.Tenant, of)
	if err != nil {
		return err
	}
	if err := k.erase(ctx, e, free, now); err != nil {
		return err
	}
	e.Done, e.Waiting = 0, int64(len(held))
	if e.Waiting > 0 {
		return k.advance(ctx, e, agent.ErasureResolved, now)
	}
	return k.advance(ctx, e, agent.ErasureErased, now)
}
