package store

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// A change of terms moves rows to other partitions: they are written again, and
// the ones before are noted in moved_rows and deleted at the end, table by
// table. Interrupted at any point it may be begun again.

// movable are the tables whose rows' terms follow from spans, with what names a
// row in moved_rows. rowName spells the same.
var movable = []dataTable{
	{name: "messages", key: "concat(unit, '/', hex(hash), '/', toString(toUnixTimestamp(expires_at)))"},
	{name: "message_facts", key: "concat(unit, '/', hex(hash), '/', toString(toUnixTimestamp(expires_at)))"},
	{name: "log_content", key: "concat(unit, '/', hex(trace_id), hex(span_id), hex(hash), toString(position), '/', toString(toUnixTimestamp(expires_at)))"},
	{name: "unit_keys", key: "concat(unit, '/', token, '/', toString(role), '/', service, '/', toString(toUnixTimestamp(expires_at)))"},
	{name: "steps", key: "concat(unit, '/', hex(trace_id), hex(span_id), toString(toUnixTimestamp(content_expires_at)), '/', toString(toUnixTimestamp(expires_at)))"},
	{name: "acts", key: "concat(unit, '/', hex(trace_id), hex(span_id), toString(part), '-', toString(version), '/', toString(toUnixTimestamp(expires_at)))"},
	{name: "run_links", key: "concat(unit, '/', run, '-', toString(version), '/', toString(toUnixTimestamp(expires_at)))"},
}

func rowName(unit, rest string, expires uint32) string {
	return unit + "/" + rest + "/" + strconv.FormatUint(uint64(expires), 10)
}

func upperHex(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) }

