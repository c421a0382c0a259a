package store

import (
	"context"
	"fmt"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// resolutionTable is the columns of the resolutions table.
type resolutionTable struct {
	column.Set
	tenant      *column.Dict
	finding     *column.Bytes16
	resolved    *column.Int64 // milliseconds
	id          *column.Bytes16
	run, unit   *column.String
	trace       *column.Bytes16
	span        *column.Bytes8
	part        *column.UInt16
	result      *column.UInt8
	actor, note *column.String
	expires     *column.UInt32
}

func newResolutionTable() *resolutionTable {
	t := &resolutionTable{}
	s := &t.Set
	t.tenant = column.Add(s, "tenant", column.NewDict())
	t.finding = column.Add(s, "finding", &column.Bytes16{})
	t.resolved = column.Add(s, "resolved_at", column.NewMillis())
	t.id = column.Add(s, "id", &column.Bytes16{})
	t.run = column.Add(s, "run", column.NewString())
	t.unit = column.Add(s, "unit", column.NewString())
	t.trace = column.Add(s, "trace_id", &column.Bytes16{})
	t.span = column.Add(s, "span_id", &column.Bytes8{})
	t.part = column.Add(s, "part", &column.UInt16{})
	t.result = column.Add(s, "result", enum[agent.Settlement]())
	t.actor = column.Add(s, "actor", column.NewString())
	t.note = column.Add(s, "note", column.NewString())
	t.expires = column.Add(s, "expires_at", column.NewDateTime())
	return t
}

func (t *resolutionTable) append(tenant string, r *agent.ResolutionRecord) {
	t.tenant.Append(tenant)
	t.finding.Append(r.Finding)
	t.resolved.Append(r.At / 1e6)
	t.id.Append(r.ID)
	t.run.Append(r.Run)
	t.unit.Append(r.Unit)
	t.trace.Append(r.Trace)
	t.span.Append(r.Span)
	t.part.Append(r.Part)
	t.result.Append(uint8(r.Way))
	t.actor.Append(r.Actor)
	t.note.Append(r.Note)
	expires := r.Expires
	if expires == 0 || expires >= heldUntil {
		expires = r.At/1e9 + defaultRetention
	}
	t.expires.Append(seconds(expires))
}

func (t *resolutionTable) row(i int) agent.ResolutionRecord {
	return agent.ResolutionRecord{
		Resolution: agent.Resolution{
			Unit: t.unit.Row(i), Trace: t.trace.Row(i), Span: t.span.Row(i), Part: t.part.Row(i),
			Way: agent.Settlement(t.result.Row(i)), At: t.resolved.Row(i) * 1e6,
		},
		ID: t.id.Row(i), Finding: t.finding.Row(i), Run: t.run.Row(i), Actor: t.actor.Row(i), Note: t.note.Row(i), Expires: int64(t.expires.Row(i)),
	}
}

// Resolutions gives what people said of attempts of the units, the first first.
func (r *Reader) Resolutions(ctx context.Context, units []string) ([]agent.ResolutionRecord, error) {
	t := newResolutionTable()
	var out []agent.ResolutionRecord
	err := chunks(dedup(units), func(part []string) error {
		return r.query(ctx, sqlResolutionsOfUnits.with(t.Names()), r.params().texts("units", part), &t.Set, func() error {
			for i := range t.Rows() {
				out = append(out, t.row(i))
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("resolutions: %w", err)
	}
	return out, nil
}

// ResolutionsOf gives what people said of attempts of the units.
func (s *Store) ResolutionsOf(ctx context.Context, tenant string, units []string) ([]agent.Resolution, error) {
	records, err := s.Tenant(tenant).Resolutions(ctx, units)
	if err != nil {
		return nil, err
	}
	out := make([]agent.Resolution, len(records))
	for i := range records {
		out[i] = records[i].Resolution
	}
	return out, nil
}

// Groups gives the units and all that may share a run with them, as connected
// sets.
func (r *Reader) Groups(ctx context.Context, units []string) ([]agent.Group, error) {
	return r.closure(ctx, units)
}

// AddResolution writes down what a person said of an attempt of the tenant. It
// counts to the millisecond, and may be repeated with the same record.
func (r *Reader) AddResolution(ctx context.Context, rec *agent.ResolutionRecord) error {
	t := newResolutionTable()
	t.append(r.tenant, rec)
	if err := r.store.insertSet(ctx, "resolutions", &t.Set, t.expires.Vals, rec.ID.String()); err != nil {
		return fmt.Errorf("insert resolutions: %w", err)
	}
	return nil
}

// MarkSettled writes a finding of the tenant as it is after a resolution of the
// attempt in the unit, so that every answer has it at once, and tells the sweep
// to judge the unit again. It outranks what is written now, and by no more, so
// that the sweep has the last word whatever this machine's clock says.
func (r *Reader) MarkSettled(ctx context.Context, f agent.Finding, unit string) error {
	version, err := r.versionOf(ctx, &f)
	if err != nil {
		return fmt.Errorf("finding: %w", err)
	}
	f.Tenant = r.tenant
	if err := r.store.WriteFindings(ctx, version+1, []agent.Finding{f}); err != nil {
		return err
	}
	t := newChangeTable()
	t.append(agent.UnitID{Tenant: r.tenant, Unit: unit}, 1)
	if err := r.store.insertSet(ctx, "run_changes", &t.Set, nil, fmt.Sprintf("settled-%s-%d", f.ID, version)); err != nil {
		return fmt.Errorf("insert run_changes: %w", err)
	}
	return nil
}

// versionOf is the newest version of a finding; 0 where there is none.
func (r *Reader) versionOf(ctx context.Context, f *agent.Finding) (version uint64, err error) {
	t := newFindingTable()
	p := r.params().texts("runs", []string{f.Run}).texts("ids", []string{f.ID.String()})
	err = r.query(ctx, sqlFindingsOfIDs.with(t.Names()), p, &t.Set, func() error {
		version = t.version.Row(0)
		return nil
	})
	return version, err
}

// UnknownKey is an unknown outcome's place in the order of a list: open ones
// first, oldest first.
type UnknownKey struct {
	Resolved bool
	Since    int64 // Unix nanoseconds
	ID       agent.FindingID
}

// UnknownFilter selects unknown outcomes. Zero fields select nothing away.
type UnknownFilter struct {
	Run    string
	Tool   string
	Agent  string
	Target []string     // any of these spellings
	Status agent.Status // open or resolved

	After UnknownKey // only those after this place
	Limit int        // at most MaxPage; 0 is MaxPage
}

// Unknowns lists the findings outcome.unknown that are not withdrawn, the newest
// version of each: open ones first, oldest first.
func (r *Reader) Unknowns(ctx context.Context, f UnknownFilter) ([]agent.Finding, error) {
	p := r.params().text("run", f.Run).text("tool", f.Tool).text("agent", f.Agent).texts("target", f.Target).text("status", f.Status.String()).
		text("after_id", hexOrEmpty(f.After.ID)).number("after_detected", f.After.Since).flag("after_resolved", f.After.Resolved).
		number("limit", pageSize(f.Limit))
	ids, hexes, runs, err := r.findingPage(ctx, sqlUnknownsPage, p)
	if err != nil {
		return nil, fmt.Errorf("page of unknown outcomes: %w", err)
	}
	return r.findingsOf(ctx, ids, hexes, runs)
}
