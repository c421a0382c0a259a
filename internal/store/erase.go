package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// What of a table's rows an erasure takes: a condition of constants.
const (
	allRows    = "1"
	noRows     = "0"
	unerased   = "NOT erased"
	identified = "(target != '' AND NOT startsWith(target, '" + erasedPrefix + "')) OR (key != '' AND NOT startsWith(key, '" + erasedPrefix + "'))"
)

// erasing says for a table which rows are deleted, and by which it is told that
// rows came after the erasure. Derived rows are all deleted: the sweep derives
// them again from what is left. What joins units is ids and stays.
type erasing struct{ deleted, late string }

var erasings = map[string]erasing{
	"messages":      {allRows, allRows},
	"message_facts": {unerased, unerased},
	"log_content":   {unerased, unerased},
	"unit_keys":     {noRows, noRows},
	"steps":         {unerased, unerased},
	"attempts":      {allRows, identified},
	"acts":          {allRows, identified},
	"run_links":     {noRows, noRows},
	"findings":      {allRows, noRows},
	"resolutions":   {noRows, "actor != '' OR note != ''"},
	"runs":          {allRows, "user != '' OR session != ''"},
}

// where puts a condition into a statement for a table.
func (t dataTable) where(s statement, condition string) string {
	return replaceAll(string(s), "/* table */", t.name, "/* by */", t.by, "/* also */", condition)
}

// ErasedRuns gives the names of the units, and every run whose derived rows speak
// of them: those that are named, and all that ever had spans in the units.
func (s *Store) ErasedRuns(ctx context.Context, tenant string, units []agent.UnitOfRun) (names, runs []string, err error) {
	for _, u := range units {
		names = append(names, u.Unit)
		runs = append(runs, u.Run, u.Unit) // a finding of the stream may stand under the unit's name
	}
	names = dedup(names)
	r := s.Tenant(tenant)
	err = chunks(names, func(part []string) error {
		more, err := s.names(ctx, string(sqlRunsOfUnits), "run", r.params().texts("units", part))
		runs = append(runs, more...)
		return err
	})
	return names, dedup(runs), err
}

// NeedsErasing reports whether rows of units and runs are there that an erasure
// has not taken yet.
func (s *Store) NeedsErasing(ctx context.Context, tenant string, units, runs []string, full bool) (bool, error) {
	r := s.Tenant(tenant)
	found := false
	for _, t := range dataTables {
		condition := erasings[t.name].late
		if full {
			condition = allRows
		}
		if condition == noRows || found {
			continue
		}
		err := chunks(dedup(t.names(units, runs)), func(part []string) error {
			n, err := r.count(ctx, t.where(sqlToErase, condition), r.params().texts("names", part))
			found = found || n > 0
			return err
		})
		if err != nil {
			return false, fmt.Errorf("look for rows of %s to erase: %w", t.name, err)
		}
	}
	return found, nil
}

// Erase takes content and identifying fields of the units out of every table,
// and with full their rows. It returns once the parts are written anew; the ones
// before them may still lie on disk, see PartsGone. It writes a line of the
// certificate for each table before it begins. After an error it may be
// repeated, and again when all is erased: then it certifies nothing. Derived rows
// are gone afterwards: the units have to be judged again.
func (s *Store) Erase(ctx context.Context, tenant string, id agent.JobID, units, runs []string, full bool, at int64) error {
	units, runs = dedup(units), dedup(runs)
	s.erased.note(tenant, units, full) // what arrives from here on is erased first
	// Derived rows of what was erased before are derived anew with it, and are no
	// line of a certificate.
	needs, err := s.NeedsErasing(ctx, tenant, units, runs, full)
	if err != nil {
		return err
	}
	if needs {
		if err := s.certify(ctx, tenant, id, units, runs, full, at); err != nil {
			return err
		}
	}
	if !full {
		if err := s.rewrite(ctx, tenant, units); err != nil {
			return fmt.Errorf("write what stays of erased units: %w", err)
		}
	}
	r := s.Tenant(tenant)
	for _, t := range dataTables {
		condition := erasings[t.name].deleted
		if full {
			condition = allRows
		}
		if condition == noRows {
			continue
		}
		err := chunks(t.names(units, runs), func(part []string) error {
			return s.exec(ctx, t.where(sqlErase, condition), r.params().texts("names", part), waitMutation)
		})
		if err != nil {
			return fmt.Errorf("erase rows of %s: %w", t.name, err)
		}
	}
	return chunks(units, func(part []string) error {
		if !full {
			if err := s.exec(ctx, string(sqlForgetNotes), r.params().texts("names", part), waitMutation); err != nil {
				return fmt.Errorf("erase notes: %w", err)
			}
		}
		return s.forgetHolds(ctx, r, part)
	})
}

// ForgetHold takes whom a hold names out of all its rows.
func (s *Store) ForgetHold(ctx context.Context, tenant string, id agent.JobID) error {
	return s.forgetNames(ctx, s.Tenant(tenant), []string{id.String()})
}

// forgetHolds takes the names out of holds that have ended and covered units:
// those that ended before a hold's end did so.
func (s *Store) forgetHolds(ctx context.Context, r *Reader, units []string) error {
	ids, err := s.names(ctx, string(sqlEndedHolds), "id", r.params().texts("units", units))
	if err != nil || len(ids) == 0 {
		return err
	}
	return s.forgetNames(ctx, r, ids)
}

