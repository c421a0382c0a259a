package agentanalyzerextension

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/label"
	"github.com/steptrail/steptrail/internal/store"
	"github.com/steptrail/steptrail/internal/sweep"
)

// telemetry gives a provider of meters, and a function that gives every point of
// a metric by its labels. A histogram's point is its count.
func telemetry(t *testing.T) (component.TelemetrySettings, func(name string) map[string]float64) {
	t.Helper()
	tel := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, tel.Shutdown(context.WithoutCancel(t.Context()))) })
	return tel.NewTelemetrySettings(), func(name string) map[string]float64 {
		var rm metricdata.ResourceMetrics
		require.NoError(t, tel.Reader.Collect(t.Context(), &rm))
		for _, scope := range rm.ScopeMetrics {
			for _, m := range scope.Metrics {
				if m.Name == name {
					return pointsOf(t, m.Data)
				}
			}
		}
		return nil
	}
}

func pointsOf(t *testing.T, data metricdata.Aggregation) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	enc := attribute.DefaultEncoder()
	switch data := data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			out[p.Attributes.Encoded(enc)] = float64(p.Value)
		}
	case metricdata.Sum[float64]:
		for _, p := range data.DataPoints {
			out[p.Attributes.Encoded(enc)] = p.Value
		}
	case metricdata.Gauge[int64]:
		for _, p := range data.DataPoints {
			out[p.Attributes.Encoded(enc)] = float64(p.Value)
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			out[p.Attributes.Encoded(enc)] = float64(p.Count)
		}
	default:
		t.Fatalf("no points of a %T", data)
	}
	return out
}

// meters makes the instruments, and a function that gives their points.
func meters(t *testing.T, kinds ...string) (*instruments, func(name string) map[string]float64) {
	t.Helper()
	set, points := telemetry(t)
	m, err := newInstruments(set.MeterProvider, kinds)
	require.NoError(t, err)
	return m, points
}

// refundRun is a run with one model call and one refund that was tried twice.
func refundRun(tool string) *agent.Run {
	call := &agent.Step{Model: agent.Model{Served: "gpt-4o"}}
	at := func(s int64) int64 { return s * 1e9 }
	return &agent.Run{
		Tenant: "default", ID: "r1", Agent: "helper", TaskType: "refund",
		Steps: []agent.RunStep{
			{
				Kind: agent.KindThink, Op: agent.OpModel, Agent: "helper",
				Attempts: []agent.Attempt{{
					Outcome: agent.OutcomeOK, Executed: true, Start: at(1), End: at(2), Spans: []*agent.Step{call},
					Tokens: agent.Tokens{Known: true, Input: 100, Output: 20, CacheRead: 40}, CostNano: 5e8, CostSource: agent.CostSourceComputed,
				}},
			},
			{
				Kind: agent.KindAct, Op: agent.OpTool, Agent: "helper", Tool: tool,
				Attempts: []agent.Attempt{
					{Outcome: agent.OutcomeUnknown, Executed: true, Start: at(3), End: at(4), Spans: []*agent.Step{{}}},
					{Outcome: agent.OutcomeOK, Executed: true, Start: at(5), End: at(6), Spans: []*agent.Step{{}}},
					{Outcome: agent.OutcomeRefused, Start: at(7), End: at(7), Spans: []*agent.Step{{}}},
				},
			},
		},
	}
}

func newsOf(r *agent.Run, s *agent.Summary) sweep.News {
	n := sweep.News{Run: r, Summary: s, Ended: true}
	for i := range r.Steps {
		st := sweep.NewStep{Step: &r.Steps[i], First: true}
		for j := range st.Step.Attempts {
			st.Attempts = append(st.Attempts, &st.Step.Attempts[j])
		}
		n.Steps = append(n.Steps, st)
	}
	return n
}

func TestWhatARunDidIsCountedByItsLabels(t *testing.T) {
	m, points := meters(t)
	r := refundRun("issue_refund")
	m.activity.tell(t.Context(), newsOf(r, &agent.Summary{Outcome: agent.RunOutcomeEscalated, Escalation: "over limit"}))
	m.activity.tell(t.Context(), newsOf(&agent.Run{TaskType: "refund"}, &agent.Summary{}))
	for name, want := range map[string]map[string]float64{
		"steptrail_runs": {
			"agent=helper,outcome=escalated,task_type=refund": 1, "outcome=unstated,task_type=refund": 1,
		},
		"steptrail_escalations": {"reason=over limit,task_type=refund": 1},
		"steptrail_steps": {
			"agent=helper,kind=think,outcome=ok": 1, "agent=helper,kind=act,outcome=refused,tool=issue_refund": 1,
		},
		"steptrail_attempts": {
			"agent=helper,kind=think,outcome=ok": 1, "agent=helper,kind=act,outcome=unknown,tool=issue_refund": 1,
			"agent=helper,kind=act,outcome=ok,tool=issue_refund": 1, "agent=helper,kind=act,outcome=refused,tool=issue_refund": 1,
		},
		"steptrail_tokens": {
			"agent=helper,model=gpt-4o,type=input": 100, "agent=helper,model=gpt-4o,type=output": 20, "agent=helper,model=gpt-4o,type=cache_read": 40,
		},
		"steptrail_cost_usd":      {"agent=helper,model=gpt-4o,source=computed": 0.5},
		"steptrail_step_duration": {"kind=think": 1, "kind=act": 1},
		"steptrail_tool_duration": {"tool=issue_refund": 2},
	} {
		require.Equal(t, want, points(name), name)
	}
}

