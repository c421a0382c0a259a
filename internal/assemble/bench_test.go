package assemble_test

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/assemble"
	"github.com/steptrail/steptrail/internal/detect"
	"github.com/steptrail/steptrail/internal/policy"
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

// benchPolicy is an everyday policy: tools classed, limits that these runs keep.
const benchPolicy = `
version: 1
tools:
  - {match: "get_*", class: read}
  - {match: "refund", class: act, reconcile_with: [get_refund]}
limits:
  - match: {agent: "*"}
    cost_usd: 5
redaction: {mode: mask, key: "0123456789abcdef", detectors: []}
retention: {act: 400d, human: 400d, think: 90d, read: 90d, content: 30d, findings: 400d, access_log: 400d}
`

// watchedOpen is what the processor uses: a watch before all detectors.
func watchedOpen(tb testing.TB, limits assemble.Limits) *assemble.Open {
	tb.Helper()
	p, err := policy.Parse([]byte(benchPolicy), os.LookupEnv)
	require.NoError(tb, err)
	return assemble.NewWatched(limits, p, func(run *agent.Run, under func(string) []agent.Act, at assemble.Moment) ([]agent.Finding, int64) {
		v := detect.Judge(detect.Input{Run: run, Under: under, Policy: p, Now: at.Now, LastArrival: at.LastArrival})
		return v.Findings, v.Next
	})
}

// runKind is what goes on in the runs of a benchmark.
type runKind struct {
	name string
	// change is what is not as it should be.
	change func(i int, s *agent.Step)
}

var runKinds = []runKind{
	{"clean", nil},
	{"keyless", func(_ int, s *agent.Step) { s.Call.Key = "" }}, // each run has key.missing
	{"unknown", func(i int, s *agent.Step) { // each run has an unknown outcome
		if i == 10 {
			s.Sign = agent.SignLost
		}
	}},
}

// BenchmarkAdd adds runs of so many steps in requests of so many spans, judged
// by all detectors, in a stream of 1,000 spans a second: 20 runs at a time, or
// one after the other. Each run is quiet for a minute in the end, so that all
// that waits is judged.
func BenchmarkAdd(b *testing.B) {
	for _, kind := range runKinds {
		for _, bc := range []struct{ runs, steps, request int }{{1000, 20, 20}, {1000, 20, 1}, {10, 2000, 20}, {10, 2000, 1}, {1, 100_000, 100}, {1, 100_000, 1}} {
			b.Run(fmt.Sprintf("%s/steps=%d/request=%d", kind.name, bc.steps, bc.request), func(b *testing.B) {
				b.ReportAllocs()
				runs := make([][]*agent.Step, bc.runs)
				for i := range runs {
					runs[i] = benchSteps(fmt.Sprint("r", i), bc.steps)
					for k, s := range runs[i] {
						if kind.change != nil {
							kind.change(k, s)
						}
					}
				}
				spans := 0
				var judged int64
				before := cpu()
				for b.Loop() {
					o := watchedOpen(b, assemble.Limits{Bytes: 1 << 30})
					now := int64(0)
					for from := 0; from < len(runs); from += 20 {
						addTogether(o, runs[from:min(from+20, len(runs))], bc.request, &now)
					}
					for range 60 {
						now += int64(time.Second)
						o.Due(now)
					}
					spans += bc.runs * bc.steps
					judged += o.Stats().Judged
				}
				b.ReportMetric(float64(cpu()-before)/float64(spans), "cpu-ns/span")
				b.ReportMetric(float64(judged)/float64(spans/bc.steps), "judged/run")
			})
		}
	}
}

// addTogether adds runs that go on at the same time, one request of each in turn.
func addTogether(o *assemble.Open, runs [][]*agent.Step, request int, now *int64) {
	next := *now
	for from := 0; from < len(runs[0]); from += request {
		for _, list := range runs {
			batch := list[from:min(from+request, len(list))]
			*now += int64(len(batch)) * int64(time.Millisecond)
			for _, s := range batch {
				s.Received = *now
			}
			o.Add(assemble.Batch{Steps: batch}, *now)
			if *now >= next {
				o.Due(*now)
				next = *now + int64(100*time.Millisecond)
			}
		}
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
