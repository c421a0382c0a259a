package agent_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steptrail/steptrail/internal/agent"
)

// drawInput draws a small set of spans with few distinct ids, times, tools and
// keys, so that links, cycles, equal calls, shared ids and repetitions are
// common.
func drawInput(t *rapid.T) agent.Input {
	in := agent.Input{Facts: map[agent.Ref]*agent.MessageFacts{}, Quiet: rapid.Bool().Draw(t, "quiet"), Silent: rapid.Bool().Draw(t, "silent")}
	for i := range rapid.IntRange(0, 6).Draw(t, "messages") {
		f := &agent.MessageFacts{Ref: refOf(fmt.Sprint("m", i)), UserText: rapid.Bool().Draw(t, "user")}
		for range rapid.IntRange(0, 2).Draw(t, "calls") {
			f.Calls = append(f.Calls, agent.RequestedCall{ID: drawText(t, "c1", "c2"), Tool: drawText(t, "get", "pay", "transfer_to_x")})
		}
		for range rapid.IntRange(0, 2).Draw(t, "answers") {
			f.Answers = append(f.Answers, agent.CallAnswer{ID: drawText(t, "c1", "c2"), Sign: agent.Sign(rapid.IntRange(0, 7).Draw(t, "sign"))})
		}
		in.Facts[f.Ref] = f
	}
	for range rapid.IntRange(0, 14).Draw(t, "spans") {
		in.Steps = append(in.Steps, drawStep(t))
	}
	for range rapid.IntRange(0, 3).Draw(t, "logs") {
		in.Logs = append(in.Logs, agent.LogContent{
			Tenant: "acme", Trace: traceOf(drawText(t, "t1", "t2")), Span: drawSpan(t), Position: int32(rapid.IntRange(0, 2).Draw(t, "position")),
			Output: rapid.Bool().Draw(t, "output"), Message: drawRef(t),
		})
	}
	return in
}

func drawText(t *rapid.T, values ...string) string {
	return rapid.SampledFrom(append(values, "")).Draw(t, "text")
}

func drawSpan(t *rapid.T) (id agent.SpanID) {
	id[7] = byte(rapid.IntRange(0, 9).Draw(t, "span"))
	return id
}

func drawRef(t *rapid.T) agent.Ref {
	return refOf(fmt.Sprint("m", rapid.IntRange(0, 6).Draw(t, "message")))
}

func drawStep(t *rapid.T) *agent.Step {
	s := &agent.Step{
		Tenant: rapid.SampledFrom([]string{"acme", "acme", "acme", "beta"}).Draw(t, "tenant"), Trace: traceOf(rapid.SampledFrom([]string{"t1", "t2", "t3"}).Draw(t, "trace")),
		Span: drawSpan(t), Parent: drawSpan(t), Service: "svc", Instance: drawText(t, "p"), Index: -1,
		Start: int64(rapid.IntRange(0, 20).Draw(t, "start")) * 1e6, End: int64(rapid.IntRange(0, 20).Draw(t, "end")) * 1e6,
		RunID: drawText(t, "R1", "", ""), DialectRun: drawText(t, "D1", "", ""), DialectRunWeak: rapid.Bool().Draw(t, "weak"),
		Agent: drawText(t, "a", "b"), StepID: drawText(t, "s1", "", ""), DialectStep: drawText(t, "e1", "", "", ""), Checkpoint: drawText(t, "n1", "", "", ""),
		Op: agent.Op(rapid.IntRange(0, int(agent.OpHTTP)).Draw(t, "op")), Sign: agent.Sign(rapid.IntRange(0, int(agent.SignReceipt)).Draw(t, "sign")),
		Attempt: int32(rapid.IntRange(0, 2).Draw(t, "attempt")), SpanKind: drawText(t, "client", "server"),
	}
	if rapid.Bool().Draw(t, "classified") {
		s.Kind, s.KindSource = agent.Kind(rapid.IntRange(0, int(agent.KindOther)).Draw(t, "kind")), agent.KindSource(rapid.IntRange(1, 3).Draw(t, "source"))
	}
	if rapid.IntRange(0, 3).Draw(t, "stated") == 0 {
		s.Outcome = agent.Outcome(rapid.IntRange(0, int(agent.OutcomeDeferred)).Draw(t, "outcome"))
	}
	s.Call = agent.Call{
		Tool: drawText(t, "get", "pay"), ID: drawText(t, "c1", "c2"), Key: drawText(t, "k1", "", ""), Target: drawText(t, "x", ""),
		Gate: agent.Gate(rapid.IntRange(0, int(agent.GateUnknown)).Draw(t, "gate")),
	}
	if a := drawText(t, "x", "y"); a != "" {
		s.Call.Arguments, s.Model.Input = recorded(a), digestOf(a)
	}
	if a := drawText(t, "x", "y"); a != "" {
		s.Call.Result, s.Model.Output = recorded(a), digestOf(a)
	}
	s.Model.ResponseID = drawText(t, "resp", "", "")
	for range rapid.IntRange(0, 3).Draw(t, "context") {
		s.Model.Context = append(s.Model.Context, drawRef(t))
	}
	for range rapid.IntRange(0, 1).Draw(t, "outputs") {
		s.Model.Outputs = append(s.Model.Outputs, drawRef(t))
	}
	if rapid.Bool().Draw(t, "used") {
		s.Model.Tokens = agent.Tokens{Known: true, Input: int64(rapid.IntRange(0, 9).Draw(t, "tokens"))}
	}
	if rapid.IntRange(0, 4).Draw(t, "linked") == 0 {
		s.Links = []agent.Link{{Trace: traceOf(drawText(t, "t1", "t2", "t9")), Span: drawSpan(t)}}
	}
	if s.Op == agent.OpHTTP {
		s.HTTP = agent.HTTP{Method: drawText(t, "GET", "POST"), URL: drawText(t, "/x", "/y"), Key: drawText(t, "h1")}
		s.StatusCode = int32(rapid.SampledFrom([]int{0, 200, 404, 503}).Draw(t, "status"))
	}
	if s.Unit = s.Explicit(); s.Unit == "" {
		s.Unit = s.Trace.String()
	}
	return s
}