// Tenants are those with spans.
func (s *Store) Tenants(ctx context.Context) ([]string, error) {
	var set column.Set
	tenant := column.Add(&set, "tenant", column.NewDict())
	var out []string
	err := s.wire.query(ctx, string(sqlTenants), nil, &set, func() error {
		for i := range set.Rows() {
			out = append(out, tenant.Row(i))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("tenants: %w", err)
	}
	return out, nil
}

// MovedUnits are the tenant's units whose rows were written again and not all
// deleted yet.
func (s *Store) MovedUnits(ctx context.Context, tenant string) ([]string, error) {
	return s.names(ctx, string(sqlMovedUnits), "row", s.Tenant(tenant).params())
}

// mover collects what of a chunk of units moves.
type mover struct {
	terms   func(*agent.Step) (row, content int64)
	row     map[string]int64               // by unit: the longest term of its spans
	content map[string]map[agent.Ref]int64 // by unit: the longest term of the spans that refer to a body
	moved   map[string][]string            // by table
	units   map[string]bool
}

func (m *mover) move(table, unit, name string) {
	m.moved[table] = append(m.moved[table], name)
	m.units[unit] = true
}

// Move writes rows of units again whose term differs from what terms gives the
// spans, Unix seconds. Copies that a hold keeps stay. With dry nothing is
// written. It gives the number of rows by table; FinishMove deletes the ones
// before.
func (s *Store) Move(ctx context.Context, tenant string, units []string, terms func(*agent.Step) (row, content int64), dry bool) (map[string]int64, error) {
	m := &mover{terms: terms, row: map[string]int64{}, content: map[string]map[agent.Ref]int64{}, moved: map[string][]string{}, units: map[string]bool{}}
	r := s.Tenant(tenant)
	sets := map[string]*column.Set{}
	expires := map[string][]uint32{}
	err := chunks(dedup(units), func(part []string) error {
		steps, err := m.steps(ctx, r, part)
		if err != nil {
			return err
		}
		for _, next := range []func(context.Context, *Reader, []string) (string, *column.Set, []uint32, error){
			m.logs, m.messages, m.facts, m.keys, m.acts, m.links,
		} {
			name, set, due, err := next(ctx, r, part)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			sets[name], expires[name] = set, due
		}
		sets["steps"], expires["steps"] = &steps.Set, steps.expires.Vals
		if dry {
			return nil
		}
		for _, t := range movable {
			if err := s.insertSet(ctx, t.name, sets[t.name], expires[t.name], ""); err != nil {
				return fmt.Errorf("insert %s: %w", t.name, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := map[string]int64{}
	for table, rows := range m.moved {
		out[table] = int64(len(rows))
	}
	if dry || len(m.units) == 0 {
		return out, nil
	}
	for u := range m.units {
		m.moved["unit"] = append(m.moved["unit"], u)
	}
	return out, s.noteMoved(ctx, tenant, m.moved)
}

// noteMoved notes rows that are there again. They are deleted only once noted.
func (s *Store) noteMoved(ctx context.Context, tenant string, moved map[string][]string) error {
	var set column.Set
	tenants, sources, rows := column.Add(&set, "tenant", column.NewDict()), column.Add(&set, "source", column.NewDict()), column.Add(&set, "row", column.NewString())
	for table, names := range moved {
		for _, name := range names {
			tenants.Append(tenant)
			sources.Append(table)
			rows.Append(name)
		}
	}
	if err := s.insertSet(ctx, "moved_rows", &set, nil, ""); err != nil {
		return fmt.Errorf("insert moved_rows: %w", err)
	}
	return nil
}

func (m *mover) steps(ctx context.Context, r *Reader, units []string) (*stepTable, error) {
	t, out := newStepTable(), newStepTable()
	inserted := column.Add(&t.Set, "inserted_at", column.NewMillis())
	arrived := column.Add(&out.Set, "inserted_at", column.NewMillis())
	err := r.query(ctx, sqlStepsAllOfUnits.with(t.Names()), r.params().texts("units", units), &t.Set, func() error {
		for i := range t.Rows() {
			st := t.row(i)
			row, content := m.terms(st)
			if st.Erased {
				content = st.ContentExpires
			}
			m.row[st.Unit] = max(m.row[st.Unit], row)
			for _, refs := range [][]agent.Ref{st.Model.Context, st.Model.Outputs, {st.Call.Arguments.Ref, st.Call.Result.Ref}} {
				for _, ref := range refs {
					m.refer(st.Unit, ref, content)
				}
			}
			if st.Expires == row && st.ContentExpires == content {
				continue
			}
			name := upperHex(st.Trace[:]) + upperHex(st.Span[:]) + strconv.FormatUint(uint64(seconds(st.ContentExpires)), 10)
			m.move("steps", st.Unit, rowName(st.Unit, name, seconds(st.Expires)))
			st.Expires, st.ContentExpires = row, content
			out.append(st)
			arrived.Append(inserted.Row(i))
		}
		return nil
	})
	return out, err
}

func (m *mover) refer(unit string, ref agent.Ref, until int64) {
	if m.content[unit] == nil {
		m.content[unit] = map[agent.Ref]int64{}
	}
	m.content[unit][ref] = max(m.content[unit][ref], until)
}

// logs moves the places of logged messages with the unit; their bodies have the
// term of a model call's.
func (m *mover) logs(ctx context.Context, r *Reader, units []string) (string, *column.Set, []uint32, error) {
	t, out := newLogTable(), newLogTable()
	err := r.query(ctx, sqlLogsAllOfUnits.with(t.Names()), r.params().texts("units", units), &t.Set, func() error {
		for i := range t.Rows() {
			l, was := t.row(i), t.expires.Row(i)
			row, content := m.terms(&agent.Step{Tenant: l.Tenant, Unit: l.Unit, Kind: agent.KindThink, Start: l.Start, Received: l.Start})
			m.refer(l.Unit, l.Message, content)
			m.row[l.Unit] = max(m.row[l.Unit], row)
			if int64(was) == row {
				continue
			}
			out.append(&l, row)
			m.move("log_content", l.Unit, rowName(l.Unit, upperHex(l.Trace[:])+upperHex(l.Span[:])+upperHex(l.Message[:])+strconv.Itoa(int(l.Position)), was))
		}
		return nil
	})
	return "log_content", &out.Set, out.expires.Vals, err
}

func (m *mover) messages(ctx context.Context, r *Reader, units []string) (string, *column.Set, []uint32, error) {
	t, out := newMessageTable(), newMessageTable()
	err := r.query(ctx, sqlMessagesOfUnits.with(t.Names()), r.params().texts("units", units), &t.Set, func() error {
		for i := range t.Rows() {
			unit, ref, was := t.unit.Row(i), agent.Ref(t.hash.Row(i)), t.expires.Row(i)
			due, known := m.content[unit][ref]
			if !known || int64(was) == due {
				continue
			}
			out.append(r.tenant, unit, &agent.Body{Ref: ref, Text: t.body.Row(i), Expires: due})
			m.move("messages", unit, rowName(unit, upperHex(ref[:]), was))
		}
		return nil
	})
	return "messages", &out.Set, out.expires.Vals, err
}

func (m *mover) facts(ctx context.Context, r *Reader, units []string) (string, *column.Set, []uint32, error) {
	t, out := newFactTable(), newFactTable()
	err := r.query(ctx, sqlFactsAllOfUnits.with(t.Names()), r.params().texts("units", units), &t.Set, func() error {
		for i := range t.Rows() {
			unit, was := t.unit.Row(i), t.expires.Row(i)
			due := m.row[unit]
			if due == 0 || int64(was) == due {
				continue
			}
			f := t.row(i)
			out.append(r.tenant, unit, due, f)
			m.move("message_facts", unit, rowName(unit, upperHex(f.Ref[:]), was))
		}
		return nil
	})
	return "message_facts", &out.Set, out.expires.Vals, err
}

func (m *mover) keys(ctx context.Context, r *Reader, units []string) (string, *column.Set, []uint32, error) {
	t, out := newKeyTable(), newKeyTable()
	err := r.query(ctx, sqlKeysOfUnits.with(t.Names()), r.params().texts("units", units), &t.Set, func() error {
		for i := range t.Rows() {
			unit, was := t.unit.Row(i), t.expires.Row(i)
			due := m.row[unit]
			if due == 0 || int64(was) == due {
				continue
			}
			k := unitKey{keyRole(t.role.Row(i)), t.token.Row(i)}
			out.append(r.tenant, unit, t.service.Row(i), k, t.started.Row(i), due)
			m.move("unit_keys", unit, rowName(unit, k.token+"/"+k.role.String()+"/"+t.service.Row(i), was))
		}
		return nil
	})
	return "unit_keys", &out.Set, out.expires.Vals, err
}

func (m *mover) acts(ctx context.Context, r *Reader, units []string) (string, *column.Set, []uint32, error) {
	t, out := newActTable(), newActTable()
	err := r.query(ctx, sqlActsAllOfUnits.with(t.Names()), r.params().texts("units", units), &t.Set, func() error {
		for i := range t.Rows() {
			a, was, version := t.row(i), t.expires.Row(i), t.version.Row(i)
			due := m.row[a.Unit]
			if due == 0 || int64(was) == due {
				continue
			}
			out.append(&a, version, false, due)
			name := upperHex(a.Trace[:]) + upperHex(a.Span[:]) + strconv.Itoa(int(a.Part)) + "-" + strconv.FormatUint(version, 10)
			m.move("acts", a.Unit, rowName(a.Unit, name, was))
		}
		return nil
	})
	return "acts", &out.Set, out.expires.Vals, err
}

func (m *mover) links(ctx context.Context, r *Reader, units []string) (string, *column.Set, []uint32, error) {
	t, out := newLinkTable(), newLinkTable()
	err := r.query(ctx, sqlLinksAllOfUnits.with(t.Names()), r.params().texts("units", units), &t.Set, func() error {
		for i := range t.Rows() {
			l, was, version := t.row(i), t.expires.Row(i), t.version.Row(i)
			due := m.row[l.Unit]
			if due == 0 || int64(was) == due {
				continue
			}
			out.append(&l, version, due)
			m.move("run_links", l.Unit, rowName(l.Unit, l.Run+"-"+strconv.FormatUint(version, 10), was))
		}
		return nil
	})
	return "run_links", &out.Set, out.expires.Vals, err
}

// FinishMove deletes the rows that Move wrote again, and what was derived of
// their units under versions before the given one: judge them under it first.
func (s *Store) FinishMove(ctx context.Context, tenant string, version uint64) error {
	p := s.Tenant(tenant).params().number("version", int64(version))
	for _, t := range movable {
		if err := s.exec(ctx, sqlMovedDelete.of(t), p, waitMutation); err != nil {
			return fmt.Errorf("delete moved rows of %s: %w", t.name, err)
		}
	}
	for _, sql := range []statement{sqlMovedDerived, sqlMovedRuns} {
		if err := s.exec(ctx, string(sql), p, waitMutation); err != nil {
			return fmt.Errorf("delete what was derived before: %w", err)
		}
	}
	if err := s.exec(ctx, string(sqlMovedDone), p, waitMutation); err != nil {
		return fmt.Errorf("delete moved_rows: %w", err)
	}
	return nil
}

// MoveFindings gives findings that were detected since, Unix nanoseconds, a term
// in seconds.
func (s *Store) MoveFindings(ctx context.Context, tenant string, since, term int64) error {
	p := s.Tenant(tenant).params().number("from", since).number("term", term)
	if err := s.exec(ctx, string(sqlFindingsMove), p, notDeduplicated); err != nil {
		return fmt.Errorf("write findings again: %w", err)
	}
	if err := s.exec(ctx, string(sqlFindingsMoved), p, waitMutation); err != nil {
		return fmt.Errorf("delete moved findings: %w", err)
	}
	return nil
}
