package sweep

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/detect"
)

// stallDefault is how long a run without a wall-time limit may be silent.
const stallDefault = time.Hour

// verdict is what was derived from one group.
type verdict struct {
	group    agent.Group
	runs     []*agent.Run
	acts     []agent.Act
	findings map[string][]agent.Finding // by run
	next     int64                      // Unix nanoseconds, when time alone may change the findings; 0: never
}

// judge derives the runs of the units and writes down what differs from what is
// written.
func (s *Sweeper) judge(ctx context.Context, units []agent.UnitID, now time.Time, forced bool, stats *Stats) error {
	groups, err := s.store.Groups(ctx, units)
	if err != nil {
		return fmt.Errorf("load %d units: %w", len(units), err)
	}
	byTenant := map[string][]*verdict{}
	var tenants []string
	here := make(map[agent.UnitID]bool, len(units))
	for _, g := range groups {
		for _, u := range g.Units {
			here[agent.UnitID{Tenant: g.Tenant, Unit: u}] = true
		}
		if !forced && s.notQuiet(g, now) {
			continue
		}
		v := s.derive(g, now)
		if byTenant[g.Tenant] == nil {
			tenants = append(tenants, g.Tenant)
		}
		byTenant[g.Tenant] = append(byTenant[g.Tenant], v)
		stats.count(v)
	}
	for _, tenant := range tenants {
		if err := s.settle(ctx, tenant, byTenant[tenant], now, stats); err != nil {
			return fmt.Errorf("judge runs of tenant %q: %w", tenant, err)
		}
	}
	for _, id := range units {
		if !here[id] { // its rows have expired
			s.watch.done(id, 0, now)
		}
	}
	return nil
}

// notQuiet puts a group off whose other units still get rows, unless one of its
// units has waited too long for that.
func (s *Sweeper) notQuiet(g agent.Group, now time.Time) bool {
	if now.UnixNano()-g.LastArrival >= int64(s.quiet) {
		return false
	}
	for _, u := range g.Units {
		if s.watch.forced(agent.UnitID{Tenant: g.Tenant, Unit: u}, now) {
			return false
		}
	}
	for _, u := range g.Units {
		s.watch.postpone(agent.UnitID{Tenant: g.Tenant, Unit: u}, g.LastArrival)
	}
	return true
}

func (s *Sweeper) derive(g agent.Group, now time.Time) *verdict {
	silence := now.UnixNano() - g.LastArrival
	g.Input.Quiet = silence >= int64(s.quiet)
	g.Input.Silent = silence >= int64(s.policy.Detection.InFlight)
	v := &verdict{group: g, runs: agent.Runs(g.Input), findings: map[string][]agent.Finding{}}
	for _, r := range v.runs {
		v.acts = append(v.acts, agent.Acts(r)...)
	}
	return v
}

// settle judges a tenant's groups against each other and against history, and
// writes the result.
func (s *Sweeper) settle(ctx context.Context, tenant string, vs []*verdict, now time.Time, stats *Stats) error {
	written, err := s.load(ctx, tenant, vs)
	if err != nil {
		return err
	}
	keys, err := s.keyIndex(ctx, tenant, vs)
	if err != nil {
		return err
	}
	said, err := s.resolutions(ctx, tenant, vs)
	if err != nil {
		return err
	}
	keep := int64(s.policy.Retention(tenant).Findings / time.Second)
	for _, v := range vs {
		for _, r := range v.runs {
			judged := detect.Judge(detect.Input{
				Run: r, Under: keys.under, Policy: s.policy, Now: now.UnixNano(), LastArrival: v.group.LastArrival, Resolutions: said[v],
			})
			if judged.Next != 0 && (v.next == 0 || judged.Next < v.next) {
				v.next = judged.Next
			}
			found := judged.Findings
			for i := range found {
				found[i].Expires = found[i].DetectedAt/int64(time.Second) + keep
			}
			v.findings[r.ID] = found
		}
	}
	var d agent.Derived
	for _, v := range vs {
		s.summarise(v, now, &d)
		s.schedule(v, now, d.Summaries[len(d.Summaries)-len(v.runs):])
	}
	if err := s.keepContent(ctx, tenant, vs, now); err != nil {
		return err
	}
	changed := written.compare(vs, &d)
	news, err := s.news(ctx, tenant, &d)
	if err != nil {
		return err
	}
	if err := s.store.WriteDerived(ctx, uint64(now.UnixNano()), d); err != nil { // after 1970
		return fmt.Errorf("write what was derived: %w", err)
	}
	for _, n := range news {
		s.cfg.Tell(n)
	}
	for _, id := range keys.laterRuns(changed) {
		s.watch.again(id, now)
	}
	for _, v := range vs {
		for _, u := range v.group.Units {
			s.watch.done(agent.UnitID{Tenant: tenant, Unit: u}, int64(len(v.group.Input.Steps)), now)
		}
	}
	stats.Findings += len(d.Findings)
	for i := range d.Findings {
		if d.Findings[i].Status == agent.StatusWithdrawn {
			stats.Withdrawn++
		}
	}
	return nil
}

