package agentstepprocessor

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/detect"
	"github.com/steptrail/steptrail/internal/policy"
)

// collected is what was read back from annotated spans, as the store reads it.
type collected struct {
	input    agent.Input
	findings map[agent.FindingID]agent.Finding
	marked   map[agent.FindingID][]string // span ids with the finding's event
}

func collect(all []ptrace.Traces, logs []plog.Logs) *collected {
	c := &collected{
		input:    agent.Input{Facts: map[agent.Ref]*agent.MessageFacts{}},
		findings: map[agent.FindingID]agent.Finding{}, marked: map[agent.FindingID][]string{},
	}
	for _, td := range all {
		eachSpan(td, func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, span ptrace.Span) {
			var r canon.Reader // one each, so that nothing is shared
			r.Resource(rs.Resource())
			r.Scope(ss.Scope())
			rec := r.Span(span)
			step := rec.Step
			c.input.Steps = append(c.input.Steps, &step)
			c.facts(rec.Facts)
			for _, f := range rec.Findings {
				c.findings[f.ID] = f
				if id := span.SpanID().String(); !slices.Contains(c.marked[f.ID], id) {
					c.marked[f.ID] = append(c.marked[f.ID], id)
				}
			}
		})
	}
	for _, ld := range logs {
		for _, rl := range ld.ResourceLogs().All() {
			for _, sl := range rl.ScopeLogs().All() {
				for _, lr := range sl.LogRecords().All() {
					var r canon.Reader
					r.Resource(rl.Resource())
					r.Scope(sl.Scope())
					for _, m := range r.Log(lr) {
						c.input.Logs = append(c.input.Logs, m.Content)
						c.facts([]agent.MessageFacts{m.Facts})
					}
				}
			}
		}
	}
	return c
}

func (c *collected) facts(facts []agent.MessageFacts) {
	for i := range facts {
		c.input.Facts[facts[i].Ref] = &facts[i]
	}
}

// truth is what is known of the recorded runs.
type truth struct {
	PerRun []struct {
		Index     int `json:"index"`
		Chats     int `json:"chats"`
		ToolCalls int `json:"tool_calls"`
	} `json:"per_run"`
}

func TestRecordedRunsHaveTheModelAndToolCallsThatHappened(t *testing.T) {
	data, err := os.ReadFile(sharedFile(t, "real", "tau-bench-airline-0-99.truth.json"))
	require.NoError(t, err)
	var want truth
	require.NoError(t, json.Unmarshal(data, &want))
	tp, _, sink, _ := newTestProcessor(t, taskPolicy)
	for _, td := range realRuns(t) {
		require.NoError(t, tp.ConsumeTraces(t.Context(), td))
	}
	c := collect(sink.AllTraces(), nil)
	c.input.Quiet = true
	runs := agent.Runs(c.input)
	require.Len(t, runs, len(want.PerRun))
	bySession := map[string]*agent.Run{}
	for _, r := range runs {
		bySession[r.Session] = r
	}
	for _, w := range want.PerRun {
		r := bySession[fmt.Sprintf("tau-airline-%d", w.Index)]
		require.NotNil(t, r, "run %d", w.Index)
		counts := agent.CountsOf(r)
		if got := int(counts[agent.KindThink].Attempts); got != w.Chats {
			t.Errorf("run %d: %d model calls, want %d", w.Index, got, w.Chats)
		}
		tools := 0
		for _, k := range []agent.Kind{agent.KindRead, agent.KindAct, agent.KindHuman, agent.KindReconcile} {
			tools += int(counts[k].Attempts)
		}
		if tools != w.ToolCalls {
			t.Errorf("run %d: %d tool calls, want %d", w.Index, tools, w.ToolCalls)
		}
	}
}

// keyCase makes the spans of a run in which one key took effect twice, in two
// traces, beside a run that did the same once.
func keyCase() ptrace.Traces {
	td := ptrace.NewTraces()
	ss := td.ResourceSpans().AppendEmpty()
	ss.Resource().Attributes().PutStr("service.name", "refunds")
	spans := ss.ScopeSpans().AppendEmpty().Spans()
	add := func(trace, id byte, name, run, key string, at int, ok bool) {
		_, span := oneSpan(map[string]any{
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund_payment", "agent.run.id": run,
			"gen_ai.tool.call.id":        fmt.Sprintf("call_%d_%d", trace, id),
			"gen_ai.tool.call.arguments": `{"order_id":"A-1001","amount":42}`, "agent.idempotency.key": key,
		})
		span.SetTraceID([16]byte{trace})
		span.SetSpanID([8]byte{id})
		span.SetName(name)
		span.SetStartTimestamp(span.StartTimestamp() + pcommon.Timestamp(at)*1e9)
		span.SetEndTimestamp(span.StartTimestamp() + 5e8)
		if ok {
			span.Attributes().PutStr("gen_ai.tool.call.result", fmt.Sprintf(`{"refund_id":"re_%d"}`, at))
		} else {
			span.Status().SetCode(ptrace.StatusCodeError)
			span.Attributes().PutStr("error.type", "ValidationError")
		}
		span.CopyTo(spans.AppendEmpty())
	}
	add(1, 1, "execute_tool refund_payment", "run-1", "key-1", 0, true)
	add(2, 2, "execute_tool refund_payment", "run-1", "key-1", 2, true)
	add(3, 3, "execute_tool refund_payment", "run-2", "key-2", 4, true)
	add(3, 4, "execute_tool refund_payment", "run-2", "key-3", 6, false)
	add(4, 5, "execute_tool refund_payment", "run-3", "key-1", 8, true)
	return td
}

