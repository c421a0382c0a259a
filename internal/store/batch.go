package store

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"hash/maphash"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// tableID numbers the tables of a batch in the order in which they are
// inserted: what is referred to comes before what refers to it.
type tableID int

const (
	tableMessages tableID = iota
	tableFacts
	tableLogs
	tableKeys
	tableSteps
	tableFindings
	tableCount
)

var tableNames = [tableCount]string{"messages", "message_facts", "log_content", "unit_keys", "steps", "findings"}

// Batch is the rows of spans and log records, as columns that are encoded once:
// what the exporter's queue holds and Store.Insert sends. It keeps no memory of
// the telemetry it was filled from. It is not safe for concurrent use.
type Batch struct {
	messages *messageTable
	facts    *factTable
	logs     *logTable
	keys     *keyTable
	steps    *stepTable
	findings *findingTable
	sets     [tableCount]*column.Set

	// items are the spans and log records in order, each with the ends of its
	// rows in the tables, so that a batch can be split between any two.
	items []ends

	// seen are the rows of messages, facts and keys that the batch holds: each
	// stands in it once.
	seen     map[rowKey]struct{}
	stored   *storedRows // what need not be inserted again; nil: not known
	noted    traceKey    // of the span added last that has an explicit unit
	notedRow int         // its row of steps

	late bool                 // an insert has left content of erased units out
	id   string               // deduplication token, given by the first insert
	done [tableCount + 1]bool // tables that were inserted, with run_changes last
}

// ends are the numbers of rows in the tables after an item.
type ends [tableCount]uint32

// NewBatch gives an empty batch that knows nothing of what is stored already.
func NewBatch() *Batch { return newBatch(nil) }

func newBatch(stored *storedRows) *Batch {
	b := &Batch{
		messages: newMessageTable(), facts: newFactTable(), logs: newLogTable(),
		keys: newKeyTable(), steps: newStepTable(), findings: newFindingTable(),
		seen: make(map[rowKey]struct{}), stored: stored,
	}
	b.sets = [tableCount]*column.Set{
		tableMessages: &b.messages.Set, tableFacts: &b.facts.Set, tableLogs: &b.logs.Set,
		tableKeys: &b.keys.Set, tableSteps: &b.steps.Set, tableFindings: &b.findings.Set,
	}
	return b
}

// AddSpan adds a span with the bodies and the message facts that it states.
// Nothing of them is kept.
func (b *Batch) AddSpan(st *agent.Step, bodies []agent.Body, facts []agent.MessageFacts) {
	unit := unitHash(st.Tenant, st.Unit)
	for i := range bodies {
		if b.fresh(newRowKey(tableMessages, unit, weekOf(bodies[i].Expires), bodies[i].Ref)) {
			b.messages.append(st.Tenant, st.Unit, &bodies[i])
		}
	}
	for i := range facts {
		if b.fresh(newRowKey(tableFacts, unit, weekOf(st.Expires), facts[i].Ref)) {
			b.facts.append(st.Tenant, st.Unit, st.Expires, &facts[i])
		}
	}
	if st.Explicit() != "" && !b.sameTrace(unit, st) {
		b.addKey(unit, st.Tenant, st.Unit, st.Service, unitKey{roleTrace, st.Trace.String()}, st.Start, st.Expires)
	}
	stepKeys(st, facts, func(k unitKey) { b.addKey(unit, st.Tenant, st.Unit, st.Service, k, st.Start, st.Expires) })
	b.steps.append(st)
	b.end()
}

// sameTrace reports whether the last span of an explicit unit has noted already
// that the unit has spans in this trace.
func (b *Batch) sameTrace(unit uint64, st *agent.Step) bool {
	k := traceKey{unit, st.Trace, weekOf(st.Expires)}
	same := k == b.noted && b.notedRow < b.steps.Rows() && b.steps.service.Row(b.notedRow) == st.Service
	b.noted, b.notedRow = k, b.steps.Rows()
	return same
}

// traceKey is a unit that has spans in a trace.
type traceKey struct {
	unit  uint64
	trace agent.TraceID
	week  int32
}

// AddLog adds a message that came as a log record.
func (b *Batch) AddLog(l agent.LogContent, body agent.Body, facts agent.MessageFacts) {
	unit := unitHash(l.Tenant, l.Unit)
	expires := l.Expires
	if expires == 0 {
		expires = body.Expires
	}
	if b.fresh(newRowKey(tableMessages, unit, weekOf(body.Expires), body.Ref)) {
		b.messages.append(l.Tenant, l.Unit, &body)
	}
	if b.fresh(newRowKey(tableFacts, unit, weekOf(expires), facts.Ref)) {
		b.facts.append(l.Tenant, l.Unit, expires, &facts)
	}
	logKeys(&l, &facts, func(k unitKey) { b.addKey(unit, l.Tenant, l.Unit, "", k, l.Start, expires) })
	b.logs.append(&l, expires)
	b.end()
}

// AddFinding adds a finding of the stream to the item added last: it is written
// with version 0, which any later verdict of the sweep replaces.
func (b *Batch) AddFinding(f agent.Finding) {
	b.findings.append(&f, 0)
	if len(b.items) == 0 {
		b.end()
		return
	}
	b.items[len(b.items)-1][tableFindings]++
}

// AddLateFinding adds a finding of the stream as an item of its own: no span of
// the batch carries it.
func (b *Batch) AddLateFinding(f agent.Finding) {
	b.findings.append(&f, 0)
	b.end()
}

func (b *Batch) addKey(unit uint64, tenant, id, service string, k unitKey, started, expires int64) {
	if k.role.repeats() && !b.fresh(keyOf(unit, service, k, weekOf(expires))) {
		return
	}
	b.keys.append(tenant, id, service, k, started, expires)
}

