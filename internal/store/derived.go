package store

import (
	"context"
	"fmt"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// Changes lists the units, of all tenants, that got rows with from <=
// inserted_at < to by the server's clock, oldest first.
func (s *Store) Changes(ctx context.Context, from, to time.Time) ([]agent.Change, error) {
	var set column.Set
	tenant := column.Add(&set, "tenant", column.NewDict())
	unit := column.Add(&set, "unit", column.NewString())
	rows := column.Add(&set, "rows", &column.Int64{})
	inserted := column.Add(&set, "inserted_at", column.NewTime())
	var out []agent.Change
	p := params{}.number("from", from.UnixNano()).number("to", to.UnixNano())
	err := s.wire.query(ctx, string(sqlChanges), p, &set, func() error {
		for i := range set.Rows() {
			out = append(out, agent.Change{
				UnitID: agent.UnitID{Tenant: tenant.Row(i), Unit: unit.Row(i)}, InsertedAt: inserted.Row(i), Rows: rows.Row(i),
			})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("changes: %w", err)
	}
	return out, nil
}

// Groups loads units and all that may share a run with them. Every unit asked
// for that has rows stands in exactly one group.
func (s *Store) Groups(ctx context.Context, units []agent.UnitID) ([]agent.Group, error) {
	var tenants []string
	of := make(map[string][]string)
	for _, u := range units {
		if of[u.Tenant] == nil {
			tenants = append(tenants, u.Tenant)
		}
		of[u.Tenant] = append(of[u.Tenant], u.Unit)
	}
	var out []agent.Group
	for _, t := range tenants {
		groups, err := s.Tenant(t).closure(ctx, of[t])
		if err != nil {
			return nil, fmt.Errorf("groups: %w", err)
		}
		out = append(out, groups...)
	}
	return out, nil
}

// ActsUnderKeys gives the acts of all runs of the tenant under any of the
// idempotency keys, as the sweep last wrote them.
func (s *Store) ActsUnderKeys(ctx context.Context, tenant string, keys []string) ([]agent.Act, error) {
	wanted := make(map[string]bool, len(keys))
	for _, k := range keys {
		wanted[k] = k != ""
	}
	return s.acts(ctx, tenant, sqlActsUnderKeys, "keys", dedup(keys), func(a *agent.Act) bool { return wanted[a.Key] })
}

// ActsOf gives the acts that spans of the units name, as the sweep last wrote
// them.
func (s *Store) ActsOf(ctx context.Context, tenant string, units []string) ([]agent.Act, error) {
	return s.acts(ctx, tenant, sqlActsOfUnits, "units", dedup(units), func(*agent.Act) bool { return true })
}

func (s *Store) acts(ctx context.Context, tenant string, sql statement, name string, values []string, keep func(*agent.Act) bool) ([]agent.Act, error) {
	r := s.Tenant(tenant)
	t := newActTable()
	var out []agent.Act
	err := chunks(values, func(part []string) error {
		return r.query(ctx, sql.with(t.Names()), r.params().texts(name, part), &t.Set, func() error {
			for i := range t.Rows() {
				if a := t.row(i); !t.gone.Row(i) && keep(&a) {
					out = append(out, a)
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("acts: %w", err)
	}
	return out, nil
}

// FindingsOf gives the newest version of all findings of runs.
func (s *Store) FindingsOf(ctx context.Context, tenant string, runs []string) ([]agent.StoredFinding, error) {
	r := s.Tenant(tenant)
	t := newFindingTable()
	var out []agent.StoredFinding
	err := chunks(dedup(runs), func(part []string) error {
		return r.query(ctx, sqlFindingsOfRuns.with(t.Names()), r.params().texts("runs", part), &t.Set, func() error {
			for i := range t.Rows() {
				out = append(out, t.row(i))
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("findings: %w", err)
	}
	return out, nil
}

// LinksOf gives the newest word on which runs have spans in the units; links
// that are gone are among them.
func (s *Store) LinksOf(ctx context.Context, tenant string, units []string) ([]agent.RunLink, error) {
	r := s.Tenant(tenant)
	t := newLinkTable()
	var out []agent.RunLink
	err := chunks(dedup(units), func(part []string) error {
		return r.query(ctx, sqlLinksOfUnits.with(t.Names()), r.params().texts("units", part), &t.Set, func() error {
			for i := range t.Rows() {
				out = append(out, t.row(i))
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("links: %w", err)
	}
	return out, nil
}

// LastSweep is the newest version that was written, as the time it stands for;
// the zero time where there is none.
func (s *Store) LastSweep(ctx context.Context) (time.Time, error) {
	var set column.Set
	version := column.Add(&set, "version", &column.UInt64{})
	var at time.Time
	err := s.wire.query(ctx, string(sqlLastSweep), nil, &set, func() error {
		if v := version.Row(0); v > 0 {
			at = time.Unix(0, int64(v)) // the sweep's time in nanoseconds
		}
		return nil
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("last sweep: %w", err)
	}
	return at, nil
}

// WriteFindings writes findings under a version: 0 from the stream, the sweep's
// time in Unix nanoseconds from the sweep. The higher version counts.
func (s *Store) WriteFindings(ctx context.Context, version uint64, findings []agent.Finding) error {
	t := newFindingTable()
	for i := range findings {
		t.append(&findings[i], version)
	}
	if err := s.insertSet(ctx, "findings", &t.Set, t.expires.Vals, ""); err != nil {
		return fmt.Errorf("insert findings: %w", err)
	}
	return nil
}

// goneRetention is how long a row that takes another one back is kept at least,
// in seconds: longer than the one it takes back, whose term it does not know.
const goneRetention = 10 * 365 * 24 * 3600

// WriteDerived writes what a sweep derived under its version. Rows expire with
// the last span of their run, so d.Runs holds each run that the others name. It
// may be repeated; nothing is visible half: attempts, acts and findings come
// before the summary that makes them count.
func (s *Store) WriteDerived(ctx context.Context, version uint64, d agent.Derived) error {
	e := expiries(d.Runs)
	for _, w := range []struct {
		table string
		fill  func() (*column.Set, []uint32)
	}{
		{"attempts", func() (*column.Set, []uint32) { return derivedAttempts(version, d) }},
		{"acts", func() (*column.Set, []uint32) { return e.acts(version, d) }},
		{"run_links", func() (*column.Set, []uint32) { return e.links(version, d) }},
		{"findings", func() (*column.Set, []uint32) { return derivedFindings(version, d) }},
		{"runs", func() (*column.Set, []uint32) { return e.runs(version, d) }},
	} {
		set, expires := w.fill()
		if err := s.insertSet(ctx, w.table, set, expires, ""); err != nil {
			return fmt.Errorf("insert %s: %w", w.table, err)
		}
	}
	return nil
}

// runExpiry is when the last span of each run expires, Unix seconds.
type runExpiry map[[2]string]int64

func expiries(runs []*agent.Run) runExpiry {
	e := make(runExpiry, len(runs))
	for _, r := range runs {
		e[[2]string{r.Tenant, r.ID}] = expiryOf(r.Spans)
	}
	return e
}

// of gives the run's expiry, else that of what began at started.
func (e runExpiry) of(tenant, run string, started int64) int64 {
	if at, ok := e[[2]string{tenant, run}]; ok {
		return at
	}
	return started/1e9 + defaultRetention
}

func derivedAttempts(version uint64, d agent.Derived) (*column.Set, []uint32) {
	t := newAttemptTable()
	for _, r := range d.Runs {
		for i := range r.Steps {
			st := &r.Steps[i]
			for j := range st.Attempts {
				t.append(r, st, &st.Attempts[j], version)
			}
		}
	}
	return &t.Set, t.expires.Vals
}

func (e runExpiry) acts(version uint64, d agent.Derived) (*column.Set, []uint32) {
	t := newActTable()
	for i := range d.Acts {
		a := &d.Acts[i]
		t.append(a, version, false, e.of(a.Tenant, a.Run, a.Start))
	}
	for i := range d.GoneActs {
		a := &d.GoneActs[i]
		t.append(a, version, true, a.Start/1e9+goneRetention)
	}
	return &t.Set, t.expires.Vals
}

func (e runExpiry) links(version uint64, d agent.Derived) (*column.Set, []uint32) {
	t := newLinkTable()
	written := int64(version) // the sweep's time in nanoseconds
	for i := range d.Links {
		l := &d.Links[i]
		expires := e.of(l.Tenant, l.Run, written)
		if l.Gone {
			expires = written/1e9 + goneRetention
		}
		t.append(l, version, expires)
	}
	return &t.Set, t.expires.Vals
}

func derivedFindings(version uint64, d agent.Derived) (*column.Set, []uint32) {
	t := newFindingTable()
	for i := range d.Findings {
		t.append(&d.Findings[i], version)
	}
	return &t.Set, t.expires.Vals
}

func (e runExpiry) runs(version uint64, d agent.Derived) (*column.Set, []uint32) {
	t := newRunTable()
	for i := range d.Summaries {
		r := &d.Summaries[i]
		t.append(r, fate{version: version, expires: e.of(r.Tenant, r.RunID, r.Started)})
	}
	for _, g := range d.GoneRuns {
		t.append(&agent.Summary{Tenant: g.Tenant, RunID: g.RunID}, fate{
			version: version, gone: true, mergedInto: g.MergedInto,
			expires: int64(version)/1e9 + goneRetention, // the sweep's time in nanoseconds
		})
	}
	return &t.Set, t.expires.Vals
}