func TestAKeyThatTookEffectTwiceIsFoundOnTheSpansItRestsOn(t *testing.T) {
	tp, _, sink, _ := newTestProcessor(t, taskPolicy)
	require.NoError(t, tp.ConsumeTraces(t.Context(), keyCase()))
	c := collect(sink.AllTraces(), nil)
	var got []string
	for _, f := range c.findings {
		if f.Kind != "key.duplicate" {
			continue
		}
		ids := c.marked[f.ID]
		slices.Sort(ids)
		got = append(got, f.Kind+" "+f.Severity.String()+" "+f.Run+" on "+strings.Join(ids, ","))
	}
	slices.Sort(got)
	require.Equal(t, []string{
		"key.duplicate critical run-1 on 0100000000000000,0200000000000000",
		"key.duplicate critical run-3 on 0200000000000000,0500000000000000",
	}, got)
}

// split cuts requests into requests of at most n spans, in a random order, some
// spans repeated.
func split(r *rand.Rand, all []ptrace.Traces, n int) []ptrace.Traces {
	var single []ptrace.Traces
	for _, td := range all {
		eachSpan(td, func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, span ptrace.Span) {
			times := 1
			if r.IntN(4) == 0 {
				times = 2
			}
			for range times {
				one := ptrace.NewTraces()
				to := one.ResourceSpans().AppendEmpty()
				rs.Resource().CopyTo(to.Resource())
				scope := to.ScopeSpans().AppendEmpty()
				ss.Scope().CopyTo(scope.Scope())
				span.CopyTo(scope.Spans().AppendEmpty())
				single = append(single, one)
			}
		})
	}
	r.Shuffle(len(single), func(i, j int) { single[i], single[j] = single[j], single[i] })
	var out []ptrace.Traces
	for i := 0; i < len(single); i += n {
		td := ptrace.NewTraces()
		for _, one := range single[i:min(i+n, len(single))] {
			one.ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
		}
		out = append(out, td)
	}
	return out
}

func copyAll(all []ptrace.Traces) []ptrace.Traces {
	out := make([]ptrace.Traces, len(all))
	for i, td := range all {
		out[i] = ptrace.NewTraces()
		td.CopyTo(out[i])
	}
	return out
}

// outcomeOf is what must not depend on order, split and repetition.
func outcomeOf(t *testing.T, p *policy.Policy, c *collected) string {
	t.Helper()
	var b strings.Builder
	runs := agent.Runs(c.input)
	under := map[string][]agent.Act{}
	for _, r := range runs {
		for _, a := range agent.Acts(r) {
			under[a.Key] = append(under[a.Key], a)
		}
	}
	var found []string
	for _, r := range runs {
		for _, f := range detect.Run(detect.Input{Run: r, Under: func(key string) []agent.Act { return under[key] }, Policy: p}) {
			found = append(found, fmt.Sprintf("%s %s %s %s", f.ID, f.Kind, f.Run, f.Severity))
			if _, marked := c.findings[f.ID]; !marked && f.Kind == "key.duplicate" {
				t.Errorf("%s of %s is on no span", f.Kind, f.Run)
			}
		}
		fmt.Fprintf(&b, "run %s %v %v\n", r.ID, r.Units, agent.CountsOf(r))
		for i := range r.Steps {
			st := &r.Steps[i]
			fmt.Fprintf(&b, "  %s %v %s %s", st.ID, st.Kind, st.Tool, st.Target)
			for j := range st.Attempts {
				a := &st.Attempts[j]
				fmt.Fprintf(&b, " %d:%v:%s", a.Number, a.Outcome, a.Span)
			}
			b.WriteByte('\n')
		}
	}
	slices.Sort(found)
	b.WriteString(strings.Join(found, "\n"))
	return b.String()
}

func TestAnyOrderSplitAndRepetitionGivesTheSameRunsAndFindings(t *testing.T) {
	sets := map[string][]ptrace.Traces{"keys": {keyCase()}}
	if _, err := os.Stat(shared); err == nil {
		for _, name := range []string{
			"otel-genai-agent-attrs-duplicate-refund", "otel-genai-parallel", "otel-http-retry-inside-tool", "otel-genai-human-gate",
		} {
			sets[name] = []ptrace.Traces{capture(t, name)}
		}
	}
	for name, all := range sets {
		t.Run(name, func(t *testing.T) {
			tp, _, sink, _ := newTestProcessor(t, taskPolicy)
			for _, td := range copyAll(all) {
				require.NoError(t, tp.ConsumeTraces(t.Context(), td))
			}
			p := parsePolicy(t, taskPolicy)
			want := outcomeOf(t, p, collect(sink.AllTraces(), nil))
			for seed := range uint64(6) {
				r := rand.New(rand.NewPCG(seed, 1))
				tp, _, sink, _ := newTestProcessor(t, taskPolicy)
				for _, td := range split(r, copyAll(all), 1+r.IntN(4)) {
					require.NoError(t, tp.ConsumeTraces(t.Context(), td))
				}
				require.Equal(t, want, outcomeOf(t, p, collect(sink.AllTraces(), nil)), "seed %d", seed)
			}
		})
	}
}
