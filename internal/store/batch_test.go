package store

import (
	"bytes"
	"testing"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steptrail/steptrail/internal/agent"
)

// drawBatch fills a batch with spans, messages and findings that share some.
func drawBatch(r *rapid.T, name string) *Batch {
	b := NewBatch()
	n := rapid.IntRange(0, 12).Draw(r, name)
	for i := range n {
		unit := rapid.SampledFrom([]string{"u", "v"}).Draw(r, "unit")
		ref := agent.Ref{byte(rapid.IntRange(1, 4).Draw(r, "ref"))}
		if rapid.IntRange(0, 4).Draw(r, "log") == 0 {
			b.AddLog(agent.LogContent{Tenant: "t", Unit: unit, Trace: agent.TraceID{1}, Position: int32(i), Message: ref}, // small
				agent.Body{Ref: ref, Text: "body", Expires: 1000}, agent.MessageFacts{Ref: ref})
			continue
		}
		st := &agent.Step{Tenant: "t", Unit: unit, RunID: unit, Trace: agent.TraceID{1}, Span: agent.SpanID{byte(i)}, Name: name, Expires: 2000}
		b.AddSpan(st, []agent.Body{{Ref: ref, Text: "body", Expires: 1000}}, []agent.MessageFacts{{Ref: ref}})
		if rapid.Bool().Draw(r, "finding") {
			b.AddFinding(agent.Finding{ID: agent.FindingID{byte(i)}})
		}
	}
	return b
}

// rows is the block of each table, to compare batches by.
func rows(b *Batch) []byte {
	var buf proto.Buffer
	for _, s := range b.sets {
		s.Encode(&buf)
	}
	return buf.Buf
}

func TestABatchComesBackFromDiskAsItWas(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := drawBatch(r, "batch")
		data := b.AppendTo([]byte("before"))[len("before"):]
		back := NewBatch()
		if err := back.Decode(data); err != nil {
			r.Fatal(err)
		}
		if !bytes.Equal(back.AppendTo(nil), data) || back.Len() != b.Len() || back.Bytes() != b.Bytes() || len(back.seen) != len(b.seen) {
			r.Fatal("another batch")
		}
	})
}

func TestABatchTakenInPiecesIsTheSameBatch(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := drawBatch(r, "batch")
		whole, pieces := NewBatch(), NewBatch()
		whole.Take(b, 0, b.Len())
		for lo := 0; lo < b.Len(); {
			hi := rapid.IntRange(lo+1, b.Len()).Draw(r, "hi")
			pieces.Take(b, lo, hi)
			lo = hi
		}
		if !bytes.Equal(rows(whole), rows(b)) || !bytes.Equal(rows(pieces), rows(b)) {
			r.Fatal("rows differ")
		}
		if !bytes.Equal(pieces.AppendTo(nil), b.AppendTo(nil)) {
			r.Fatal("items differ")
		}
	})
}

func TestMergedBatchesHoldEveryItemAndEachSharedRowOnce(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a, b := drawBatch(r, "a"), drawBatch(r, "b")
		items, spans := a.Len()+b.Len(), a.Spans()+b.Spans()
		keys := map[rowKey]bool{}
		for k := range a.seen {
			keys[k] = true
		}
		for k := range b.seen {
			keys[k] = true
		}
		a.Take(b, 0, b.Len())
		if a.Len() != items || a.Spans() != spans {
			r.Fatalf("%d items and %d spans, want %d and %d", a.Len(), a.Spans(), items, spans)
		}
		if n := a.messages.Rows() + a.facts.Rows() + a.keys.Rows(); n != len(keys) {
			r.Fatalf("%d shared rows, want %d", n, len(keys))
		}
		back := NewBatch()
		if err := back.Decode(a.AppendTo(nil)); err != nil {
			r.Fatal(err) // the ends of the items fit the tables
		}
	})
}

func TestAResetBatchIsAnotherBatch(t *testing.T) {
	b := sample()
	token := b.token()
	require.Equal(t, token, b.token())
	b.Reset()
	require.NotEqual(t, token, b.token())
	require.Zero(t, b.Len())
	require.Zero(t, b.Bytes())
}

// A damaged queue file gives an error or a batch that can be used, never a
// panic or memory without bound.
func FuzzDecode(f *testing.F) {
	f.Add(NewBatch().AppendTo(nil))
	f.Add(sample().AppendTo(nil))
	b := NewBatch()
	b.AddSpan(filledStep(), nil, []agent.MessageFacts{filled[agent.MessageFacts]()})
	f.Add(b.AppendTo(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := NewBatch()
		if err := b.Decode(data); err != nil {
			if b.Len() != 0 || b.Bytes() != 0 {
				t.Fatal("a failed decoding left something behind")
			}
			return
		}
		for i := range b.steps.Rows() {
			b.steps.row(i)
		}
		for i := range b.facts.Rows() {
			b.facts.row(i)
		}
		other := NewBatch()
		other.Take(b, 0, b.Len())
		if other.Len() != b.Len() {
			t.Fatal("items were lost")
		}
	})
}
