package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// KeepContent writes bodies of spans again, as far as they are still there, to
// expire later, and then the spans, which say so. It may be repeated.
func (s *Store) KeepContent(ctx context.Context, tenant string, spans []agent.KeptContent) error {
	r := s.Tenant(tenant)
	for part := range slices.Chunk(spans, maxKept) {
		if err := s.keepBodies(ctx, r, part); err != nil {
			return fmt.Errorf("bodies: %w", err)
		}
		if err := s.keepSteps(ctx, r, part); err != nil {
			return fmt.Errorf("steps: %w", err)
		}
	}
	return nil
}

// maxKept is how many spans are worked on at once.
const maxKept = 500

func (s *Store) keepBodies(ctx context.Context, r *Reader, spans []agent.KeptContent) error {
	type place struct {
		unit string
		ref  agent.Ref
	}
	until := map[place]int64{}
	var units []string
	var refs []agent.Ref
	for _, k := range spans {
		units = append(units, k.Step.Unit)
		for _, ref := range append(slices.Concat(k.Step.Model.Context, k.Step.Model.Outputs), k.Step.Call.Arguments.Ref, k.Step.Call.Result.Ref) {
			if p := (place{k.Step.Unit, ref}); !ref.IsZero() {
				until[p] = max(until[p], k.Until)
				refs = append(refs, ref)
			}
		}
	}
	out := newMessageTable()
	var set column.Set
	unit := column.Add(&set, "unit", column.NewString())
	hash := column.Add(&set, "hash", &column.Bytes16{})
	body := column.Add(&set, "body", column.NewString())
	hashes := make([]string, len(refs))
	for i, ref := range refs {
		hashes[i] = ref.String()
	}
	err := chunks(dedup(units), func(units []string) error {
		return chunks(dedup(hashes), func(hashes []string) error {
			p := r.params().texts("units", units).texts("hashes", hashes)
			return r.query(ctx, string(sqlBodiesOfUnits), p, &set, func() error {
				for i := range set.Rows() {
					if at := until[place{unit.Row(i), hash.Row(i)}]; at > 0 {
						out.append(r.tenant, unit.Row(i), &agent.Body{Ref: hash.Row(i), Text: body.Row(i), Expires: at})
					}
				}
				return nil
			})
		})
	})
	if err != nil {
		return err
	}
	return s.insertSet(ctx, "messages", &out.Set, out.expires.Vals, "")
}

// keepSteps writes the spans as they were, with the later term of their bodies.
func (s *Store) keepSteps(ctx context.Context, r *Reader, spans []agent.KeptContent) error {
	until := map[spanName]int64{}
	var units []string
	for _, k := range spans {
		until[spanName{k.Step.Trace, k.Step.Span}] = k.Until
		units = append(units, k.Step.Unit)
	}
	t, out := newStepTable(), newStepTable()
	inserted := column.Add(&t.Set, "inserted_at", column.NewMillis())
	arrived := column.Add(&out.Set, "inserted_at", column.NewMillis()) // as before: nothing came
	err := chunks(dedup(units), func(part []string) error {
		p := r.params().texts("units", part).number("limit", maxClosureSteps)
		return r.query(ctx, sqlStepsOfUnits.with(t.Names()), p, &t.Set, func() error {
			for i := range t.Rows() {
				st := t.row(i)
				at := until[spanName{st.Trace, st.Span}]
				if st.Expires >= heldUntil || st.Erased || st.ContentExpires >= at {
					continue
				}
				st.ContentExpires = at
				out.append(st)
				arrived.Append(inserted.Row(i))
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	return s.insertSet(ctx, "steps", &out.Set, out.expires.Vals, "")
}
