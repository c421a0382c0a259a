package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

func count(t testing.TB, s *Store, table string) int {
	t.Helper()
	var n uint64
	require.NoError(t, s.conn.QueryRow(t.Context(), "SELECT count() FROM "+table).Scan(&n))
	return int(n) // a test's rows
}

func sample() *Batch {
	b := NewBatch()
	b.AddSpan(span("u", 1, 1, func(st *agent.Step) {
		st.Op, st.RunID = agent.OpModel, "u"
		st.Model.Outputs = []agent.Ref{{1}}
	}), []agent.Body{{Ref: agent.Ref{1}, Text: "x", Expires: inADay()}},
		[]agent.MessageFacts{{Ref: agent.Ref{1}, Calls: []agent.RequestedCall{{ID: "call-1"}}}})
	b.AddFinding(agent.Finding{ID: agent.FindingID{1}, Tenant: "acme", Run: "u", DetectedAt: time.Now().UnixNano()})
	return b
}

func TestTheSameBatchInsertedTwiceLeavesEachRowOnce(t *testing.T) {
	s := open(t)
	b := sample()
	require.NoError(t, s.Insert(t.Context(), b))
	b.done = [tableCount + 1]bool{} // as if the answers had been lost
	s.stored = newStoredRows(storedHalf)
	require.NoError(t, s.Insert(t.Context(), b))
	for _, table := range append(tableNames[:], "run_changes") {
		if table == "log_content" {
			continue
		}
		want := 1
		if table == "unit_keys" {
			want = 2 // its trace and the call that it asks for
		}
		require.Equal(t, want, count(t, s, table), table)
	}
}

func TestARepetitionByAnotherProcessIsReadOnce(t *testing.T) {
	s := open(t)
	data := sample().AppendTo(nil)
	for range 3 { // as after a kill: the queue's file is sent again, under other tokens
		b := NewBatch()
		require.NoError(t, b.Decode(data))
		s.stored = newStoredRows(storedHalf)
		require.NoError(t, s.Insert(t.Context(), b))
	}
	require.Equal(t, 3, count(t, s, "steps"))
	g, err := s.Tenant("acme").RunGroup(t.Context(), "u")
	require.NoError(t, err)
	require.Len(t, g.Input.Steps, 1)
	require.Len(t, g.Input.Facts, 1)
	findings, err := s.Tenant("acme").Findings(t.Context(), FindingFilter{})
	require.NoError(t, err)
	require.Len(t, findings, 1)
}

func TestTheCopyOfASpanThatCameLastCountsBeforeAndAfterAMerge(t *testing.T) {
	s := open(t)
	first := span("u", 1, 1, func(st *agent.Step) { st.Received, st.Name = 100, "first" })
	last := *first
	last.Received, last.Name = 200, "last"
	insert(t, s, &last)
	insert(t, s, first) // overtaken on the way
	for range 2 {
		g, err := s.Tenant("acme").RunGroup(t.Context(), "u")
		require.NoError(t, err)
		require.Len(t, g.Input.Steps, 1)
		require.Equal(t, "last", g.Input.Steps[0].Name)
		require.NoError(t, s.conn.Exec(t.Context(), "OPTIMIZE TABLE steps FINAL"))
	}
	require.Equal(t, 1, count(t, s, "steps"))
}

func TestAStoredBodyIsNotSentAgainButOnlyOnceItIsStored(t *testing.T) {
	s := open(t)
	batch := func(id byte) *Batch {
		b := s.NewBatch()
		b.AddSpan(span("u", 1, id, nil), []agent.Body{{Ref: agent.Ref{1}, Text: "x", Expires: inADay()}}, nil)
		return b
	}
	before := batch(1)
	require.Equal(t, 1, before.messages.Rows())
	require.Equal(t, 1, batch(2).messages.Rows(), "nothing is stored yet")

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, s.Insert(gone, before))
	require.Equal(t, 1, batch(3).messages.Rows(), "the insert did not succeed")

	require.NoError(t, s.Insert(t.Context(), before))
	require.Zero(t, batch(4).messages.Rows())
	other := s.NewBatch()
	other.AddSpan(span("v", 1, 5, nil), []agent.Body{{Ref: agent.Ref{1}, Text: "x", Expires: inADay()}}, nil)
	require.Equal(t, 1, other.messages.Rows(), "another unit has its own")
	later := s.NewBatch()
	later.AddSpan(span("u", 1, 6, nil), []agent.Body{{Ref: agent.Ref{1}, Text: "x", Expires: inADay() + 8*24*3600}}, nil)
	require.Equal(t, 1, later.messages.Rows(), "another week has its own")
}

func TestABodyThatWasStoredAfterTheBatchWasFilledIsLeftOutOfTheInsert(t *testing.T) {
	s := open(t)
	one, two := s.NewBatch(), s.NewBatch()
	for i, b := range []*Batch{one, two} {
		bodies := []agent.Body{{Ref: agent.Ref{byte(i + 10)}, Text: "own", Expires: inADay()}, {Ref: agent.Ref{1}, Text: "x", Expires: inADay()}, {Ref: agent.Ref{byte(i + 20)}, Text: "own too", Expires: inADay()}}
		b.AddSpan(span("u", 1, byte(i+1), nil), bodies, nil)
		require.NoError(t, s.Insert(t.Context(), b))
	}
	require.Equal(t, 5, count(t, s, "messages"))
	texts, err := s.Tenant("acme").Bodies(t.Context(), []string{"u"}, []agent.Ref{{1}, {10}, {11}, {20}, {21}})
	require.NoError(t, err)
	require.Len(t, texts, 5)
}

