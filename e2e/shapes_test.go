package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// shapeSpan is a span of a shape: names are made unique per shape and order, so that all orders fit into one store.
type shapeSpan struct {
	trace  string
	id     int
	parent int    // 0: none
	run    string // agent.run.id; empty: not stated
	link   string // trace it links into, span 1 of it
	agent  bool
	tool   string
}

// wantRun is a run that a shape must give: under its stated id, else under one of its traces.
type wantRun struct {
	run   string
	trace string
	spans int
	tools []string
}

// TestEveryShapeOfARunGivesOneRightHistoryInAnyOrder sends runs of every shape span by span: as they happened, backwards,
// and shuffled, each with a pause in the middle that lets a half-known run be judged.
func TestEveryShapeOfARunGivesOneRightHistoryInAnyOrder(t *testing.T) {
	RequireEngine(t)
	shapes := map[string]struct {
		spans []shapeSpan
		want  []wantRun
	}{
		"a run that resumes in a second trace under its id": {
			[]shapeSpan{
				{trace: "a", id: 1, run: "r", agent: true},
				{trace: "a", id: 2, parent: 1, run: "r", tool: "get_order"},
				{trace: "b", id: 3, run: "r", agent: true},
				{trace: "b", id: 4, parent: 3, run: "r", tool: "issue_refund"},
			},
			[]wantRun{{run: "r", spans: 4, tools: []string{"get_order", "issue_refund"}}},
		},
		"a run that resumes in a second trace by a link": {
			[]shapeSpan{
				{trace: "a", id: 1, agent: true},
				{trace: "a", id: 2, parent: 1, tool: "get_order"},
				{trace: "b", id: 3, link: "a", agent: true},
				{trace: "b", id: 4, parent: 3, tool: "issue_refund"},
			},
			[]wantRun{{trace: "a", spans: 4, tools: []string{"get_order", "issue_refund"}}},
		},
		"a root alone states the run": {
			[]shapeSpan{
				{trace: "a", id: 1, run: "r", agent: true}, {trace: "a", id: 2, parent: 1, tool: "get_order"}, {trace: "a", id: 3, parent: 1, tool: "issue_refund"},
			},
			[]wantRun{{run: "r", spans: 3, tools: []string{"get_order", "issue_refund"}}},
		},
		"a trace that holds two runs": {
			[]shapeSpan{
				{trace: "a", id: 1, run: "r1", agent: true},
				{trace: "a", id: 2, parent: 1, tool: "get_order"},
				{trace: "a", id: 3, run: "r2", agent: true},
				{trace: "a", id: 4, parent: 3, tool: "issue_refund"},
			},
			[]wantRun{{run: "r1", spans: 2, tools: []string{"get_order"}}, {run: "r2", spans: 2, tools: []string{"issue_refund"}}},
		},
		"spans without any run id": {
			[]shapeSpan{
				{trace: "a", id: 1, agent: true}, {trace: "a", id: 2, parent: 1, tool: "get_order"}, {trace: "a", id: 3, parent: 1, tool: "issue_refund"},
			},
			[]wantRun{{trace: "a", spans: 3, tools: []string{"get_order", "issue_refund"}}},
		},
	}
	in := Start(t, Options{})
	random := rand.New(rand.NewPCG(3, 4))
	start := time.Now().Add(-time.Minute)
	type sent struct {
		name, prefix string
		want         []wantRun
	}
	var all []sent
	var second []ptrace.Traces
	n := 0
	for name, shape := range shapes {
		for order, arrange := range map[string]func([]ptrace.Traces){
			"as it happened": func([]ptrace.Traces) {},
			"backwards":      slices.Reverse[[]ptrace.Traces],
			"shuffled":       func(r []ptrace.Traces) { random.Shuffle(len(r), func(i, j int) { r[i], r[j] = r[j], r[i] }) },
		} {
			n++
			prefix := fmt.Sprintf("shape-%d-", n)
			var requests []ptrace.Traces
			for _, s := range shape.spans {
				requests = append(requests, s.traces(prefix, start))
			}
			arrange(requests)
			for _, r := range requests[:len(requests)/2] {
				require.NoError(t, in.PostTraces(t.Context(), ptraceotlp.NewExportRequestFromTraces(r)))
			}
			second = append(second, requests[len(requests)/2:]...)
			all = append(all, sent{name + ", " + order, prefix, shape.want})
		}
	}
	time.Sleep(sweepTime * 2) // halves of runs are judged and written down
	for _, r := range append(second, second...) {
		require.NoError(t, in.PostTraces(t.Context(), ptraceotlp.NewExportRequestFromTraces(r)))
	}
	check := func() error {
		runs, err := Collect[run](t.Context(), in, "/runs?agent=shape&limit=500", "runs")
		if err != nil {
			return err
		}
		want := 0
		for _, s := range all {
			want += len(s.want)
			for _, w := range s.want {
				if err := w.check(t, in, s.prefix, runs); err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
			}
		}
		if len(runs) != want {
			return fmt.Errorf("%d runs, want %d", len(runs), want)
		}
		return nil
	}
	Eventually(t, limit, check)
	time.Sleep(sweepTime * 2) // the sweep's answer is the same
	require.NoError(t, check())
}

