package sweep

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
)

// memStore is a store in memory: what the sweep reads and writes, without SQL.
type memStore struct {
	kept []agent.KeptContent // content that sampling had left out

	rows      []memRow
	links     map[[3]string]agent.RunLink
	acts      map[actName]agent.Act
	findings  map[agent.FindingID]agent.StoredFinding
	summaries map[string]agent.Summary
	gone      map[string]string
	said      []agent.Resolution
	touched   []memTouch // units with news that are no span
	version   uint64
	writes    []agent.Derived
	fail      error
	failWrite error // of WriteDerived alone
	reads     int   // calls of Changes
}

var errStore = errors.New("the store is away")

type memRow struct {
	step     *agent.Step
	inserted time.Time
}

// memTouch is a row of run_changes without a span.
type memTouch struct {
	unit     agent.UnitID
	inserted time.Time
}

func newMemStore() *memStore {
	return &memStore{
		links: map[[3]string]agent.RunLink{}, acts: map[actName]agent.Act{},
		findings: map[agent.FindingID]agent.StoredFinding{}, summaries: map[string]agent.Summary{}, gone: map[string]string{},
	}
}

func (m *memStore) insert(at time.Time, steps ...*agent.Step) {
	for _, s := range steps {
		m.rows = append(m.rows, memRow{s, at})
	}
}

func (m *memStore) Changes(_ context.Context, from, to time.Time) ([]agent.Change, error) {
	m.reads++
	byUnit := map[agent.UnitID]*agent.Change{}
	var ids []agent.UnitID
	touched := slices.Clone(m.touched)
	for _, r := range m.rows {
		touched = append(touched, memTouch{agent.UnitID{Tenant: r.step.Tenant, Unit: r.step.Unit}, r.inserted})
	}
	for _, r := range touched {
		if r.inserted.Before(from) || !r.inserted.Before(to) {
			continue
		}
		id := r.unit
		if byUnit[id] == nil {
			byUnit[id] = &agent.Change{UnitID: id}
			ids = append(ids, id)
		}
		byUnit[id].Rows++
		byUnit[id].InsertedAt = max(byUnit[id].InsertedAt, r.inserted.UnixNano())
	}
	var out []agent.Change
	for _, id := range ids {
		out = append(out, *byUnit[id])
	}
	return out, m.fail
}

// Groups joins units that share a trace.
func (m *memStore) Groups(_ context.Context, units []agent.UnitID) ([]agent.Group, error) {
	var groups []agent.Group
	taken := map[string]bool{}
	for _, id := range units {
		if taken[id.Unit] {
			continue
		}
		g := agent.Group{Tenant: id.Tenant}
		in := map[string]bool{id.Unit: true}
		for grown := true; grown; {
			grown = false
			traces := map[agent.TraceID]bool{}
			for _, r := range m.rows {
				if in[r.step.Unit] {
					traces[r.step.Trace] = true
				}
			}
			for _, r := range m.rows {
				if traces[r.step.Trace] && !in[r.step.Unit] && r.step.Tenant == id.Tenant {
					in[r.step.Unit], grown = true, true
				}
			}
		}
		for _, r := range m.rows {
			if in[r.step.Unit] && r.step.Tenant == id.Tenant {
				g.Input.Steps = append(g.Input.Steps, r.step)
				g.LastArrival = max(g.LastArrival, r.inserted.UnixNano())
			}
		}
		if len(g.Input.Steps) == 0 {
			continue
		}
		for u := range in {
			g.Units = append(g.Units, u)
			taken[u] = true
		}
		slices.Sort(g.Units)
		groups = append(groups, g)
	}
	return groups, nil
}

func (m *memStore) ActsUnderKeys(_ context.Context, tenant string, keys []string) ([]agent.Act, error) {
	return m.actsWhere(func(a agent.Act) bool { return a.Tenant == tenant && slices.Contains(keys, a.Key) }), nil
}

