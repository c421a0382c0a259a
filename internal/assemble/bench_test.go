package assemble_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
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

// realSteps is benchSteps as instrumented agents send them: with the messages that
// each model call reads and writes, ids, results, and what the rules need of them.
func realSteps(run string, n int) assemble.Batch {
	b := assemble.Batch{Steps: benchSteps(run, n), Facts: map[agent.Ref]*agent.MessageFacts{}}
	var context []agent.Ref
	at := func(i int, what byte) agent.Ref { // of this run only, as messages of people are
		r := agent.Ref{byte(i), byte(i >> 8), byte(i >> 16), what}
		copy(r[4:], run)
		return r
	}
	for i, s := range b.Steps {
		s.Service, s.Scope, s.SpanKind, s.Dialect = "support-agent", "opentelemetry.instrumentation.langchain", "client", "genai"
		s.Session, s.User, s.PolicyHash = "session-"+run, "user-"+run, "0123456789abcdef0123456789abcdef"
		switch s.Op {
		case agent.OpModel:
			answered, asked := at(i, 1), at(i, 2)
			s.Model.Context = append(context, answered)
			s.Model.Outputs, s.Model.Output, s.Model.Input = []agent.Ref{asked}, agent.Digest(asked), agent.Digest(answered)
			s.Model.ResponseID, s.Model.FinishReason = "chatcmpl-"+run, "tool_calls"
			s.Facts = string((&agent.CallFacts{InputSize: int64(1000 + i)}).Append(nil))
			b.Facts[answered] = &agent.MessageFacts{Ref: answered, Role: agent.RoleTool, Answers: []agent.CallAnswer{{ID: fmt.Sprintf("call_%s_%d", run, i-1)}}}
			if i+1 < n {
				c := &b.Steps[i+1].Call
				b.Facts[asked] = &agent.MessageFacts{Ref: asked, Role: agent.RoleAssistant, Calls: []agent.RequestedCall{{ID: c.ID, Tool: c.Tool, Arguments: c.Arguments}}}
			}
			context = append(slices.Clip(s.Model.Context), asked)
			if len(context) > 100 {
				context = context[len(context)-100:]
			}
		case agent.OpTool:
			s.Call.Result = agent.Content{State: agent.RecordedYes, Digest: agent.Digest(at(i, 3)), Ref: at(i, 3), Size: 400}
			s.Facts = string((&agent.CallFacts{Values: []agent.Value{{Name: 1, Mark: agent.Mark(i), ID: true}}, Made: []agent.Mark{agent.Mark(i)}}).Append(nil))
		default:
		}
	}
	return b
}

// BenchmarkOpenRuns reports the memory of 100,000 open runs of 20 steps, none of
// which is let go.
func BenchmarkOpenRuns(b *testing.B) {
	const runs = 100_000
	for b.Loop() {
		before := heapInUse()
		o := watchedOpen(b, assemble.Limits{Bytes: 1 << 30})
		for i := range runs {
			o.Add(realSteps(fmt.Sprint("run", i), 20), int64(i)*int64(time.Millisecond))
		}
		s := o.Stats()
		b.ReportMetric(float64(heapInUse()-before)/(1<<20), "MiB")
		b.ReportMetric(float64(s.Bytes)/(1<<20), "accounted-MiB")
		b.ReportMetric(float64(s.Groups), "open")
		require.Zero(b, s.Evicted)
		runtime.KeepAlive(o)
	}
}

// BenchmarkBound reports the memory of what has no end, under a bound of 64 MiB: a
// run of 1,000,000 steps, and 1,000,000 runs of one act under a key of its own.
func BenchmarkBound(b *testing.B) {
	const bound = 64 << 20
	report := func(b *testing.B, o *assemble.Open, before int64) {
		b.Helper()
		s := o.Stats()
		require.LessOrEqual(b, s.Bytes, int64(bound))
		b.ReportMetric(float64(heapInUse()-before)/(1<<20), "MiB")
		b.ReportMetric(float64(s.Bytes)/(1<<20), "accounted-MiB")
		runtime.KeepAlive(o)
	}
	b.Run("steps", func(b *testing.B) {
		for b.Loop() {
			before := heapInUse()
			o := watchedOpen(b, assemble.Limits{Bytes: bound})
			list := benchSteps("r", 1000)
			root := list[0]
			for i := range 1_000_000 {
				s := *list[1+i%999]
				s.Span, s.Start, s.Parent = agent.SpanID{2, byte(i), byte(i >> 8), byte(i >> 16)}, int64(i)*20e6, root.Span
				s.End = s.Start + 10e6
				if s.Call.ID != "" {
					s.Call.ID = fmt.Sprint("call_", i)
					s.Call.Arguments.Digest = agent.Digest{byte(i), byte(i >> 8), byte(i >> 16), 1}
				}
				if s.Call.Key != "" {
					s.Call.Key = fmt.Sprint("key_", i)
				}
				o.Add(assemble.Batch{Steps: []*agent.Step{&s}}, s.End)
			}
			report(b, o, before)
			b.ReportMetric(float64(o.Stats().Steps), "kept-steps")
		}
	})
	b.Run("keys", func(b *testing.B) {
		for b.Loop() {
			before := heapInUse()
			o := watchedOpen(b, assemble.Limits{Bytes: bound})
			for i := range 1_000_000 {
				run := fmt.Sprint("R", i)
				s := in(run, act(run, 1, int64(i), fmt.Sprint("key", i)))
				s.Call.Tool = "refund"
				o.Add(steps(s), int64(i)*1e6)
			}
			report(b, o, before)
			b.ReportMetric(float64(o.Stats().Keys), "keys")
		}
	})
}

func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
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