func (s *Store) forgetNames(ctx context.Context, r *Reader, ids []string) error {
	if err := s.exec(ctx, string(sqlForgetHolds), r.params().texts("ids", ids), waitMutation); err != nil {
		return fmt.Errorf("erase whom holds named: %w", err)
	}
	return nil
}

// certify writes what is about to go.
func (s *Store) certify(ctx context.Context, tenant string, id agent.JobID, units, runs []string, full bool, at int64) error {
	r := s.Tenant(tenant)
	for _, t := range dataTables {
		condition := erasings[t.name].deleted
		switch {
		case full:
			condition = allRows
		case t.name == "resolutions":
			condition = erasings[t.name].late
		}
		if condition == noRows {
			continue
		}
		err := chunks(t.names(units, runs), func(part []string) error {
			rm := agent.Removal{At: at, Table: t.name}
			var set column.Set
			n, digest := column.Add(&set, "n", &column.UInt64{}), column.Add(&set, "digest", &column.Bytes32{})
			err := r.query(ctx, t.where(sqlRowsOfNames, condition), r.params().texts("names", part), &set, func() error {
				rm.Rows, rm.Digest = int64(n.Row(0)), digest.Row(0) // a number of rows
				return nil
			})
			if err != nil || rm.Rows == 0 {
				return err
			}
			return s.writeRemoval(ctx, tenant, id, rm)
		})
		if err != nil {
			return fmt.Errorf("count rows of %s to erase: %w", t.name, err)
		}
	}
	return nil
}

// rewrite writes what stays of spans, message facts and the places of logged
// messages.
func (s *Store) rewrite(ctx context.Context, tenant string, units []string) error {
	r := s.Tenant(tenant)
	sc := newScrubber()
	limits, err := s.statedLimits(ctx, r, units)
	if err != nil {
		return err
	}
	return chunks(units, func(part []string) error {
		if err := s.rewriteSteps(ctx, r, sc, part, limits); err != nil {
			return fmt.Errorf("steps: %w", err)
		}
		if err := s.rewriteFacts(ctx, r, sc, part); err != nil {
			return fmt.Errorf("message facts: %w", err)
		}
		if err := s.rewriteLogs(ctx, r, sc, part); err != nil {
			return fmt.Errorf("log content: %w", err)
		}
		return nil
	})
}

// spanName names a span.
type spanName struct {
	trace agent.TraceID
	span  agent.SpanID
}

// statedLimits gives the last spans of runs that a limit ended, as words of
// their errors told: the words go, the outcome stays.
func (s *Store) statedLimits(ctx context.Context, r *Reader, units []string) (map[spanName]bool, error) {
	groups, err := r.closure(ctx, units)
	if err != nil {
		return nil, err
	}
	out := map[spanName]bool{}
	for i := range groups {
		for _, run := range agent.Runs(groups[i].Input) {
			if run.Outcome != agent.RunOutcomeLimit {
				continue
			}
			last := slices.MaxFunc(run.Spans, func(a, b *agent.Step) int { return int(min(1, max(-1, a.End-b.End))) })
			out[spanName{last.Trace, last.Span}] = true
		}
	}
	return out, nil
}

func (s *Store) rewriteSteps(ctx context.Context, r *Reader, sc *scrubber, units []string, limits map[spanName]bool) error {
	t := newStepTable()
	inserted := column.Add(&t.Set, "inserted_at", column.NewMillis())
	var steps []*agent.Step
	var arrivals []int64
	p := r.params().texts("units", units).number("limit", maxClosureSteps)
	err := r.query(ctx, sqlStepsOfUnits.with(t.Names()), p, &t.Set, func() error {
		for i := range t.Rows() {
			st := t.row(i)
			sc.note(st.Call.Tool, st.StepID)
			if !st.Erased {
				steps, arrivals = append(steps, st), append(arrivals, inserted.Row(i))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	out := newStepTable()
	arrived := column.Add(&out.Set, "inserted_at", column.NewMillis()) // as before: the run is as quiet as it was
	for i, st := range steps {
		arrived.Append(arrivals[i])
		kept := sc.step(st)
		if limits[spanName{st.Trace, st.Span}] {
			kept.RunOutcome = agent.RunOutcomeLimit
		}
		out.append(kept)
	}
	return s.insertSet(ctx, "steps", &out.Set, out.expires.Vals, "")
}

func (s *Store) rewriteFacts(ctx context.Context, r *Reader, sc *scrubber, units []string) error {
	t, out := newFactTable(), newFactTable()
	err := r.query(ctx, sqlFactsOfUnits.with(t.Names()), r.params().texts("units", units), &t.Set, func() error {
		for i := range t.Rows() {
			if f := t.row(i); !f.Erased {
				kept := sc.message(*f)
				out.append(t.tenant.Row(i), t.unit.Row(i), int64(t.expires.Row(i)), &kept)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.insertSet(ctx, "message_facts", &out.Set, out.expires.Vals, "")
}

func (s *Store) rewriteLogs(ctx context.Context, r *Reader, sc *scrubber, units []string) error {
	t, out := newLogTable(), newLogTable()
	err := r.query(ctx, sqlLogsOfUnits.with(t.Names()), r.params().texts("units", units), &t.Set, func() error {
		for i := range t.Rows() {
			if l := t.row(i); !l.Erased {
				kept := sc.log(l)
				out.append(&kept, int64(t.expires.Row(i)))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.insertSet(ctx, "log_content", &out.Set, out.expires.Vals, "")
}