func TestABatchOverManyWeeksIsSplitSoThatNoInsertTouchesTooManyPartitions(t *testing.T) {
	s := open(t)
	b := NewBatch()
	const weeks = 120 // a server refuses 100 in one block
	for i := range weeks {
		b.AddSpan(span("u", 1, byte(i), func(st *agent.Step) { st.Expires = inADay() + int64(i)*7*24*3600 }), nil, nil)
	}
	require.NoError(t, s.Insert(t.Context(), b))
	require.Equal(t, weeks, count(t, s, "steps"))
}

func TestASetIsSplitIntoBlocksThatHoldEveryRowOnce(t *testing.T) {
	t.Parallel()
	var set column.Set
	text := column.Add(&set, "text", column.NewString())
	expires := make([]uint32, 0)
	const rows, week = 200_000, 7 * 24 * 3600
	for i := range rows {
		text.Append("row")
		expires = append(expires, uint32(i%70)*week) // small
	}
	seen := make([]int, rows)
	for _, block := range split(&set, expires) {
		n := 0
		weeks := map[int32]bool{}
		for _, r := range block {
			for i := r.lo; i < r.hi; i++ {
				seen[i]++
				n++
				weeks[weekOf(int64(expires[i]))] = true
			}
		}
		require.LessOrEqual(t, n, maxBlockRows)
		require.LessOrEqual(t, len(weeks), maxBlockPartitions)
	}
	for i, n := range seen {
		if n != 1 {
			t.Fatalf("row %d stands in %d blocks", i, n)
		}
	}
}

func TestWhatHasExpiredIsNotReadEvenBeforeItIsDropped(t *testing.T) {
	s := open(t)
	b := NewBatch()
	past := func(st *agent.Step) { st.Expires, st.ContentExpires = time.Now().Unix()-5, time.Now().Unix()-5 }
	b.AddSpan(span("u", 1, 1, past), []agent.Body{{Ref: agent.Ref{1}, Text: "old", Expires: time.Now().Unix() - 5}}, nil)
	b.AddSpan(span("u", 1, 2, nil), []agent.Body{{Ref: agent.Ref{2}, Text: "new", Expires: inADay()}}, nil)
	require.NoError(t, s.Insert(t.Context(), b))
	g, err := s.Tenant("acme").RunGroup(t.Context(), "u")
	require.NoError(t, err)
	require.Len(t, g.Input.Steps, 1)
	texts, err := s.Tenant("acme").Bodies(t.Context(), []string{"u"}, []agent.Ref{{1}, {2}})
	require.NoError(t, err)
	require.Equal(t, map[agent.Ref]string{{2}: "new"}, texts)
}

func TestAnErrorIsPermanentOnlyIfTheServerRefusesTheRows(t *testing.T) {
	s := open(t)
	var set column.Set
	column.Add(&set, "no_such_column", column.NewString()).Append("x")
	err := s.wire.insert(t.Context(), "INSERT INTO steps ("+set.Names()+")", &set, "")
	require.Error(t, err)
	require.True(t, Permanent(err), "%v", err)
	require.False(t, Permanent(s.wire.insert(t.Context(), "INSERT INTO no_such_table (no_such_column)", &set, "")), "a table may come")
	require.False(t, Permanent(context.DeadlineExceeded))
	require.False(t, Permanent(fmt.Errorf("insert: %w", &clickhouse.Exception{Code: 252})), "too many parts")
	require.True(t, Permanent(fmt.Errorf("insert: %w", &clickhouse.Exception{Code: 117})))
	require.False(t, Permanent(nil))
}

func TestMigratingTwiceAndAfterAnotherProcessChangesNothing(t *testing.T) {
	s, e := openEngine(t)
	require.NoError(t, s.Migrate(t.Context()))
	other, err := Open(t.Context(), e.Options(), Config{Database: e.Database})
	require.NoError(t, err)
	require.NoError(t, other.Migrate(t.Context()))
	require.NoError(t, other.Close())
}

func TestCompressedInsertsArriveAsTheyWere(t *testing.T) {
	_, e := openEngine(t)
	for _, method := range []clickhouse.CompressionMethod{clickhouse.CompressionLZ4, clickhouse.CompressionZSTD} {
		opts := e.Options()
		opts.Compression = &clickhouse.Compression{Method: method}
		s, err := Open(t.Context(), opts, Config{Database: e.Database})
		require.NoError(t, err)
		unit := "unit-" + method.String()
		want := filledStep()
		want.Unit, want.Trace = unit, agent.TraceID{byte(method)} // of a trace of its own
		want.Links, want.Checkpoint = nil, ""
		insert(t, s, want)
		g, err := s.Tenant("acme").RunGroup(t.Context(), unit)
		require.NoError(t, err)
		require.Equal(t, []*agent.Step{want}, g.Input.Steps, method.String())
		require.NoError(t, s.Close())
	}
}
