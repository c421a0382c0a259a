package assemble_test

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/assemble"
)

// benchSteps makes a run: an agent span, then model and tool calls in turn, the
// tool calls with ids and arguments, every tenth an act under a key.
func benchSteps(run string, n int) []*agent.Step {
	root := in(run, span(run, 0, 0))
	root.Op, root.Agent = agent.OpAgent, "desk"
	list := make([]*agent.Step, 0, n)
	list = append(list, root)
	for i := 1; i < n; i++ {
		s := in(run, span(run, i, int64(i)*20))
		s.Parent = root.Span
		switch i % 2 {
		case 1:
			s.Op, s.Model.Requested = agent.OpModel, "small"
			s.Model.Tokens = agent.Tokens{Known: true, Input: 900, Output: 40}
		default:
			s.Op, s.Kind, s.KindSource = agent.OpTool, agent.KindRead, agent.KindSourcePolicy
			s.Call = agent.Call{Tool: "get_order", ID: fmt.Sprintf("call_%s_%d", run, i)}
			s.Call.Arguments = agent.Content{State: agent.RecordedYes, Digest: agent.Digest{byte(i), byte(i >> 8), byte(i >> 16), 1}}
			if i%10 == 0 {
				s.Kind, s.Call.Tool, s.Call.Key = agent.KindAct, "refund", fmt.Sprintf("key_%s_%d", run, i)
			}
		}
		list = append(list, s)
	}
	return list
}

// BenchmarkAdd adds runs of so many steps in requests of so many spans, judged
// by all detectors, in a stream of 1,000 spans a second.
func BenchmarkAdd(b *testing.B) { benchAdd(b, judge) }

// BenchmarkAddUnjudged is BenchmarkAdd without detectors: grouping and
// derivation alone.
func BenchmarkAddUnjudged(b *testing.B) { benchAdd(b, nil) }

func benchAdd(b *testing.B, judge assemble.Judge) {
	b.Helper()
	for _, bc := range []struct{ steps, request int }{{10, 10}, {10, 1}, {1000, 100}, {1000, 1}, {100_000, 512}, {100_000, 1}} {
		b.Run(fmt.Sprintf("steps=%d/request=%d", bc.steps, bc.request), func(b *testing.B) {
			b.ReportAllocs()
			list := benchSteps("r", bc.steps)
			now := int64(0)
			before := cpu()
			for b.Loop() {
				o := assemble.New(assemble.Limits{Bytes: 1 << 30}, judge)
				for from := 0; from < len(list); from += bc.request {
					to := min(from+bc.request, len(list))
					now += int64(to-from) * int64(time.Millisecond)
					o.Add(assemble.Batch{Steps: list[from:to]}, now)
					o.Due(now)
				}
			}
			b.ReportMetric(float64(cpu()-before)/float64(b.N)/float64(bc.steps), "cpu-ns/span")
		})
	}
}

// BenchmarkOpenRuns reports the memory of 20,000 open runs of 20 steps.
func BenchmarkOpenRuns(b *testing.B) {
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		o := assemble.New(assemble.Limits{Bytes: 200 << 20}, judge) // a fifth of 1 GiB for a fifth of 100,000
		const runs = 20_000
		for i := range runs {
			o.Add(assemble.Batch{Steps: benchSteps(fmt.Sprint("run", i), 20)}, int64(i))
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/runs, "B/run")
		b.ReportMetric(float64(o.Stats().Bytes)/runs, "accounted-B/run")
		b.ReportMetric(float64(o.Stats().Evicted), "evicted")
		runtime.KeepAlive(o)
	}
}

// cpu is the processor time of this process in nanoseconds: what a benchmark
// costs, whoever else uses the machine.
func cpu() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