func (m *memStore) ActsOf(_ context.Context, tenant string, units []string) ([]agent.Act, error) {
	return m.actsWhere(func(a agent.Act) bool { return a.Tenant == tenant && slices.Contains(units, a.Unit) }), nil
}

func (m *memStore) actsWhere(keep func(agent.Act) bool) []agent.Act {
	var out []agent.Act
	for _, a := range m.acts {
		if keep(a) {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, compareActs)
	return out
}

func (m *memStore) FindingsOf(_ context.Context, tenant string, runs []string) ([]agent.StoredFinding, error) {
	var out []agent.StoredFinding
	for _, f := range m.findings {
		if f.Tenant == tenant && slices.Contains(runs, f.Run) {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b agent.StoredFinding) int { return cmp.Compare(a.ID.String(), b.ID.String()) })
	return out, nil
}

func (m *memStore) LinksOf(_ context.Context, tenant string, units []string) ([]agent.RunLink, error) {
	var out []agent.RunLink
	for _, l := range m.links {
		if l.Tenant == tenant && slices.Contains(units, l.Unit) {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b agent.RunLink) int { return cmp.Or(cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Run, b.Run)) })
	return out, nil
}

func (m *memStore) ResolutionsOf(_ context.Context, _ string, units []string) ([]agent.Resolution, error) {
	var out []agent.Resolution
	for _, r := range m.said {
		if slices.Contains(units, r.Unit) {
			out = append(out, r)
		}
	}
	return out, nil
}

// resolve writes down what a person said of a span, as the API does.
func (m *memStore) resolve(at time.Time, s *agent.Step, way agent.Settlement) {
	m.said = append(m.said, agent.Resolution{Unit: s.Unit, Trace: s.Trace, Span: s.Span, Way: way, At: at.UnixNano()})
	m.touched = append(m.touched, memTouch{agent.UnitID{Tenant: s.Tenant, Unit: s.Unit}, at})
}

func (m *memStore) LastSweep(context.Context) (time.Time, error) {
	if m.version == 0 {
		return time.Time{}, nil
	}
	return time.Unix(0, int64(m.version)), nil // a test's version
}

func (m *memStore) WrittenOf(_ context.Context, _ string, units, runs []string) (agent.Written, error) {
	w := agent.Written{Attempts: map[agent.AttemptName]struct{}{}, Ended: map[string]struct{}{}}
	for _, d := range m.writes {
		for _, r := range d.Runs {
			for i := range r.Steps {
				for j := range r.Steps[i].Attempts {
					if a := &r.Steps[i].Attempts[j]; a.Outcome != agent.OutcomeUnset && slices.Contains(units, a.Unit) {
						w.Attempts[a.Name()] = struct{}{}
					}
				}
			}
		}
	}
	for _, run := range runs {
		if s := m.summaries[run].Status; s == agent.RunStatusEnded || s == agent.RunStatusStalled {
			w.Ended[run] = struct{}{}
		}
	}
	return w, nil
}

func (m *memStore) KeepContent(_ context.Context, _ string, spans []agent.KeptContent) error {
	for _, k := range spans {
		m.kept = append(m.kept, k)
		k.Step.ContentExpires = k.Until
	}
	return m.fail
}

func (m *memStore) WriteDerived(_ context.Context, version uint64, d agent.Derived) error {
	if err := errors.Join(m.fail, m.failWrite); err != nil {
		return err
	}
	m.version = version
	m.writes = append(m.writes, d)
	for _, l := range d.Links {
		m.links[[3]string{l.Tenant, l.Unit, l.Run}] = l
	}
	for _, a := range d.GoneActs {
		delete(m.acts, nameOf(a))
	}
	for _, a := range d.Acts {
		m.acts[nameOf(a)] = a
	}
	for _, g := range d.GoneRuns {
		m.gone[g.RunID] = g.MergedInto
		delete(m.summaries, g.RunID)
	}
	for _, s := range d.Summaries {
		m.summaries[s.RunID] = s
	}
	for _, f := range d.Findings {
		m.findings[f.ID] = agent.StoredFinding{Finding: f, Version: version}
	}
	return nil
}
