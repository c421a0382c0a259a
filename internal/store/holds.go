package store

import (
	"context"
	"fmt"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// holdTable is the columns of the holds table.
type holdTable struct {
	column.Set
	tenant                       *column.Dict
	id                           *column.Bytes16
	at                           *column.Int64
	event, scope                 *column.UInt8
	subject                      *column.String
	from, to                     *column.Int64
	owner, reason                *column.String
	placed, released, runs, rows *column.Int64
}

func newHoldTable() *holdTable {
	t := &holdTable{}
	s := &t.Set
	t.tenant = column.Add(s, "tenant", column.NewDict())
	t.id = column.Add(s, "id", &column.Bytes16{})
	t.at = column.Add(s, "at", column.NewTime())
	t.event = column.Add(s, "event", enum[agent.HoldEvent]())
	t.scope = column.Add(s, "scope", enum[agent.Scope]())
	t.subject = column.Add(s, "subject", column.NewString())
	t.from = column.Add(s, "from_at", column.NewTime())
	t.to = column.Add(s, "to_at", column.NewTime())
	t.owner = column.Add(s, "owner", column.NewString())
	t.reason = column.Add(s, "reason", column.NewString())
	t.placed = column.Add(s, "placed_at", column.NewTime())
	t.released = column.Add(s, "released_at", column.NewTime())
	t.runs = column.Add(s, "runs", &column.Int64{})
	t.rows = column.Add(s, "rows", &column.Int64{})
	return t
}

func (t *holdTable) append(h *agent.Hold, at int64) {
	t.tenant.Append(h.Tenant)
	t.id.Append(h.ID)
	t.at.Append(at)
	t.event.Append(uint8(h.Event))
	t.scope.Append(uint8(h.Scope))
	t.subject.Append(subjectText(h.Selector))
	t.from.Append(h.From)
	t.to.Append(h.To)
	t.owner.Append(h.Owner)
	t.reason.Append(h.Reason)
	t.placed.Append(h.Placed)
	t.released.Append(h.Released)
	t.runs.Append(h.Runs)
	t.rows.Append(h.Rows)
}

func (t *holdTable) row(i int) agent.Hold {
	subject, also := subjectOf(t.subject.Row(i))
	return agent.Hold{
		Tenant: t.tenant.Row(i), ID: t.id.Row(i), Event: agent.HoldEvent(t.event.Row(i)),
		Selector: agent.Selector{Scope: agent.Scope(t.scope.Row(i)), Subject: subject, Also: also, From: t.from.Row(i), To: t.to.Row(i)},
		Owner:    t.owner.Row(i), Reason: t.reason.Row(i), Placed: t.placed.Row(i), Released: t.released.Row(i),
		Runs: t.runs.Row(i), Rows: t.rows.Row(i),
	}
}

// WriteHold writes how far a hold has come.
func (s *Store) WriteHold(ctx context.Context, h *agent.Hold, at int64) error {
	t := newHoldTable()
	t.append(h, at)
	if err := s.insertSet(ctx, "holds", &t.Set, nil, ""); err != nil {
		return fmt.Errorf("insert holds: %w", err)
	}
	return nil
}

// WriteHold writes how far a hold of the tenant has come.
func (r *Reader) WriteHold(ctx context.Context, h *agent.Hold, at int64) error {
	own := *h
	own.Tenant = r.tenant
	return r.store.WriteHold(ctx, &own, at)
}

// AllHolds gives the holds of all tenants, ended ones included.
func (s *Store) AllHolds(ctx context.Context) ([]agent.Hold, error) {
	return s.holds(ctx, params{}.text("tenant", "").flag("every", true).text("id", ""))
}

// Holds gives the holds of the tenant, ended ones included; with an id that one
// alone, if it is there.
func (r *Reader) Holds(ctx context.Context, id agent.JobID) ([]agent.Hold, error) {
	return r.store.holds(ctx, r.params().flag("every", false).text("id", jobOrEmpty(id)))
}

func (s *Store) holds(ctx context.Context, p params) ([]agent.Hold, error) {
	t := newHoldTable()
	var out []agent.Hold
	err := s.wire.query(ctx, sqlHolds.with(t.Names()), p, &t.Set, func() error {
		for i := range t.Rows() {
			out = append(out, t.row(i))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("holds: %w", err)
	}
	return out, nil
}

func jobOrEmpty(id agent.JobID) string {
	if id == (agent.JobID{}) {
		return ""
	}
	return id.String()
}

// HeldUnit is a unit and a run that a hold covers.
type HeldUnit struct {
	Job agent.JobID
	agent.UnitOfRun
}

// HeldUnits gives what the tenant's holds cover that have not been ended.
func (s *Store) HeldUnits(ctx context.Context, tenant string) ([]HeldUnit, error) {
	r := s.Tenant(tenant)
	var set column.Set
	job := column.Add(&set, "job", &column.Bytes16{})
	unit := column.Add(&set, "unit", column.NewString())
	run := column.Add(&set, "run", column.NewString())
	var out []HeldUnit
	err := r.query(ctx, string(sqlHeldUnits), r.params(), &set, func() error {
		for i := range set.Rows() {
			out = append(out, HeldUnit{job.Row(i), agent.UnitOfRun{Unit: unit.Row(i), Run: run.Row(i)}})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("held units: %w", err)
	}
	return out, nil
}

// JobTable is the table of the units that a kind of job covers.
type JobTable string

// The kinds of jobs.
const (
	HoldUnits    JobTable = "held_units"
	ErasureUnits JobTable = "erased_units"
)

// of puts the table's name into a statement.
func (j JobTable) of(s statement) string { return s.of(dataTable{name: string(j)}) }

// AddUnits notes what a hold or an erasure covers. full counts for erasures.
func (s *Store) AddUnits(ctx context.Context, table JobTable, tenant string, id agent.JobID, units []agent.UnitOfRun, full bool, at int64) error {
	var set column.Set
	tenants, names := column.Add(&set, "tenant", column.NewDict()), column.Add(&set, "unit", column.NewString())
	jobs, runs := column.Add(&set, "job", &column.Bytes16{}), column.Add(&set, "run", column.NewString())
	ats, fulls := column.Add(&set, "at", column.NewTime()), &column.Bool{}
	if table == ErasureUnits {
		column.Add(&set, "full", fulls)
	}
	for _, u := range units {
		tenants.Append(tenant)
		names.Append(u.Unit)
		jobs.Append(id)
		runs.Append(u.Run)
		ats.Append(at)
		fulls.Append(full)
	}
	if err := s.insertSet(ctx, string(table), &set, nil, ""); err != nil {
		return fmt.Errorf("insert %s: %w", table, err)
	}
	return nil
}

// UnitsOfJob gives what a hold or an erasure covers.
func (s *Store) UnitsOfJob(ctx context.Context, table JobTable, tenant string, id agent.JobID) ([]agent.UnitOfRun, error) {
	return s.unitsOfRuns(ctx, table.of(sqlUnitsOfJob), s.Tenant(tenant).params().text("id", id.String()))
}

// UnitsJoined gives units that belong to runs which the job covers, and that it
// does not cover yet.
func (s *Store) UnitsJoined(ctx context.Context, table JobTable, tenant string, id agent.JobID) ([]agent.UnitOfRun, error) {
	return s.unitsOfRuns(ctx, table.of(sqlUnitsJoined), s.Tenant(tenant).params().text("id", id.String()))
}

func (s *Store) unitsOfRuns(ctx context.Context, sql string, p params) ([]agent.UnitOfRun, error) {
	var set column.Set
	unit := column.Add(&set, "unit", column.NewString())
	run := column.Add(&set, "run", column.NewString())
	var out []agent.UnitOfRun
	err := s.wire.query(ctx, sql, p, &set, func() error {
		for i := range set.Rows() {
			out = append(out, agent.UnitOfRun{Unit: unit.Row(i), Run: run.Row(i)})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("units of a job: %w", err)
	}
	return out, nil
}

// UnitsMatching gives the units with a span that the selector may mean, among
// those that got rows since, Unix nanoseconds by the server's clock.
func (s *Store) UnitsMatching(ctx context.Context, tenant string, sel agent.Selector, since int64) ([]string, error) {
	p := s.Tenant(tenant).params().text("scope", sel.Scope.String()).texts("subjects", spellings(sel)).
		number("from", sel.From).number("to", sel.To).number("since", since)
	return s.names(ctx, string(sqlUnitsMatching), "unit", p)
}

// UnitsChanged gives those of a job's units that got rows since, Unix
// nanoseconds by the server's clock.
func (s *Store) UnitsChanged(ctx context.Context, table JobTable, tenant string, id agent.JobID, since int64) ([]string, error) {
	return s.names(ctx, table.of(sqlUnitsChanged), "unit", s.Tenant(tenant).params().text("id", id.String()).number("since", since))
}

// names reads one column of names.
func (s *Store) names(ctx context.Context, sql, col string, p params) ([]string, error) {
	var set column.Set
	name := column.Add(&set, col, column.NewString())
	var out []string
	err := s.wire.query(ctx, sql, p, &set, func() error {
		for i := range set.Rows() {
			out = append(out, name.Row(i))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("names: %w", err)
	}
	return out, nil
}

// count reads one number, named n.
func (r *Reader) count(ctx context.Context, sql string, p params) (n int64, err error) {
	var set column.Set
	col := column.Add(&set, "n", &column.UInt64{})
	err = r.query(ctx, sql, p, &set, func() error {
		n = int64(col.Row(0)) // a number of rows
		return nil
	})
	return n, err
}
