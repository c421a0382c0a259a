package peerbench

import (
	"runtime"
	"runtime/metrics"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// rusageThread asks for the use of the calling thread alone (RUSAGE_THREAD of Linux).
const rusageThread = 1

// BenchmarkBesideContrib gives requests of the same spans to the contrib redaction
// processor with six patterns, to our redaction step with all detectors and to our
// whole processor, in turn, so that a busy machine slows all alike. Time is that of
// the thread, and the copies of the requests are made outside of it. MB are bytes of
// attribute values.
func BenchmarkBesideContrib(b *testing.B) {
	source, all := requests(b)
	b.Run(source, func(b *testing.B) {
		// The slow side gets every tenth request of the others.
		sides := []*side{{name: "contrib", f: contrib(b), share: 1}, {name: "redact", f: redaction(b), share: 10}, {name: "agentstep", f: agentstep(b), share: 10}}
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for i := 0; b.Loop(); i++ {
			for _, s := range sides {
				for k := range s.share {
					n := i*10 + k
					request := all[n*37%len(all)] // a benchmark of any length takes a sample of all
					s.measure(request, byte(n/len(all)))
				}
			}
		}
		b.ReportMetric(0, "ns/op") // of the copies, too
		for _, s := range sides {
			b.ReportMetric(s.speed(), s.name+"-MB/cpu-s")
			b.ReportMetric(float64(s.cpu.Nanoseconds())/float64(s.spans), s.name+"-cpu-ns/span")
			b.ReportMetric(float64(s.allocations)/float64(s.spans), s.name+"-allocs/span")
		}
		for _, s := range sides[1:] {
			b.ReportMetric(s.speed()/sides[0].speed(), s.name+"-times-contrib")
		}
	})
}

// side is what is measured, and what it did and used so far.
type side struct {
	name        string
	f           func(ptrace.Traces)
	share       int // requests in a turn
	bytes       int
	spans       int
	cpu         time.Duration
	allocations uint64
}

func (s *side) measure(request ptrace.Traces, round byte) {
	td := anew(request, round)
	eachText(td, func(text string) { s.bytes += len(text) })
	s.spans += td.SpanCount()
	objects, begun := heapObjects(), threadTime()
	s.f(td)
	s.cpu += threadTime() - begun
	s.allocations += heapObjects() - objects
}

// speed is in MB a second.
func (s *side) speed() float64 { return float64(s.bytes) / 1e6 / s.cpu.Seconds() }

// anew copies a request, each round as one of other runs.
func anew(request ptrace.Traces, round byte) ptrace.Traces {
	td := ptrace.NewTraces()
	request.CopyTo(td)
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				id := span.TraceID()
				id[0] += round
				span.SetTraceID(id)
			}
		}
	}
	return td
}

func threadTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func heapObjects() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TestBothRedact shows that what is compared does its work.
func TestBothRedact(t *testing.T) {
	for name, f := range map[string]func(ptrace.Traces){"contrib": contrib(t), "redact": redaction(t), "agentstep": agentstep(t)} {
		t.Run(name, func(t *testing.T) {
			td := ptrace.NewTraces()
			span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
			span.SetTraceID(pcommon.TraceID{1})
			span.SetSpanID(pcommon.SpanID{1})
			span.Attributes().PutStr("gen_ai.tool.call.arguments", `{"to": "ann@example.com", "order": "order 7731"}`)
			f(td)
			got, _ := span.Attributes().Get("gen_ai.tool.call.arguments")
			if s := got.Str(); strings.Contains(s, "ann@") || !strings.Contains(s, "order 7731") {
				t.Errorf("became %s", s)
			}
		})
	}
}

// TestRequests shows that there is something to measure.
func TestRequests(t *testing.T) {
	_, all := requests(t)
	spans := 0
	for _, td := range all {
		spans += td.SpanCount()
	}
	if spans < 50 {
		t.Errorf("%d spans", spans)
	}
}