// fresh reports whether the row is neither in the batch nor stored, and notes it.
func (b *Batch) fresh(k rowKey) bool {
	if k.row == ([16]byte{}) {
		return false
	}
	if _, ok := b.seen[k]; ok {
		return false
	}
	if b.stored.has(k) {
		return false
	}
	b.seen[k] = struct{}{}
	return true
}

func (b *Batch) end() {
	var e ends
	for t, s := range b.sets {
		e[t] = uint32(s.Rows()) // a batch is far below 2^32 rows
	}
	b.items = append(b.items, e)
}

// Len is the number of items: spans, messages from log records, late findings.
func (b *Batch) Len() int { return len(b.items) }

// Spans is the number of spans.
func (b *Batch) Spans() int { return b.steps.Rows() }

// Logs is the number of messages from log records.
func (b *Batch) Logs() int { return b.logs.Rows() }

// Findings is the number of findings.
func (b *Batch) Findings() int { return b.findings.Rows() }

// Bytes is about how much memory the rows take, which is about what an insert
// sends.
func (b *Batch) Bytes() int {
	n := 0
	for _, s := range b.sets {
		n += s.Bytes()
	}
	return n
}

// Reset empties the batch and keeps its memory. It is another batch then: its
// next insert is not a repetition.
func (b *Batch) Reset() {
	for _, s := range b.sets {
		s.Reset()
	}
	b.items = b.items[:0]
	clear(b.seen)
	b.noted = traceKey{}
	b.late, b.id = false, ""
	b.done = [tableCount + 1]bool{}
}

// Take appends the items lo to hi (exclusive) of src. Rows that b holds already
// are left out; rows that src holds for an earlier item are not brought along,
// so the parts of a split batch belong together.
func (b *Batch) Take(src *Batch, lo, hi int) {
	if lo >= hi {
		return
	}
	var from ends
	if lo > 0 {
		from = src.items[lo-1]
	}
	first := len(b.items)
	b.items = append(b.items, src.items[lo:hi]...)
	for t := range tableCount {
		b.takeTable(src, t, from[t], src.items[hi-1][t], b.items[first:])
	}
}

// takeTable appends rows of one table and turns the ends of the new items from
// src's numbers into b's.
func (b *Batch) takeTable(src *Batch, t tableID, lo, hi uint32, items []ends) {
	if t != tableMessages && t != tableFacts && t != tableKeys {
		base := uint32(b.sets[t].Rows()) // below 2^32 rows
		b.sets[t].Take(src.sets[t], int(lo), int(hi))
		for i := range items {
			items[i][t] += base - lo
		}
		return
	}
	// Rows are taken in stretches, interrupted by those that are here already.
	row, start := lo, lo
	for i := range items {
		for ; row < items[i][t]; row++ {
			if k, once := src.rowKey(t, int(row)); !once || b.fresh(k) {
				continue
			}
			b.sets[t].Take(src.sets[t], int(start), int(row))
			start = row + 1
		}
		pending := row - start
		items[i][t] = uint32(b.sets[t].Rows()) + pending // below 2^32 rows
	}
	b.sets[t].Take(src.sets[t], int(start), int(row))
}

// rowKey is the key of a row of messages, facts or keys; once says whether the
// row is kept once at all.
func (b *Batch) rowKey(t tableID, i int) (k rowKey, once bool) {
	switch t {
	case tableMessages:
		m := b.messages
		return newRowKey(t, unitHash(m.tenant.Row(i), m.unit.Row(i)), weekOf(int64(m.expires.Row(i))), m.hash.Row(i)), true
	case tableFacts:
		m := b.facts
		return newRowKey(t, unitHash(m.tenant.Row(i), m.unit.Row(i)), weekOf(int64(m.expires.Row(i))), m.hash.Row(i)), true
	default:
		m := b.keys
		role := keyRole(m.role.Row(i))
		if !role.repeats() {
			return rowKey{}, false
		}
		return keyOf(unitHash(m.tenant.Row(i), m.unit.Row(i)), m.service.Row(i),
			unitKey{role, m.token.Row(i)}, weekOf(int64(m.expires.Row(i)))), true
	}
}

// token is what makes retries of this batch's inserts known to the server.
func (b *Batch) token() string {
	if b.id == "" {
		var raw [16]byte
		_, _ = rand.Read(raw[:]) // never fails
		b.id = hex.EncodeToString(raw[:])
	}
	return b.id
}

// rowKey names a content-addressed row within this process: table, unit, week
// and row. Units are hashed with a secret of the process, so that no sender can
// make two of them alike.
type rowKey struct {
	place uint64
	row   [16]byte
}

var seed = maphash.MakeSeed()

func unitHash(tenant, unit string) uint64 {
	return maphash.Comparable(seed, agent.UnitID{Tenant: tenant, Unit: unit})
}

// newRowKey mixes table and week into the hash of the unit.
func newRowKey(t tableID, unit uint64, week int32, row [16]byte) rowKey {
	const odd = 0x9e3779b97f4a7c15                                         // the golden ratio: spreads small numbers over the word
	return rowKey{place: unit ^ (uint64(week)<<8|uint64(t))*odd, row: row} // both are small and not negative
}

func keyOf(unit uint64, service string, k unitKey, week int32) rowKey {
	var row [16]byte
	binary.LittleEndian.PutUint64(row[:], maphash.Comparable(seed, [2]string{service, k.token}))
	row[8] = byte(k.role)
	return newRowKey(tableKeys, unit, week, row)
}

// weekOf numbers the weeks from Monday to Sunday (UTC) that are the partitions.
func weekOf(unix int64) int32 {
	const day = 24 * 3600
	return int32((int64(seconds(unix))/day + 3) / 7) // at most 2^32 seconds
}
