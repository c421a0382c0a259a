package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// Limits of one INSERT. A block that fits is stored whole or not at all in each
// partition it touches; a server refuses one that touches more than 100.
const (
	maxBlockRows       = 65_536
	maxBlockBytes      = 64 << 20
	maxBlockPartitions = 50
)

// Insert writes the rows of the batch: bodies and facts first, then what refers
// to them, the notice to the sweep last. It returns once all of it is stored.
//
// It may be repeated with the same batch after an error: tables that are done
// are passed over, and what may have reached the server is known to it by the
// batch's token. See Permanent for which errors are worth it.
func (s *Store) Insert(ctx context.Context, b *Batch) error {
	if err := s.eraseArrivals(ctx, b); err != nil {
		return err
	}
	for t := range tableCount {
		if b.done[t] {
			continue
		}
		if err := s.insertTable(ctx, b, t); err != nil {
			return fmt.Errorf("insert %s: %w", tableNames[t], err)
		}
		b.done[t] = true
	}
	if b.done[tableCount] {
		return nil
	}
	if err := s.insertChanges(ctx, b); err != nil {
		return fmt.Errorf("insert run_changes: %w", err)
	}
	b.done[tableCount] = true
	return nil
}

func (s *Store) insertTable(ctx context.Context, b *Batch, t tableID) error {
	set := b.sets[t]
	if t != tableMessages && t != tableFacts && t != tableKeys {
		return s.insertSet(ctx, tableNames[t], set, expiresOf(b, t), b.token())
	}
	set, expires, keys := s.unstored(b, t)
	if err := s.insertSet(ctx, tableNames[t], set, expires, b.token()); err != nil {
		return err
	}
	s.stored.add(keys)
	return nil
}

// unstored gives the rows that are not known to be stored, and their keys. Most
// often that is all of them, and nothing is copied.
func (s *Store) unstored(b *Batch, t tableID) (*column.Set, []uint32, []rowKey) {
	n := b.sets[t].Rows()
	keys := make([]rowKey, 0, n)
	skip := make([]int, 0)
	for i := range n {
		k, once := b.rowKey(t, i)
		switch {
		case !once:
		case s.stored.has(k):
			skip = append(skip, i)
		default:
			keys = append(keys, k)
		}
	}
	expires := expiresOf(b, t)
	if len(skip) == 0 {
		return b.sets[t], expires, keys
	}
	rest := b.sets[t].New()
	kept := make([]uint32, 0, n-len(skip))
	start := 0
	for _, i := range append(skip, n) {
		rest.Take(b.sets[t], start, i)
		kept = append(kept, expires[start:i]...)
		start = i + 1
	}
	return rest, kept, keys
}

func expiresOf(b *Batch, t tableID) []uint32 {
	switch t {
	case tableMessages:
		return b.messages.expires.Vals
	case tableFacts:
		return b.facts.expires.Vals
	case tableLogs:
		return b.logs.expires.Vals
	case tableKeys:
		return b.keys.expires.Vals
	case tableSteps:
		return b.steps.expires.Vals
	default:
		return b.findings.expires.Vals
	}
}

// insertSet writes rows in blocks within the limits. expires are those of the
// rows, nil for a table that has none. Equal rows are split alike, so that the
// tokens of a repetition fit.
func (s *Store) insertSet(ctx context.Context, table string, set *column.Set, expires []uint32, token string) error {
	if set.Rows() == 0 {
		return nil
	}
	into := "INSERT INTO " + table + " (" + set.Names() + ")"
	blocks := split(set, expires)
	if len(blocks) == 1 {
		return s.wire.insert(ctx, into, set, token)
	}
	part := set.New()
	for i, rows := range blocks {
		part.Reset()
		for _, r := range rows {
			part.Take(set, r.lo, r.hi)
		}
		if err := s.wire.insert(ctx, into, part, blockToken(token, i)); err != nil {
			return err
		}
	}
	return nil
}

// blockToken tells the blocks of one batch apart. Without a token the server
// knows a repetition by its content.
func blockToken(token string, i int) string {
	if token == "" {
		return ""
	}
	return token + "-" + strconv.Itoa(i)
}

// stretch is the rows lo to hi (exclusive).
type stretch struct{ lo, hi int }

// split gives the blocks in which rows are inserted. One block is all the rows.
func split(set *column.Set, expires []uint32) [][]stretch {
	n := set.Rows()
	size := max(1, set.Bytes()/n) // of a row, on average
	most := max(1, min(maxBlockRows, maxBlockBytes/size))
	groups := splitPartitions(n, expires)
	var blocks [][]stretch
	for _, rows := range groups {
		var block []stretch
		room := most
		for _, r := range rows {
			for r.lo < r.hi {
				take := min(room, r.hi-r.lo)
				block = append(block, stretch{r.lo, r.lo + take})
				r.lo += take
				if room -= take; room == 0 {
					blocks, block, room = append(blocks, block), nil, most
				}
			}
		}
		if len(block) > 0 {
			blocks = append(blocks, block)
		}
	}
	return blocks
}

// splitPartitions groups n rows so that none touches too many partitions.
func splitPartitions(n int, expires []uint32) [][]stretch {
	all := [][]stretch{{{0, n}}}
	if len(expires) == 0 {
		return all
	}
	weeks := make([]int32, 0, 8)
	last := int32(-1)
	for _, e := range expires {
		if w := weekOf(int64(e)); w != last {
			last = w
			if i, ok := slices.BinarySearch(weeks, w); !ok {
				weeks = slices.Insert(weeks, i, w)
			}
		}
	}
	if len(weeks) <= maxBlockPartitions {
		return all
	}
	groups := make([][]stretch, (len(weeks)+maxBlockPartitions-1)/maxBlockPartitions)
	for i, e := range expires {
		w, _ := slices.BinarySearch(weeks, weekOf(int64(e)))
		g := &groups[w/maxBlockPartitions]
		if k := len(*g); k > 0 && (*g)[k-1].hi == i {
			(*g)[k-1].hi++
			continue
		}
		*g = append(*g, stretch{i, i + 1})
	}
	return groups
}

// insertChanges tells the sweep which units have new rows.
func (s *Store) insertChanges(ctx context.Context, b *Batch) error {
	var order []agent.UnitID
	rows := make(map[agent.UnitID]int64)
	note := func(id agent.UnitID) {
		if rows[id] == 0 {
			order = append(order, id)
		}
		rows[id]++
	}
	for i := range b.steps.Rows() {
		note(agent.UnitID{Tenant: b.steps.tenant.Row(i), Unit: b.steps.unit.Row(i)})
	}
	for i := range b.logs.Rows() {
		note(agent.UnitID{Tenant: b.logs.tenant.Row(i), Unit: b.logs.unit.Row(i)})
	}
	t := newChangeTable()
	for _, id := range order {
		t.append(id, rows[id])
	}
	return s.insertSet(ctx, "run_changes", &t.Set, nil, b.token())
}
