package sweep

import (
	"context"
	"fmt"
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
)

// written is what the store already says about the units of a judgement.
type written struct {
	links    []agent.RunLink
	acts     []agent.Act
	findings []agent.StoredFinding
}

func (s *Sweeper) load(ctx context.Context, tenant string, vs []*verdict) (*written, error) {
	var units []string
	runs := map[string]bool{}
	for _, v := range vs {
		units = append(units, v.group.Units...)
		for _, r := range v.runs {
			runs[r.ID] = true
		}
	}
	var w written
	var err error
	if w.links, err = s.store.LinksOf(ctx, tenant, units); err != nil {
		return nil, fmt.Errorf("read run links: %w", err)
	}
	if w.acts, err = s.store.ActsOf(ctx, tenant, units); err != nil {
		return nil, fmt.Errorf("read acts: %w", err)
	}
	for _, l := range w.links {
		runs[l.Run] = true
	}
	ids := make([]string, 0, len(runs))
	for id := range runs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if w.findings, err = s.store.FindingsOf(ctx, tenant, ids); err != nil {
		return nil, fmt.Errorf("read findings: %w", err)
	}
	return &w, nil
}

// compare adds to d what differs from what is written, and gives the acts that
// changed: new, other or gone.
func (w *written) compare(vs []*verdict, d *agent.Derived) (changed []agent.Act) {
	merged := w.compareLinks(vs, d)
	changed = w.compareActs(vs, d)
	w.compareFindings(vs, merged, d)
	return changed
}

// compareLinks writes new links and ends old ones. A run that no link is left
// of has gone into another one; merged says which.
func (w *written) compareLinks(vs []*verdict, d *agent.Derived) (merged map[string]string) {
	type key struct{ unit, run string }
	now := map[key]bool{}
	alive := map[string]bool{}
	into := map[string]string{} // unit → first run with spans in it
	partial := map[string]bool{}
	for _, v := range vs {
		for _, u := range v.group.Units {
			partial[u] = v.group.Truncated
		}
		for _, r := range v.runs {
			alive[r.ID] = true
			for _, u := range r.Units {
				now[key{u, r.ID}] = true
				if into[u] == "" {
					into[u] = r.ID
				}
				d.Links = append(d.Links, agent.RunLink{Tenant: r.Tenant, Unit: u, Run: r.ID})
			}
		}
	}
	merged = map[string]string{}
	known := map[key]bool{}
	for _, l := range w.links {
		k := key{l.Unit, l.Run}
		if l.Gone {
			continue
		}
		known[k] = true
		if now[k] || partial[l.Unit] {
			continue
		}
		l.Gone = true
		d.Links = append(d.Links, l)
		if _, done := merged[l.Run]; !alive[l.Run] && (!done || merged[l.Run] == "") {
			merged[l.Run] = into[l.Unit]
		}
	}
	d.Links = slices.DeleteFunc(d.Links, func(l agent.RunLink) bool { return !l.Gone && known[key{l.Unit, l.Run}] })
	for _, l := range w.links { // in the store's order, each run once
		if target, gone := merged[l.Run]; gone && !slices.ContainsFunc(d.GoneRuns, func(g agent.GoneRun) bool { return g.RunID == l.Run }) {
			d.GoneRuns = append(d.GoneRuns, agent.GoneRun{Tenant: l.Tenant, RunID: l.Run, MergedInto: target})
		}
	}
	return merged
}

type actName struct {
	unit  string
	trace agent.TraceID
	span  agent.SpanID
	part  uint16
}

func nameOf(a agent.Act) actName { return actName{a.Unit, a.Trace, a.Span, a.Part} }

func (w *written) compareActs(vs []*verdict, d *agent.Derived) (changed []agent.Act) {
	old := make(map[actName]agent.Act, len(w.acts))
	for _, a := range w.acts {
		old[nameOf(a)] = a
	}
	partial := map[string]bool{}
	for _, v := range vs {
		for _, a := range v.acts {
			if before, known := old[nameOf(a)]; !known || before != a {
				d.Acts = append(d.Acts, a)
				changed = append(changed, a)
			}
			delete(old, nameOf(a))
		}
		if v.group.Truncated {
			for _, u := range v.group.Units {
				partial[u] = true
			}
		}
	}
	for _, a := range w.acts {
		if _, gone := old[nameOf(a)]; gone && !partial[a.Unit] {
			d.GoneActs = append(d.GoneActs, a)
			changed = append(changed, a)
		}
	}
	return slices.DeleteFunc(changed, func(a agent.Act) bool { return a.Key == "" })
}

// compareFindings writes what is new, confirms what only the stream has said,
// and withdraws what is no longer derived.
func (w *written) compareFindings(vs []*verdict, merged map[string]string, d *agent.Derived) {
	old := make(map[agent.FindingID]agent.StoredFinding, len(w.findings))
	for _, f := range w.findings {
		old[f.ID] = f
	}
	now := map[agent.FindingID]bool{}
	judged := map[string]bool{}
	for _, v := range vs {
		for _, r := range v.runs {
			judged[r.ID] = !v.group.Truncated
			for _, f := range v.findings[r.ID] {
				now[f.ID] = true
				before, known := old[f.ID]
				if !known || before.Version == 0 || !sameFinding(before.Finding, f) {
					d.Findings = append(d.Findings, f)
				}
			}
		}
	}
	for _, f := range w.findings {
		target, gone := merged[f.Run]
		if now[f.ID] || f.Status == agent.StatusWithdrawn || !gone && !judged[f.Run] {
			continue
		}
		f.Status = agent.StatusWithdrawn
		if target != "" {
			if id := agent.NewFindingID(f.Tenant, target, f.Kind, f.Anchor); now[id] {
				f.MergedInto = id
			}
		}
		d.Findings = append(d.Findings, f.Finding)
	}
}

func sameFinding(a, b agent.Finding) bool {
	if !slices.Equal(a.Evidence, b.Evidence) {
		return false
	}
	a.Evidence, b.Evidence = nil, nil
	return a.ID == b.ID && a.Severity == b.Severity && a.Status == b.Status && a.Step == b.Step && a.Tool == b.Tool &&
		a.Agent == b.Agent && a.DetectedAt == b.DetectedAt && a.Message == b.Message && a.Waste == b.Waste && a.MergedInto == b.MergedInto
}