func TestHostileNamesMakeFewTimeSeries(t *testing.T) {
	m, points := meters(t)
	for i := range 3000 {
		r := refundRun(fmt.Sprintf("tool-%d\n\xff", i))
		r.Agent, r.TaskType = fmt.Sprint("agent-", i%70), fmt.Sprint("task-", i)
		for j := range r.Steps {
			r.Steps[j].Agent = r.Agent
		}
		r.Steps[0].Attempts[0].Spans[0].Model.Served = fmt.Sprint("model-", i)
		m.activity.tell(t.Context(), newsOf(r, &agent.Summary{Outcome: agent.RunOutcomeEscalated, Escalation: fmt.Sprint("reason-", i)}))
	}
	for _, name := range []string{
		"steptrail_runs", "steptrail_escalations", "steptrail_steps", "steptrail_attempts", "steptrail_tokens", "steptrail_cost_usd",
		"steptrail_tool_duration",
	} {
		require.LessOrEqual(t, len(points(name)), maxSets+10, name)
		require.NotContains(t, points(name), "otel.metric.overflow=true", name)
	}
	others := points("steptrail_labels_other")
	for _, name := range []string{"tool", "agent", "model", "task_type", "reason"} {
		require.Positive(t, others["label="+name], name)
	}
	total := 0.0
	for _, n := range points("steptrail_runs") {
		total += n
	}
	require.InDelta(t, 3000, total, 0, "what is _other is counted all the same")
	require.Contains(t, points("steptrail_tool_duration"), "tool="+label.Other)
}

func TestEveryKindIsOpenFromZeroAndAStaleReadingIsNotShown(t *testing.T) {
	m, points := meters(t, "key.duplicate", "outcome.unknown", "rule.bypass")
	require.Empty(t, points("steptrail_open_findings"), "nothing is read yet")
	now := time.Now()
	m.open.set(nil, now)
	require.Len(t, points("steptrail_open_findings"), 9)
	require.Equal(t, map[string]float64{"": 0}, points("steptrail_unknowns_open"))
	m.open.set([]store.OpenFindings{
		{Kind: "key.duplicate", Severity: agent.SeverityCritical, Count: 2},
		{Kind: "outcome.unknown", Severity: agent.SeverityCritical, Count: 1},
		{Kind: "outcome.unknown", Severity: agent.SeverityWarning, Count: 4},
		{Kind: "rule.of.an.older.policy", Severity: agent.SeverityInfo, Count: 1},
	}, now)
	open := points("steptrail_open_findings")
	require.Len(t, open, 10)
	require.InDelta(t, 2, open["kind=key.duplicate,severity=critical"], 0)
	require.InDelta(t, 0, open["kind=rule.bypass,severity=info"], 0)
	require.Equal(t, map[string]float64{"": 5}, points("steptrail_unknowns_open"))
	require.Equal(t, map[string]float64{"": 1}, points("steptrail_unknowns_overdue"))
	m.open.set(nil, now.Add(-2*openStale))
	require.Empty(t, points("steptrail_open_findings"))
	require.Empty(t, points("steptrail_unknowns_open"))
}

func TestTheLagGrowsWhileNoSweepEnds(t *testing.T) {
	m, _ := meters(t)
	begin := time.Unix(1000, 0)
	m.start(t.Context(), begin)
	require.Equal(t, 3*time.Second, m.lag(begin.Add(3*time.Second)), "none yet")
	m.record(t.Context(), sweep.Stats{Pending: 2, Lag: 10 * time.Second}, begin, time.Second, nil)
	require.Equal(t, 12*time.Second, m.lag(begin.Add(2*time.Second)))
	m.record(t.Context(), sweep.Stats{}, begin.Add(5*time.Second), time.Second, context.DeadlineExceeded)
	require.Equal(t, 20*time.Second, m.lag(begin.Add(10*time.Second)), "a sweep that could not look changes nothing")
	m.record(t.Context(), sweep.Stats{}, begin.Add(20*time.Second), time.Second, nil)
	require.Equal(t, time.Second, m.lag(begin.Add(21*time.Second)))
}