func TestAnyOrderAndRepetitionGivesDeeplyEqualRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		want := agent.Runs(in)
		for seed := range uint64(4) {
			require.Equal(t, want, agent.Runs(disordered(in, seed)))
		}
	})
}

func TestEachSpanStandsInOneRunOrNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		type id struct {
			tenant string
			trace  agent.TraceID
			span   agent.SpanID
		}
		in1 := map[id]string{}
		runs := agent.Runs(in)
		ids := map[string]bool{}
		for _, r := range runs {
			require.False(t, ids[r.Tenant+"/"+r.ID], "one run of an id")
			ids[r.Tenant+"/"+r.ID] = true
			for _, s := range r.Spans {
				k := id{s.Tenant, s.Trace, s.Span}
				require.Equal(t, r.Tenant, s.Tenant)
				require.Empty(t, in1[k], "a span in two runs")
				in1[k] = r.ID
			}
			checkRun(t, r)
		}
	})
}

// checkRun checks what holds of every run.
func checkRun(t *rapid.T, r *agent.Run) {
	type place struct {
		trace agent.TraceID
		span  agent.SpanID
		part  uint16
	}
	named := map[place]bool{}
	inAttempt := map[*agent.Step]int{}
	for i := range r.Steps {
		st := &r.Steps[i]
		require.NotEmpty(t, st.Attempts)
		require.NotEqual(t, agent.KindUnset, st.Kind)
		require.NotEmpty(t, st.ID)
		for j := range st.Attempts {
			a := &st.Attempts[j]
			require.NotEmpty(t, a.Spans)
			require.Equal(t, a.Span, a.Step().Span)
			require.Equal(t, a.Unit, a.Step().Unit)
			p := place{a.Trace, a.Span, a.Part}
			require.False(t, named[p], "two attempts named alike")
			named[p] = true
			require.Positive(t, a.Number)
			for _, s := range a.Spans {
				if !a.NoSpan && a.Part == 0 {
					inAttempt[s]++
					require.Equal(t, 1, inAttempt[s], "a span in two attempts")
				}
			}
			if st.Kind == agent.KindRead || st.Kind == agent.KindThink || st.Kind == agent.KindOther {
				require.NotEqual(t, agent.OutcomeUnknown, a.Outcome)
			}
		}
	}
	s := agent.Summarise(r, nil, agent.SummaryTime{})
	require.Equal(t, int64(len(r.Spans)), s.Spans)
	require.NotEmpty(t, s.Units)
	_, all := agent.UsageOf(r)
	var sum int64
	for _, sp := range r.Spans {
		sum += sp.Model.Tokens.Total()
	}
	require.LessOrEqual(t, all.Tokens.Total(), sum, "nothing is counted twice")
}

func TestNewRunGivesWhatRunsGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		for i := range in.Steps {
			in.Steps[i].Tenant = "acme"
		}
		for _, r := range agent.Runs(in) {
			require.Equal(t, r, agent.NewRun(r.ID, in))
		}
		require.Nil(t, agent.NewRun("no such run", in))
	})
}

