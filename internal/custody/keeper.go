package custody

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store"
)

const (
	// chunk is how many units are worked on with one round of statements.
	chunk = 500
	// lookback is as far as changes are known.
	lookback = 48 * time.Hour
	// overlap is how long an insert may take until it can be read.
	overlap = 2 * time.Minute
)

// Judge derives the runs of units again and writes down what follows.
type Judge func(ctx context.Context, units []agent.UnitID, now time.Time) error

// Keeper works through holds and erasures. It is not safe for concurrent use.
type Keeper struct {
	store *store.Store
	judge Judge
	// judging is held while rows that runs are derived from change, so that no
	// sweep of this process writes down what it read before.
	judging sync.Locker

	forget Forget

	looked  map[agent.JobID]time.Time       // until when a hold's new runs were looked for
	late    time.Time                       // until when late rows of erased units were looked for
	erased  map[agent.JobID]map[string]bool // units that were erased in this process
	cleared map[agent.JobID]*clearing       // erasures whose rows were written anew
}

// clearing is what an erasure waits for after its rows were written anew.
type clearing struct {
	until  int64       // server's time then, Unix seconds
	queued func() bool // whether the queues have forgotten; nil: not asked yet
}

// Forget asks the queues of this process to keep nothing in their files of what
// came until now. The function that it gives reports whether that is so: all of
// it was stored, and the files were written anew since.
type Forget func() (gone func() bool)

// New makes a keeper. judging may be shared with a sweeper of the same process.
// forget is nil where no queue of this process is on disk.
func New(st *store.Store, judge Judge, judging sync.Locker, forget Forget) *Keeper {
	return &Keeper{
		store: st, judge: judge, judging: judging, forget: forget,
		looked: map[agent.JobID]time.Time{}, erased: map[agent.JobID]map[string]bool{}, cleared: map[agent.JobID]*clearing{},
	}
}

// Stats says what one Tick found.
type Stats struct {
	Holds    int // holds that have not ended
	Erasures int // erasures that are not done
	Waiting  int // erasures of them that wait for the end of a hold
}

// Tick does what is to be done at now. One job's error does not keep the others
// from going on, except that nothing of a tenant is erased while it is not known
// what one of its holds covers; what failed is tried again with the next Tick.
func (k *Keeper) Tick(ctx context.Context, now time.Time) (Stats, error) {
	var stats Stats
	// Erasures first: every hold that was placed before one of them is then known.
	jobs, err := k.store.AllErasures(ctx)
	if err != nil {
		return stats, err
	}
	holds, err := k.store.AllHolds(ctx)
	if err != nil {
		return stats, err
	}
	var errs []error
	unsure := map[string]bool{} // tenants
	for i := range holds {
		h := &holds[i]
		if h.Event == agent.HoldEnded {
			continue
		}
		stats.Holds++
		if err := k.hold(ctx, h, now); err != nil {
			errs = append(errs, fmt.Errorf("hold %s: %w", h.ID, err))
			if h.Event < agent.HoldReleased {
				unsure[h.Tenant] = true
			}
		}
	}
	errs = append(errs, k.erasures(ctx, jobs, unsure, now, &stats))
	return stats, errors.Join(errs...)
}

// find gives the runs of the units that the selector means, with all their
// units. It looks at what got rows since.
func (k *Keeper) find(ctx context.Context, tenant string, sel agent.Selector, since int64) ([]agent.UnitOfRun, error) {
	r := k.store.Tenant(tenant)
	if sel.Scope == agent.ScopeRun {
		g, err := r.RunGroup(ctx, sel.Subject)
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return unitsOf(g, func(run *agent.Run) bool { return run.ID == sel.Subject || slices.Contains(run.Units, sel.Subject) }), nil
	}
	names, err := k.store.UnitsMatching(ctx, tenant, sel, since)
	if err != nil {
		return nil, err
	}
	var out []agent.UnitOfRun
	for part := range slices.Chunk(names, chunk) {
		groups, err := r.Groups(ctx, part)
		if err != nil {
			return nil, err
		}
		for _, g := range groups {
			out = append(out, unitsOf(g, sel.Matches)...)
		}
	}
	return out, nil
}

func unitsOf(g agent.Group, matches func(*agent.Run) bool) []agent.UnitOfRun {
	g.Input.Quiet = true
	runs := agent.Runs(g.Input)
	logged := loggedUnits(g, runs)
	var out []agent.UnitOfRun
	for _, run := range runs {
		if !matches(run) {
			continue
		}
		for _, u := range run.Units {
			out = append(out, agent.UnitOfRun{Unit: u, Run: run.ID})
		}
		for _, u := range logged[run] {
			out = append(out, agent.UnitOfRun{Unit: u, Run: run.ID})
		}
	}
	return out
}

// loggedUnits gives of each run the units beside its own in which content of its
// spans may have come as log records: these name a trace and a span, and no run.
// They are those where some has come, and, for what comes later, those of its
// traces that no other run has spans in.
func loggedUnits(g agent.Group, runs []*agent.Run) map[*agent.Run][]string {
	type place struct {
		trace agent.TraceID
		span  agent.SpanID
	}
	at := map[place][]*agent.Run{}
	alone := map[agent.TraceID]*agent.Run{} // nil: what comes in it may be another's
	for _, run := range runs {
		for _, s := range run.Spans {
			k := place{s.Trace, s.Span}
			at[k] = append(at[k], run)
			if other, known := alone[s.Trace]; !known {
				alone[s.Trace] = run
			} else if other != run {
				alone[s.Trace] = nil
			}
		}
	}
	found := map[*agent.Run][]string{}
	for trace, run := range alone {
		if run != nil {
			found[run] = append(found[run], trace.String())
		}
	}
	for _, l := range g.Input.Logs {
		for _, run := range at[place{l.Trace, l.Span}] {
			found[run] = append(found[run], l.Unit)
		}
	}
	for run, units := range found {
		slices.Sort(units)
		found[run] = slices.DeleteFunc(slices.Compact(units), func(u string) bool { return slices.Contains(run.Units, u) })
	}
	return found
}

// without gives what is not known yet, each once.
func without(found, known []agent.UnitOfRun) []agent.UnitOfRun {
	seen := make(map[agent.UnitOfRun]bool, len(known))
	for _, u := range known {
		seen[u] = true
	}
	var out []agent.UnitOfRun
	for _, u := range found {
		if !seen[u] {
			seen[u] = true
			out = append(out, u)
		}
	}
	return out
}

// split gives the names of units and of runs, each once.
func split(of []agent.UnitOfRun) (units, runs []string) {
	for _, u := range of {
		units, runs = append(units, u.Unit), append(runs, u.Run)
	}
	slices.Sort(units)
	slices.Sort(runs)
	return slices.Compact(units), slices.Compact(runs)
}
