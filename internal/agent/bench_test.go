package agent_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/steptrail/steptrail/internal/agent"
)

// benchRun makes a run of n steps: model call, tool call, model call, …
func benchRun(name string, n int) []*agent.Step {
	root := &agent.Step{
		Tenant: "acme", Trace: traceOf(name), Span: spanOf("root"), Op: agent.OpAgent, Agent: "desk", Service: "svc",
		Start: 1, End: int64(n+2) * 1000, RunID: name, Unit: name, Sign: agent.SignOK,
	}
	steps := []*agent.Step{root}
	for i := range n - 1 {
		s := &agent.Step{
			Tenant: "acme", Trace: root.Trace, Parent: root.Span, Service: "svc", RunID: name, Unit: name, Sign: agent.SignOK,
			Start: int64(i+1) * 1000, End: int64(i+1)*1000 + 900,
		}
		s.Span = agent.SpanID{2, byte(i), byte(i >> 8), byte(i >> 16)}
		if i%2 == 0 {
			s.Op, s.Model.Requested = agent.OpModel, "small"
			s.Model.Tokens = agent.Tokens{Known: true, Input: 100, Output: 10}
		} else {
			s.Op, s.Kind, s.KindSource = agent.OpTool, agent.KindRead, agent.KindSourcePolicy
			s.Call.Tool, s.Call.ID = "get_order", fmt.Sprintf("call_%s_%d", name, i)
			s.Call.Arguments = recorded(s.Call.ID)
		}
		steps = append(steps, s)
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	return steps
}

func BenchmarkRuns(b *testing.B) {
	for _, n := range []int{1, 12, 1000, 100_000} {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			in := agent.Input{Steps: benchRun("r", max(n, 2))[:n]}
			b.ReportAllocs()
			before := cpu()
			for b.Loop() {
				agent.Runs(in)
			}
			b.ReportMetric(float64(cpu()-before)/float64(b.N)/float64(n), "cpu-ns/span")
		})
	}
}

func BenchmarkRunsOfTauBench(b *testing.B) {
	inputs := tauInputs(b)
	spans := 0
	for i := range inputs {
		spans += len(inputs[i].Steps)
	}
	b.ReportAllocs()
	before := cpu()
	for b.Loop() {
		for i := range inputs {
			agent.Runs(inputs[i])
		}
	}
	b.ReportMetric(float64(cpu()-before)/float64(b.N)/float64(spans), "cpu-ns/span")
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