// resolutions reads what people said of the groups' unknown outcomes.
func (s *Sweeper) resolutions(ctx context.Context, tenant string, vs []*verdict) (map[*verdict][]agent.Resolution, error) {
	of := map[string]*verdict{}
	for _, v := range vs {
		for _, u := range v.group.Units {
			of[u] = v
		}
	}
	said, err := s.store.ResolutionsOf(ctx, tenant, slices.Sorted(maps.Keys(of)))
	if err != nil {
		return nil, fmt.Errorf("read resolutions: %w", err)
	}
	out := map[*verdict][]agent.Resolution{}
	for _, r := range said {
		if v := of[r.Unit]; v != nil {
			out[v] = append(out[v], r)
		}
	}
	return out, nil
}

func (s *Sweeper) summarise(v *verdict, now time.Time, d *agent.Derived) {
	for _, r := range v.runs {
		d.Runs = append(d.Runs, r)
		d.Summaries = append(d.Summaries, agent.Summarise(r, v.findings[r.ID], agent.SummaryTime{
			Now: now.UnixNano(), LastArrival: v.group.LastArrival,
			Quiet: int64(s.quiet), StallAfter: int64(s.stallAfter(r)),
		}))
	}
}

func (s *Sweeper) stallAfter(r *agent.Run) time.Duration {
	if wall := s.policy.Limits(r.Agent, r.TaskType).WallTime; wall > 0 {
		return wall
	}
	return stallDefault
}

// schedule asks for a group to be judged again when only time can change it:
// when it becomes quiet, when a call that nobody saw counts as unknown, when an
// unknown outcome is overdue, when a run stalls.
func (s *Sweeper) schedule(v *verdict, now time.Time, sums []agent.Summary) {
	if len(v.group.Units) == 0 {
		return
	}
	id := agent.UnitID{Tenant: v.group.Tenant, Unit: v.group.Units[0]}
	var at time.Time
	ask := func(wait time.Duration) {
		next := time.Unix(0, v.group.LastArrival).Add(wait)
		if next.After(now) && (at.IsZero() || next.Before(at)) {
			at = next
		}
	}
	if v.next != 0 {
		at = time.Unix(0, v.next)
	}
	for i, r := range v.runs {
		if r.CallsNotSeen > 0 {
			ask(s.policy.Detection.InFlight)
		}
		if sums[i].Status == agent.RunStatusRunning {
			ask(s.quiet)
			ask(s.stallAfter(r))
		}
	}
	if at.IsZero() {
		s.timers.clear(id)
		return
	}
	s.timers.set(id, at)
}

func (st *Stats) count(v *verdict) {
	st.Units += len(v.group.Units)
	st.Runs += len(v.runs)
	if v.group.Truncated {
		st.Truncated++
	}
	for _, r := range v.runs {
		st.Spans += len(r.Spans)
	}
}