// FuzzRuns feeds arbitrary bytes as small graphs: parents in circles, zero ids,
// ends before starts. It must end, without a panic.
func FuzzRuns(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var in agent.Input
		for len(data) >= 8 && len(in.Steps) < 200 {
			d := data[:8]
			data = data[8:]
			s := &agent.Step{
				Op: agent.Op(d[0] % 10), Span: agent.SpanID{d[1] % 16}, Parent: agent.SpanID{d[2] % 16}, Trace: agent.TraceID{d[3] % 3},
				Start: int64(d[4]), End: int64(d[5]), Sign: agent.Sign(d[6] % 8), Kind: agent.Kind(d[7] % 7),
			}
			s.Call.ID = string(d[6:7])
			s.Call.Tool = string(d[7:8])
			s.Unit = s.Trace.String()
			in.Steps = append(in.Steps, s)
		}
		seen := map[*agent.Step]bool{}
		for _, r := range agent.Runs(in) {
			for _, s := range r.Spans {
				if seen[s] {
					t.Fatal("a span in two runs")
				}
				seen[s] = true
			}
		}
	})
}

// TestHostileShapesTakeNoMoreThanTheirSize derives large inputs of shapes that
// would take hours if a pass were quadratic in them.
func TestHostileShapesTakeNoMoreThanTheirSize(t *testing.T) {
	const n = 10_000
	shape := func(set func(i int, s *agent.Step)) agent.Input {
		var in agent.Input
		for i := range n {
			s := &agent.Step{Trace: traceOf("t"), Span: numbered(i), Start: int64(i), End: int64(i + n), Index: -1, Sign: agent.SignOK}
			set(i, s)
			if s.Unit = s.Explicit(); s.Unit == "" {
				s.Unit = s.Trace.String()
			}
			in.Steps = append(in.Steps, s)
		}
		return in
	}
	for name, in := range map[string]agent.Input{
		"a chain of agents and tools, every child before its parent": shape(func(i int, s *agent.Step) {
			s.Start = int64(n - i)
			if i > 0 {
				s.Parent = numbered(i - 1)
			}
			s.Op = []agent.Op{agent.OpNone, agent.OpAgent, agent.OpTool}[i%3]
		}),
		"model calls at the end of a chain of model calls": shape(func(i int, s *agent.Step) {
			s.Op, s.Parent = agent.OpModel, numbered(min(max(i-1, 0), n/2))
		}),
		"sub-agents that all run at once": shape(func(i int, s *agent.Step) {
			if s.Op, s.Agent = agent.OpAgent, "a"; i > 0 {
				s.Parent = numbered(0)
			}
		}),
		"one run in as many traces as spans": shape(func(_ int, s *agent.Step) {
			s.Op, s.RunID, s.Trace = agent.OpTool, "R", agent.TraceID(append([]byte("traces: "), s.Span[:]...))
		}),
		"runs that all link into one": shape(func(_ int, s *agent.Step) {
			s.Op, s.Trace = agent.OpTool, agent.TraceID(append([]byte("traces: "), s.Span[:]...))
			s.Links = []agent.Link{{Trace: agent.TraceID(append([]byte("traces: "), make([]byte, 8)...))}}
		}),
		"gates and acts under one key": shape(func(i int, s *agent.Step) {
			s.Op, s.Call.Key, s.Call.Tool = []agent.Op{agent.OpGate, agent.OpTool}[i%2], "k", "pay"
		}),
		"clients and servers that all overlap": shape(func(i int, s *agent.Step) {
			s.Op, s.Call.Tool, s.SpanKind = agent.OpTool, "pay", []string{"client", "server"}[i%2]
		}),
		"attempts of one step": shape(func(i int, s *agent.Step) {
			s.Op, s.StepID, s.Attempt = agent.OpTool, "s", int32(n-i)
		}),
		"requests under one tool": shape(func(i int, s *agent.Step) {
			s.Op, s.HTTP = agent.OpHTTP, agent.HTTP{Method: "POST", URL: "/x"}
			if i == 0 {
				s.Op = agent.OpTool
			} else {
				s.Parent = numbered(0)
			}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			spans := 0
			for _, r := range agent.Runs(in) {
				spans += len(r.Spans)
			}
			require.Equal(t, n, spans)
		})
	}
}

func numbered(i int) agent.SpanID {
	return agent.SpanID{1, byte(i >> 16), byte(i >> 8), byte(i)}
}
