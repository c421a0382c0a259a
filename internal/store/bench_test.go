package store

import (
	"encoding/binary"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/steptrail/steptrail/internal/agent"
)

// traffic is that of the project's baseline: runs of 6 model calls, 6 tool
// calls and their agent, 2.4 KB a span, every id and time another one.
type traffic struct {
	spans []loadSpan
	bytes int64 // of content and attributes, a span on average
}

type loadSpan struct {
	step   agent.Step
	bodies []agent.Body
	facts  []agent.MessageFacts
}

const spansPerRun = 13

func newLoad(runs int) *traffic {
	l := &traffic{}
	now := time.Now()
	var total int64
	for r := range runs {
		run := fmt.Sprintf("run-%08d-7d1f2c3e", r)
		for i := range spansPerRun {
			s := newLoadSpan(run, r, i, now)
			for _, b := range s.bodies {
				total += int64(len(b.Text))
			}
			total += 500 // names, ids, times and attributes
			l.spans = append(l.spans, s)
		}
	}
	l.bytes = total / int64(len(l.spans))
	return l
}

func newLoadSpan(run string, r, i int, now time.Time) loadSpan {
	expires := now.Add(90 * 24 * time.Hour).Unix()
	s := loadSpan{step: agent.Step{
		Tenant: "default", Unit: run, RunID: run, Name: "chat gpt-4o", SpanKind: "client", Scope: "agent.sdk", Dialect: "otel",
		Service: "support-agent", Instance: "host-1/4711", Start: now.UnixNano() + int64(i)*1e6, End: now.UnixNano() + int64(i)*1e6 + 5e5,
		Received: now.UnixNano(), Expires: expires, ContentExpires: now.Add(30 * 24 * time.Hour).Unix(), Session: "session-" + run,
		User: "user-17", TaskType: "refund", Agent: "support", AgentVersion: "1.4.2", Index: -1, PolicyHash: strings.Repeat("ab", 32),
		Resource: []agent.Attr{
			{Key: "deployment.environment", Value: "production"},
			{Key: "telemetry.sdk.name", Value: "opentelemetry"},
			{Key: "telemetry.sdk.language", Value: "python"},
			{Key: "host.name", Value: "host-1"},
		},
		Attributes: []agent.Attr{{Key: "server.address", Value: "api.example.com"}, {Key: "server.port", Value: "443", JSON: true}},
	}}
	st := &s.step
	binary.BigEndian.PutUint64(st.Trace[:], uint64(r)+1)
	binary.BigEndian.PutUint32(st.Span[:], uint32(r*spansPerRun+i)+1)
	body := func(n int) agent.Ref {
		var ref agent.Ref
		binary.BigEndian.PutUint64(ref[:], uint64(r)<<16|uint64(i)<<8|uint64(len(s.bodies))+1)
		s.bodies = append(s.bodies, agent.Body{Ref: ref, Text: strings.Repeat("lorem ipsum ", n/12), Expires: st.ContentExpires})
		return ref
	}
	switch {
	case i == 0:
		st.Name, st.Op, st.SpanKind = "invoke_agent support", agent.OpAgent, "internal"
	case i%2 == 1:
		st.Op, st.Kind, st.KindSource = agent.OpModel, agent.KindThink, agent.KindSourceDialect
		st.Model = agent.Model{
			Provider: "openai", Requested: "gpt-4o", Served: "gpt-4o-2024-08-06", ResponseID: fmt.Sprintf("chatcmpl-%d-%d", r, i),
			FinishReason: "tool_calls", Tokens: agent.Tokens{Known: true, Input: 900, Output: 80}, CostNano: 12345, CostSource: agent.CostSourceComputed,
			Context: []agent.Ref{body(700), body(700), body(600)}, Outputs: []agent.Ref{body(500)},
		}
		for _, b := range s.bodies {
			s.facts = append(s.facts, agent.MessageFacts{Ref: b.Ref, Role: agent.RoleUser})
		}
		s.facts[3].Role = agent.RoleAssistant
		s.facts[3].Calls = []agent.RequestedCall{{ID: fmt.Sprintf("call_%d_%d", r, i), Tool: "issue_refund"}}
	default:
		st.Name, st.Op, st.Kind, st.KindSource, st.SpanKind = "execute_tool issue_refund", agent.OpTool, agent.KindAct, agent.KindSourcePolicy, "internal"
		st.Call = agent.Call{
			Tool: "issue_refund", ID: fmt.Sprintf("call_%d_%d", r, i-1), Target: "order/7731", Key: fmt.Sprintf("refund-%d-%d", r, i),
			Arguments: agent.Content{State: agent.RecordedYes, Digest: agent.Digest{1, byte(i)}, Ref: body(700), Size: 700},
			Result:    agent.Content{State: agent.RecordedYes, Digest: agent.Digest{2, byte(i)}, Ref: body(600), Size: 600},
			OnUnknown: agent.OnUnknownReconcile, ReconcileWith: []string{"payments_lookup"}, Approval: true,
		}
	}
	return s
}

