package agent_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

// TestHostileContentTakesNoMoreThanItsSize derives large inputs whose calls,
// answers and words are such that a pass that compares each with each takes
// minutes to hours.
func TestHostileContentTakesNoMoreThanItsSize(t *testing.T) {
	const n = 40_000
	facts := func(f agent.CallFacts) string { return string(f.Append(nil)) }
	ref := func(i int) agent.Ref { return agent.Ref{1, byte(i >> 16), byte(i >> 8), byte(i)} }
	asks := func(i int, s *agent.Step, in *agent.Input, call agent.RequestedCall) {
		s.Op = agent.OpModel
		in.Facts[ref(i)] = &agent.MessageFacts{Role: agent.RoleAssistant, Calls: []agent.RequestedCall{call}}
		s.Model.Outputs = []agent.Ref{ref(i)}
	}
	runs := func(s *agent.Step, id string) { s.Op, s.Call.ID, s.Call.Tool = agent.OpTool, id, "pay" }
	ownTrace := func(s *agent.Step) { s.Trace = agent.TraceID(append([]byte("traces: "), s.Span[:]...)) }
	pay := agent.RequestedCall{ID: "c", Tool: "pay"}
	for name, set := range map[string]func(i int, s *agent.Step, in *agent.Input){
		"agents whose calls are open": func(i int, s *agent.Step, in *agent.Input) {
			if i%2 == 1 {
				s.Parent = numbered(i - 1)
				asks(i, s, in, agent.RequestedCall{ID: strconv.Itoa(i), Tool: "pay"})
				return
			}
			s.Op, s.Facts = agent.OpAgent, facts(agent.CallFacts{Open: agent.SignDeferred})
		},
		"agents of the name that is asked for, all begun before": func(i int, s *agent.Step, in *agent.Input) {
			if i%2 == 1 {
				asks(i, s, in, agent.RequestedCall{ID: strconv.Itoa(i), Tool: "pay"})
				return
			}
			s.Op, s.Agent, s.Start, s.End = agent.OpAgent, "pay", int64(-i), int64(n) // at once, so that none shares a lane
		},
		"one call id in one run": func(i int, s *agent.Step, in *agent.Input) {
			if i%2 == 1 {
				runs(s, "c")
				return
			}
			asks(i, s, in, pay)
			answer := ref(n + i)
			in.Facts[answer] = &agent.MessageFacts{Role: agent.RoleTool, Answers: []agent.CallAnswer{{ID: "c", Tool: "pay", Sign: agent.SignReceipt}}}
			s.Model.Context = []agent.Ref{answer}
		},
		"one call id in as many traces": func(i int, s *agent.Step, in *agent.Input) {
			if ownTrace(s); i%2 == 1 {
				runs(s, "c")
				return
			}
			asks(i, s, in, pay)
		},
		"one call id of as many services": func(i int, s *agent.Step, in *agent.Input) {
			s.Service = strconv.Itoa(i / 2)
			if ownTrace(s); i%2 == 1 {
				runs(s, "c")
				return
			}
			asks(i, s, in, pay)
		},
		"hand-offs before they were asked for": func(i int, s *agent.Step, in *agent.Input) {
			if i%2 == 1 {
				s.Op, s.Start = agent.OpHandoff, int64(-i)
				return
			}
			asks(i, s, in, agent.RequestedCall{Tool: "transfer_to_x"})
		},
		"receipts of the same tasks": func(i int, s *agent.Step, _ *agent.Input) {
			runs(s, "")
			f := agent.CallFacts{Task: agent.TaskReceipt, Made: []agent.Mark{1, 2, 3, 4, 5, 6, 7, 8}}
			if s.Sign = agent.SignReceipt; i%2 == 0 {
				f.Task, s.Sign = agent.TaskDone, agent.SignOK
			}
			s.Kind, s.KindSource, s.Facts = agent.KindAct, agent.KindSourceReported, facts(f)
		},
		"replays of one call": func(i int, s *agent.Step, _ *agent.Input) {
			runs(s, "c")
			s.Instance, s.End = strconv.Itoa(i), s.Start
			s.Call.Result = agent.Content{State: agent.RecordedYes, Digest: agent.Digest{1}}
		},
		"replays of one answer": func(i int, s *agent.Step, _ *agent.Input) {
			s.Op, s.Model.ResponseID, s.Instance, s.End = agent.OpModel, "r", strconv.Itoa(i), s.Start
		},
		"a ring of parents and links": func(i int, s *agent.Step, _ *agent.Input) {
			runs(s, "")
			s.Parent = numbered((i + 1) % n)
			s.Links = []agent.Link{{Trace: s.Trace, Span: s.Parent}}
		},
		"one span again and again": func(i int, s *agent.Step, _ *agent.Input) {
			runs(s, strconv.Itoa(i))
			s.Span = numbered(7)
		},
	} {
		t.Run(name, func(t *testing.T) {
			derive := func(set func(i int, s *agent.Step, in *agent.Input)) time.Duration {
				in := agent.Input{Facts: map[agent.Ref]*agent.MessageFacts{}, Quiet: true, Silent: true}
				for i := range n {
					s := &agent.Step{Trace: traceOf("t"), Span: numbered(i), Start: int64(i + 1), End: int64(i + n), Index: -1, Sign: agent.SignOK, Service: "x"}
					set(i, s, &in)
					s.Unit = s.Trace.String()
					in.Steps = append(in.Steps, s)
				}
				from := time.Now()
				require.NotEmpty(t, agent.Runs(in))
				return time.Since(from)
			}
			harmless := derive(func(i int, s *agent.Step, _ *agent.Input) { runs(s, strconv.Itoa(i)) })
			took := derive(set)
			t.Logf("%v, as many harmless calls %v", took, harmless)
			require.Less(t, took, max(20*time.Second, 30*harmless)) // each takes about as long; the first is for what one measurement is worth
		})
	}
}
