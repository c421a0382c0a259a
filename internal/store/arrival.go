package store

import (
	"context"

	"github.com/steptrail/steptrail/internal/agent"
)

// eraseArrivals takes content and identifying fields out of the batch where it
// is for erased units.
func (s *Store) eraseArrivals(ctx context.Context, b *Batch) error {
	if b.done != ([tableCount + 1]bool{}) {
		return nil // begun: what is stored of it is found by the erasure's next look
	}
	erased, err := s.erased.get(ctx, s)
	if err != nil || len(erased) == 0 {
		return err
	}
	b.late = b.erase(erased) || b.late
	return nil
}

// EraseKnown takes content and identifying fields out of the batch where it is
// for units of which this process knows that they were erased. It asks nobody:
// Insert does.
func (s *Store) EraseKnown(b *Batch) {
	if erased := s.erased.known(); len(erased) > 0 {
		b.erase(erased)
	}
}

// ErasedGeneration gives a number that grows whenever other units are erased than
// before, of any tenant, also those that a hold has kept so far; 0 while none is.
func (s *Store) ErasedGeneration(ctx context.Context) (int, error) {
	_, err := s.erased.get(ctx, s)
	return s.erased.generation(), err
}

// Late reports whether Insert has found content of erased units in the batch,
// and left it out: it has passed whatever the batch came through.
func (b *Batch) Late() bool { return b.late }

// erase replaces the rows of erased units by what stays of them, and reports
// whether there were any.
func (b *Batch) erase(erased map[agent.UnitID]bool) bool {
	hit := false
	for i := range b.steps.Rows() {
		full, ok := erased[agent.UnitID{Tenant: b.steps.tenant.Row(i), Unit: b.steps.unit.Row(i)}]
		hit = hit || ok && (full || !b.steps.erased.Row(i))
	}
	for i := range b.logs.Rows() {
		full, ok := erased[agent.UnitID{Tenant: b.logs.tenant.Row(i), Unit: b.logs.unit.Row(i)}]
		hit = hit || ok && (full || !b.logs.erased.Row(i))
	}
	for i := range b.findings.Rows() {
		_, ok := erased[agent.UnitID{Tenant: b.findings.tenant.Row(i), Unit: b.findings.run.Row(i)}]
		hit = hit || ok
	}
	if !hit {
		return false
	}
	out, sc := newBatch(nil), newScrubber()
	out.id = b.id
	for i := range b.steps.Rows() {
		sc.note(b.steps.tool.Row(i), b.steps.stepID.Row(i))
	}
	var from ends
	for i, to := range b.items {
		id, known := b.unitOf(from, to)
		full, ok := erased[id]
		switch {
		case !known || !ok:
			out.Take(b, i, i+1)
		case !full:
			out.takeErased(b, from, to, sc)
		}
		from = to
	}
	out.stored, out.late = b.stored, b.late
	*b = *out
	return true
}

// unitOf is the unit that an item belongs to; of a late finding that of its run.
func (b *Batch) unitOf(from, to ends) (agent.UnitID, bool) {
	if i := int(from[tableSteps]); i < int(to[tableSteps]) {
		return agent.UnitID{Tenant: b.steps.tenant.Row(i), Unit: b.steps.unit.Row(i)}, true
	}
	if i := int(from[tableLogs]); i < int(to[tableLogs]) {
		return agent.UnitID{Tenant: b.logs.tenant.Row(i), Unit: b.logs.unit.Row(i)}, true
	}
	if i := int(from[tableFindings]); i < int(to[tableFindings]) {
		return agent.UnitID{Tenant: b.findings.tenant.Row(i), Unit: b.findings.run.Row(i)}, true
	}
	return agent.UnitID{}, false
}

// takeErased appends what stays of an item: no bodies, no findings. What joins
// units is ids and stays as it is.
func (b *Batch) takeErased(src *Batch, from, to ends, sc *scrubber) {
	for i := int(from[tableFacts]); i < int(to[tableFacts]); i++ {
		f := sc.message(*src.facts.row(i))
		b.facts.append(src.facts.tenant.Row(i), src.facts.unit.Row(i), int64(src.facts.expires.Row(i)), &f)
	}
	for i := int(from[tableLogs]); i < int(to[tableLogs]); i++ {
		l := sc.log(src.logs.row(i))
		b.logs.append(&l, int64(src.logs.expires.Row(i)))
	}
	b.sets[tableKeys].Take(src.sets[tableKeys], int(from[tableKeys]), int(to[tableKeys]))
	for i := int(from[tableSteps]); i < int(to[tableSteps]); i++ {
		b.steps.append(sc.step(src.steps.row(i)))
	}
	b.end()
}