func (l *traffic) fill(b *Batch, lo, hi int) {
	for i := lo; i < hi; i++ {
		s := &l.spans[i]
		b.AddSpan(&s.step, s.bodies, s.facts)
	}
}

// perSpan reports what one span takes where an operation does n: wall time, and
// the processor's time since began, which other work on the machine leaves alone.
func perSpan(b *testing.B, n int, bytes, began int64) {
	b.Helper()
	b.SetBytes(bytes * int64(n))
	b.ReportAllocs()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/span")
	b.ReportMetric(float64(processorTime()-began)/float64(b.N*n), "cpu-ns/span")
}

// processorTime is what this process has used, nanoseconds.
func processorTime() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

// requestSpans is how many spans the baseline sends at once.
const requestSpans = 100

// BenchmarkRowEncode is the way of a span from the model to bytes, in requests
// of 100 spans: append to columns, encode blocks. The budget is 4 µs a span.
func BenchmarkRowEncode(b *testing.B) {
	benchmarkEncode(b, requestSpans)
}

// BenchmarkRowEncodeBlock is the same in one batch of the size of an insert,
// whose columns do not fit into the processor's caches.
func BenchmarkRowEncodeBlock(b *testing.B) {
	benchmarkEncode(b, 8320)
}

func benchmarkEncode(b *testing.B, each int) {
	b.Helper()
	l := newLoad(640) // 8,320 spans
	n := len(l.spans) / each * each
	batch := NewBatch()
	var buf proto.Buffer
	began := processorTime()
	for b.Loop() {
		for lo := 0; lo < n; lo += each {
			batch.Reset()
			l.fill(batch, lo, lo+each)
			buf.Reset()
			for _, s := range batch.sets {
				s.Encode(&buf)
			}
		}
	}
	perSpan(b, n, l.bytes, began)
}

// BenchmarkQueue is what the queue on disk adds: requests of 100 spans are
// marshalled, read back and merged into a block.
func BenchmarkQueue(b *testing.B) {
	l := newLoad(640)
	const each = requestSpans
	n := len(l.spans) / each * each
	in, out, merged := NewBatch(), NewBatch(), NewBatch()
	var data []byte
	began := processorTime()
	for b.Loop() {
		merged.Reset()
		for lo := 0; lo < n; lo += each {
			in.Reset()
			l.fill(in, lo, lo+each)
			data = in.AppendTo(data[:0])
			if err := out.Decode(data); err != nil {
				b.Fatal(err)
			}
			merged.Take(out, 0, out.Len())
		}
	}
	perSpan(b, n, l.bytes, began)
}

// BenchmarkNewBatch is what each request costs, however small.
func BenchmarkNewBatch(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		NewBatch()
	}
}

func TestRowEncodeAllocatesNothingPerSpan(t *testing.T) {
	l := newLoad(64)
	batch := NewBatch()
	var buf proto.Buffer
	run := func() {
		batch.Reset()
		l.fill(batch, 0, len(l.spans))
		buf.Reset()
		for _, s := range batch.sets {
			s.Encode(&buf)
		}
	}
	run()
	run()
	if got := testing.AllocsPerRun(5, run) / float64(len(l.spans)); got > 2 {
		t.Errorf("%.1f allocations a span, want at most 2: the distinct strings that a dictionary keeps", got)
	}
}
