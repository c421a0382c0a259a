//go:build linux

package agentstepprocessor

import (
	"runtime"
	goruntime "runtime/metrics"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"golang.org/x/sys/unix"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/dialect"
)

// perSpan reports CPU time and allocations per span of what f does. It reads the
// clock of its thread, so that neither the making of fresh requests nor a busy
// machine counts.
func perSpan(b *testing.B, fresh func(i uint32) ptrace.Traces, f func(ptrace.Traces)) {
	b.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	spans, bytes, objects := 0, 0, uint64(0)
	cpu := time.Duration(0)
	var sizer ptrace.ProtoMarshaler
	i := uint32(0)
	for b.Loop() {
		td := fresh(i)
		i++
		spans += td.SpanCount()
		bytes += sizer.TracesSize(td)
		allocated, begun := heapObjects(), threadTime()
		f(td)
		cpu += threadTime() - begun
		objects += heapObjects() - allocated
	}
	b.ReportMetric(0, "ns/op") // of the making, too
	b.ReportMetric(float64(cpu.Nanoseconds())/float64(spans), "cpu-ns/span")
	b.ReportMetric(float64(objects)/float64(spans), "allocs/span")
	b.ReportMetric(float64(bytes)/float64(spans), "B/span")
}

func threadTime() time.Duration {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func heapObjects() uint64 {
	s := []goruntime.Sample{{Name: "/gc/heap/allocs:objects"}}
	goruntime.Read(s)
	return s[0].Value.Uint64()
}

// recorded gives the recorded runs over and over, one request at a time, each time
// as other runs.
func recorded(b *testing.B) func(uint32) ptrace.Traces {
	b.Helper()
	all := realRuns(b)
	return func(i uint32) ptrace.Traces {
		td := ptrace.NewTraces()
		all[int(i)%len(all)].CopyTo(td)
		round := byte(int(i) / len(all))
		eachSpan(td, func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span) {
			id := span.TraceID()
			id[0] += round
			span.SetTraceID(id)
		})
		return td
	}
}

func BenchmarkNormalize(b *testing.B) {
	n := &dialect.Normalizer{}
	var st canon.Stated
	perSpan(b, typical, func(td ptrace.Traces) {
		eachSpan(td, func(_ ptrace.ResourceSpans, ss ptrace.ScopeSpans, span ptrace.Span) {
			n.Normalize(ss.Scope().Name(), span, &st)
		})
	})
}

func BenchmarkRead(b *testing.B) {
	s := newTestState(b, taskPolicy)
	annotated := func(i uint32) ptrace.Traces {
		td, err := s.processTraces(b.Context(), typical(i%16))
		if err != nil {
			b.Fatal(err)
		}
		return td
	}
	var r canon.Reader
	perSpan(b, annotated, func(td ptrace.Traces) {
		for _, rs := range td.ResourceSpans().All() {
			r.Resource(rs.Resource())
			for _, ss := range rs.ScopeSpans().All() {
				r.Scope(ss.Scope())
				for _, span := range ss.Spans().All() {
					r.Span(span)
				}
			}
		}
	})
}

func BenchmarkProcessor(b *testing.B) {
	s := newTestState(b, taskPolicy)
	process := func(td ptrace.Traces) {
		if _, err := s.processTraces(b.Context(), td); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("typical", func(b *testing.B) { perSpan(b, typical, process) })
	b.Run("real", func(b *testing.B) { perSpan(b, recorded(b), process) })
}
