package query

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/steptrail/steptrail/internal/agent"
)

const (
	// freshUnits bounds how many changed units one list derives. The sweep
	// judges changes within seconds, so that there are few; where it is behind,
	// the newest go first and the others appear with their summaries.
	freshUnits = 500
	// freshFor is how long a derivation is reused. Together with one round of
	// inserts it stays below the three seconds within which a run must be seen.
	freshFor = 500 * time.Millisecond
	// freshTimeout bounds a derivation, which outlives the request that asked
	// first: others wait for it too.
	freshTimeout = 20 * time.Second
)

// freshRuns keeps the last derivation of each tenant for a moment, so that many
// clients that refresh a list cost one derivation.
type freshRuns struct {
	group singleflight.Group
	mu    sync.Mutex
	last  map[string]changed
}

// changed are the runs that changed after their summary was written.
type changed struct {
	at    time.Time
	runs  []agent.Summary
	ids   map[string]bool
	units map[string]bool // every unit that was derived: stored summaries that hold one are superseded
}

// supersedes reports whether a stored summary is older than what was derived:
// the run itself, or a run whose units have become other runs.
func (c *changed) supersedes(s *agent.Summary) bool {
	return c.ids[s.RunID] || slices.ContainsFunc(s.Units, func(u string) bool { return c.units[u] })
}

// changedRuns derives the tenant's changed runs, or reuses a derivation that is
// younger than freshFor.
func (s *Server) changedRuns(ctx context.Context, tenant string, r Reader) (*changed, error) {
	now := s.opts.Now()
	s.fresh.mu.Lock()
	last, ok := s.fresh.last[tenant]
	s.fresh.mu.Unlock()
	if ok && now.Sub(last.at) < freshFor && !now.Before(last.at) {
		return &last, nil
	}
	result := s.fresh.group.DoChan(tenant, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), freshTimeout)
		defer cancel()
		var c *changed
		err := s.guard(func() (err error) {
			c, err = s.derive(ctx, r, now)
			return err
		})()
		if err != nil {
			return nil, err
		}
		s.fresh.mu.Lock()
		defer s.fresh.mu.Unlock()
		if s.fresh.last == nil {
			s.fresh.last = map[string]changed{}
		}
		for t, v := range s.fresh.last {
			if now.Sub(v.at) > freshFor {
				delete(s.fresh.last, t)
			}
		}
		s.fresh.last[tenant] = *c
		return c, nil
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case v := <-result:
		if v.Err != nil {
			return nil, v.Err
		}
		return v.Val.(*changed), nil //nolint:forcetypeassert // derive's result above
	}
}

func (s *Server) derive(ctx context.Context, r Reader, now time.Time) (*changed, error) {
	groups, err := r.Changed(ctx, freshUnits)
	if err != nil {
		return nil, err
	}
	c := &changed{at: now, ids: map[string]bool{}, units: map[string]bool{}}
	var runs []*agent.Run
	arrived := map[string]int64{}
	for i := range groups {
		g := &groups[i]
		if g.Truncated {
			continue // only part of its runs is here: the sweep's summary is better
		}
		for _, u := range g.Units {
			c.units[u] = true
		}
		for _, run := range agent.Runs(s.awaited(g, now)) {
			if !c.ids[run.ID] {
				c.ids[run.ID] = true
				runs, arrived[run.ID] = append(runs, run), g.LastArrival
			}
		}
	}
	found, err := findingsOf(ctx, r, slices.Collect(maps.Keys(c.ids)))
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		c.runs = append(c.runs, s.summarise(run, found[run.ID], arrived[run.ID], now))
	}
	s.metrics.fresh.Add(float64(len(runs)))
	return c, nil
}

// awaited says in the group's input how long nothing came, as derivation judges
// calls without an answer by it.
func (s *Server) awaited(g *agent.Group, now time.Time) agent.Input {
	in := g.Input
	still := now.Sub(time.Unix(0, g.LastArrival))
	in.Quiet = still >= s.opts.Timing.Quiet
	in.Silent = still >= s.opts.Timing.InFlight
	return in
}

func (s *Server) summarise(run *agent.Run, found []agent.Finding, lastArrival int64, now time.Time) agent.Summary {
	return agent.Summarise(run, found, agent.SummaryTime{
		Now: now.UnixNano(), LastArrival: lastArrival, Quiet: int64(s.opts.Timing.Quiet),
		StallAfter: int64(s.opts.Timing.StallAfter(run.Agent, run.TaskType)),
	})
}

// before orders runs as the filter asks.
func (f *RunFilter) before(a, b RunKey) int {
	c := cmp.Or(cmp.Compare(a.Started, b.Started), strings.Compare(a.RunID, b.RunID))
	if f.Ascending {
		return c
	}
	return -c
}

func keyOf(s *agent.Summary) RunKey { return RunKey{Started: s.Started, RunID: s.RunID} }

// matches says what Summaries of a store says in SQL, for runs that have no
// stored summary yet.
func (f *RunFilter) matches(s *agent.Summary) bool {
	return (f.From == 0 || s.Started >= f.From) && (f.To == 0 || s.Started < f.To) &&
		(f.Trace.IsZero() || slices.Contains(s.Traces, f.Trace)) &&
		same(f.Agent, s.Agent) && same(f.TaskType, s.TaskType) && oneIn(f.User, s.User) && oneIn(f.Session, s.Session) && same(f.Scenario, s.Scenario) &&
		(f.Status == agent.RunStatusUnset || f.Status == s.Status) &&
		(f.Outcome == agent.RunOutcomeUnset || f.Outcome == s.Outcome) &&
		(!f.Unstated || s.Outcome == agent.RunOutcomeUnset) &&
		(f.Finding == "" || s.Findings[f.Finding] > 0) &&
		in(f.Tool, s.Tools) && anyIn(f.Target, s.Targets) && in(f.Model, s.Models) && in(f.PromptVersion, s.PromptVersions) &&
		(f.After.IsZero() || f.before(f.After, keyOf(s)) < 0)
}

func oneIn(wanted []string, have string) bool {
	return len(wanted) == 0 || slices.Contains(wanted, have)
}

func anyIn(wanted, have []string) bool {
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(w string) bool { return slices.Contains(have, w) })
}

func same(want, have string) bool { return want == "" || want == have }

func in(want string, have []string) bool { return want == "" || slices.Contains(have, want) }
