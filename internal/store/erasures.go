package store

import (
	"context"
	"fmt"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// erasureTable is the columns of the erasures table.
type erasureTable struct {
	column.Set
	tenant                   *column.Dict
	id                       *column.Bytes16
	at                       *column.Int64
	event, scope             *column.UInt8
	subject                  *column.String
	digest                   *column.Bytes32
	full                     *column.Bool
	owner, reason            *column.String
	requested, done, waiting *column.Int64
}

func newErasureTable() *erasureTable {
	t := &erasureTable{}
	s := &t.Set
	t.tenant = column.Add(s, "tenant", column.NewDict())
	t.id = column.Add(s, "id", &column.Bytes16{})
	t.at = column.Add(s, "at", column.NewTime())
	t.event = column.Add(s, "event", enum[agent.ErasureEvent]())
	t.scope = column.Add(s, "scope", enum[agent.Scope]())
	t.subject = column.Add(s, "subject", column.NewString())
	t.digest = column.Add(s, "subject_digest", &column.Bytes32{})
	t.full = column.Add(s, "full", &column.Bool{})
	t.owner = column.Add(s, "owner", column.NewString())
	t.reason = column.Add(s, "reason", column.NewString())
	t.requested = column.Add(s, "requested_at", column.NewTime())
	t.done = column.Add(s, "done_at", column.NewTime())
	t.waiting = column.Add(s, "waiting", &column.Int64{})
	return t
}

func (t *erasureTable) append(e *agent.Erasure, at int64) {
	t.tenant.Append(e.Tenant)
	t.id.Append(e.ID)
	t.at.Append(at)
	t.event.Append(uint8(e.Event))
	t.scope.Append(uint8(e.Scope))
	t.subject.Append(subjectText(e.Selector))
	t.digest.Append(e.SubjectDigest)
	t.full.Append(e.Full)
	t.owner.Append(e.Owner)
	t.reason.Append(e.Reason)
	t.requested.Append(e.Requested)
	t.done.Append(e.Done)
	t.waiting.Append(e.Waiting)
}

func (t *erasureTable) row(i int) agent.Erasure {
	subject, also := subjectOf(t.subject.Row(i))
	return agent.Erasure{
		Tenant: t.tenant.Row(i), ID: t.id.Row(i), Event: agent.ErasureEvent(t.event.Row(i)),
		Selector: agent.Selector{Scope: agent.Scope(t.scope.Row(i)), Subject: subject, Also: also}, SubjectDigest: t.digest.Row(i),
		Full: t.full.Row(i), Owner: t.owner.Row(i), Reason: t.reason.Row(i),
		Requested: t.requested.Row(i), Done: t.done.Row(i), Waiting: t.waiting.Row(i),
	}
}

// WriteErasure writes how far an erasure has come.
func (s *Store) WriteErasure(ctx context.Context, e *agent.Erasure, at int64) error {
	t := newErasureTable()
	t.append(e, at)
	if err := s.insertSet(ctx, "erasures", &t.Set, nil, ""); err != nil {
		return fmt.Errorf("insert erasures: %w", err)
	}
	return nil
}

// WriteErasure writes how far an erasure of the tenant has come.
func (r *Reader) WriteErasure(ctx context.Context, e *agent.Erasure, at int64) error {
	own := *e
	own.Tenant = r.tenant
	return r.store.WriteErasure(ctx, &own, at)
}

// AllErasures gives the erasures of all tenants, without their certificates.
func (s *Store) AllErasures(ctx context.Context) ([]agent.Erasure, error) {
	return s.erasures(ctx, params{}.text("tenant", "").flag("every", true).text("id", ""))
}

// Erasure gives one erasure of the tenant, with its certificate.
func (r *Reader) Erasure(ctx context.Context, id agent.JobID) (agent.Erasure, error) {
	all, err := r.store.erasures(ctx, r.params().flag("every", false).text("id", id.String()))
	if err != nil || len(all) == 0 {
		return agent.Erasure{}, notFound(err)
	}
	e := all[0]
	units, err := r.store.UnitsOfJob(ctx, ErasureUnits, r.tenant, id)
	if err != nil {
		return e, err
	}
	runs := map[string]bool{}
	for _, u := range units {
		runs[u.Run] = true
	}
	e.Runs = int64(len(runs))
	e.Removed, err = r.removals(ctx, id)
	return e, err
}

func notFound(err error) error {
	if err != nil {
		return err
	}
	return ErrNotFound
}

func (s *Store) erasures(ctx context.Context, p params) ([]agent.Erasure, error) {
	t := newErasureTable()
	var out []agent.Erasure
	err := s.wire.query(ctx, sqlErasures.with(t.Names()), p, &t.Set, func() error {
		for i := range t.Rows() {
			out = append(out, t.row(i))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("erasures: %w", err)
	}
	return out, nil
}

func (r *Reader) removals(ctx context.Context, id agent.JobID) ([]agent.Removal, error) {
	var set column.Set
	at := column.Add(&set, "first_at", column.NewTime())
	source := column.Add(&set, "source", column.NewDict())
	rows := column.Add(&set, "rows", &column.Int64{})
	digest := column.Add(&set, "digest", &column.Bytes32{})
	var out []agent.Removal
	err := r.query(ctx, string(sqlRemovals), r.params().text("id", id.String()), &set, func() error {
		for i := range set.Rows() {
			out = append(out, agent.Removal{At: at.Row(i), Table: source.Row(i), Rows: rows.Row(i), Digest: digest.Row(i)})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("removals: %w", err)
	}
	return out, nil
}

func (s *Store) writeRemoval(ctx context.Context, tenant string, id agent.JobID, rm agent.Removal) error {
	var set column.Set
	column.Add(&set, "tenant", column.NewDict()).Append(tenant)
	column.Add(&set, "job", &column.Bytes16{}).Append(id)
	column.Add(&set, "at", column.NewTime()).Append(rm.At)
	column.Add(&set, "source", column.NewDict()).Append(rm.Table)
	column.Add(&set, "rows", &column.Int64{}).Append(rm.Rows)
	column.Add(&set, "digest", &column.Bytes32{}).Append(rm.Digest)
	if err := s.insertSet(ctx, "removals", &set, nil, ""); err != nil {
		return fmt.Errorf("insert removals: %w", err)
	}
	return nil
}

// JobUnit is a unit and a run that a job of a tenant covers.
type JobUnit struct {
	Tenant string
	Job    agent.JobID
	agent.UnitOfRun
}

// ErasedChanged gives erased units that got rows since, and units that have come
// to belong to erased runs since, Unix nanoseconds by the server's clock.
func (s *Store) ErasedChanged(ctx context.Context, since int64) ([]JobUnit, error) {
	var set column.Set
	tenant := column.Add(&set, "tenant", column.NewDict())
	job := column.Add(&set, "job", &column.Bytes16{})
	unit := column.Add(&set, "unit", column.NewString())
	run := column.Add(&set, "run", column.NewString())
	var out []JobUnit
	err := s.wire.query(ctx, string(sqlErasedChanged), params{}.number("since", since), &set, func() error {
		for i := range set.Rows() {
			out = append(out, JobUnit{tenant.Row(i), job.Row(i), agent.UnitOfRun{Unit: unit.Row(i), Run: run.Row(i)}})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("changes of erased units: %w", err)
	}
	return out, nil
}

// ForgetSubject empties whom an erasure was about, once it is known which runs
// that means.
func (s *Store) ForgetSubject(ctx context.Context, tenant string, id agent.JobID) error {
	err := s.exec(ctx, string(sqlForgetSubject), s.Tenant(tenant).params().text("id", id.String()), waitMutation)
	if err != nil {
		return fmt.Errorf("forget subject: %w", err)
	}
	return nil
}