func (w wantRun) check(t *testing.T, in *Instance, prefix string, runs []run) error {
	t.Helper()
	id := prefix + w.run
	if w.run == "" {
		id = traceID(prefix + w.trace).String()
	}
	i := slices.IndexFunc(runs, func(r run) bool { return r.RunID == id })
	if i < 0 {
		return fmt.Errorf("run %s is not listed", id)
	}
	var h history
	if err := in.GetJSON(t.Context(), "/runs/"+url.PathEscape(id)+"/history?content=none", &h); err != nil {
		return err
	}
	var tools []string
	for _, s := range h.Steps {
		if s.Tool != "" {
			tools = append(tools, s.Tool)
		}
		if len(s.Attempts) != 1 {
			return fmt.Errorf("run %s: step %s has %d attempts", id, s.StepID, len(s.Attempts))
		}
	}
	if !slices.Equal(tools, w.tools) || h.Run.Spans != w.spans || runs[i].Spans != w.spans {
		return fmt.Errorf("run %s: tools %v in %d spans (listed with %d), want %v in %d", id, tools, h.Run.Spans, runs[i].Spans, w.tools, w.spans)
	}
	return nil
}

func (s shapeSpan) traces(prefix string, start time.Time) ptrace.Traces {
	traces := ptrace.NewTraces()
	rs := traces.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "shape-agent")
	span := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetTraceID(traceID(prefix + s.trace))
	span.SetSpanID(spanID(prefix, s.id))
	if s.parent != 0 {
		span.SetParentSpanID(spanID(prefix, s.parent))
	}
	begin := start.Add(time.Duration(s.id) * time.Second)
	span.SetStartTimestamp(pcommon.NewTimestampFromTime(begin))
	span.SetEndTimestamp(pcommon.NewTimestampFromTime(begin.Add(500 * time.Millisecond)))
	if s.link != "" {
		link := span.Links().AppendEmpty()
		link.SetTraceID(traceID(prefix + s.link))
		link.SetSpanID(spanID(prefix, 1))
	}
	attributes := span.Attributes()
	if s.run != "" {
		attributes.PutStr("agent.run.id", prefix+s.run)
	}
	if s.agent {
		span.SetName("invoke_agent shape")
		attributes.PutStr("gen_ai.operation.name", "invoke_agent")
		attributes.PutStr("gen_ai.agent.name", "shape")
	} else {
		span.SetName("execute_tool " + s.tool)
		attributes.PutStr("gen_ai.operation.name", "execute_tool")
		attributes.PutStr("gen_ai.tool.name", s.tool)
		attributes.PutStr("gen_ai.tool.call.arguments", fmt.Sprintf(`{"order_id":"%s%d"}`, prefix, s.id))
	}
	return traces
}
