package agentanalyzerextension

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/label"
	"github.com/steptrail/steptrail/internal/meter"
	"github.com/steptrail/steptrail/internal/sweep"
)

// How many values a label may have. What spans say is bounded here, so that the
// number of time series is.
const (
	maxTools     = 100
	maxAgents    = 50
	maxModels    = 50
	maxTaskTypes = 50
	maxReasons   = 50
	// maxSets bounds the combinations of labels of one metric; it lies below the
	// 2,000 from which the SDK drops labels altogether.
	maxSets = 1000
)

// activity counts what agents did, each thing when a sweep first writes it.
type activity struct {
	runs, escalations, steps, attempts, tokens metric.Int64Counter
	cost                                       metric.Float64Counter
	stepDuration, toolDuration                 metric.Float64Histogram

	tools, agents, models, tasks, reasons *label.Values
	// Combinations.
	runSets, reasonSets, stepSets, modelSets *label.Values
}

func newActivity(m *meter.Meter) *activity {
	return &activity{
		runs:         m.Counter("steptrail_runs"),
		escalations:  m.Counter("steptrail_escalations"),
		steps:        m.Counter("steptrail_steps"),
		attempts:     m.Counter("steptrail_attempts"),
		tokens:       m.Counter("steptrail_tokens"),
		cost:         m.FloatCounter("steptrail_cost_usd"),
		stepDuration: m.Histogram("steptrail_step_duration"),
		toolDuration: m.Histogram("steptrail_tool_duration"),
		tools:        label.NewValues(maxTools), agents: label.NewValues(maxAgents), models: label.NewValues(maxModels),
		tasks: label.NewValues(maxTaskTypes), reasons: label.NewValues(maxReasons),
		// A run has one of 7 outcomes, a step one of 6 kinds and 5 outcomes, a
		// model up to 5 types of tokens.
		runSets: label.NewValues(maxSets / 7), reasonSets: label.NewValues(maxSets), stepSets: label.NewValues(maxSets / 5), modelSets: label.NewValues(maxSets / 5),
	}
}

// others gives, by label, how often _other was counted.
func (c *activity) others() map[string]int64 {
	return map[string]int64{
		"tool": c.tools.Others(), "agent": c.agents.Others(), "model": c.models.Others(), "task_type": c.tasks.Others(),
		"reason":      c.reasons.Others(),
		"combination": c.runSets.Others() + c.reasonSets.Others() + c.stepSets.Others() + c.modelSets.Others(),
	}
}

// pair bounds two labels and their combinations. What is one combination too
// many is _other in both.
func pair(sets *label.Values, fixed string, a *label.Values, one string, b *label.Values, two string) (first, second string) {
	first, second = a.Of(one), b.Of(two)
	sum := xxhash.Sum64String(fixed + "\x00" + first + "\x00" + second)
	if sets.Of(strconv.FormatUint(sum, 36)) == label.Other {
		return label.Other, label.Other
	}
	return first, second
}

// tell counts the news of one run.
func (c *activity) tell(ctx context.Context, n sweep.News) {
	if n.Ended {
		c.ended(ctx, n)
	}
	for i := range n.Steps {
		c.step(ctx, &n.Steps[i])
	}
}

func (c *activity) ended(ctx context.Context, n sweep.News) {
	r := n.Run
	task, name := pair(c.runSets, "", c.tasks, r.TaskType, c.agents, r.Agent)
	c.runs.Add(ctx, 1, labels("task_type", task, "agent", name, "outcome", cmp.Or(n.Summary.Outcome.String(), "unstated")))
	if n.Summary.Outcome == agent.RunOutcomeEscalated {
		task, reason := pair(c.reasonSets, "", c.tasks, r.TaskType, c.reasons, cmp.Or(n.Summary.Escalation, "unstated"))
		c.escalations.Add(ctx, 1, labels("task_type", task, "reason", reason))
	}
	c.usage(ctx, "", r.Agent, r.AgentUsage.Tokens, r.AgentUsage.CostNano, r.AgentUsage.CostSource)
}

func (c *activity) step(ctx context.Context, n *sweep.NewStep) {
	st := n.Step
	kind := st.Kind.String()
	tool, name := pair(c.stepSets, kind, c.tools, st.Tool, c.agents, st.Agent)
	if n.First {
		last := &st.Attempts[len(st.Attempts)-1]
		c.steps.Add(ctx, 1, labels("kind", kind, "outcome", last.Outcome.String(), "tool", tool, "agent", name))
		if took, ran := durationOf(st); ran {
			c.stepDuration.Record(ctx, took.Seconds(), labels("kind", kind))
		}
	}
	for _, a := range n.Attempts {
		c.attempts.Add(ctx, 1, labels("kind", kind, "outcome", a.Outcome.String(), "tool", tool, "agent", name))
		if st.Tool != "" && a.Executed && !a.NoSpan {
			c.toolDuration.Record(ctx, time.Duration(max(a.End-a.Start, 0)).Seconds(), labels("tool", c.tools.Of(st.Tool)))
		}
		c.usage(ctx, agent.ModelOf(st, a), st.Agent, a.Tokens, a.CostNano, a.CostSource)
	}
}

// durationOf is the time from the first executed attempt to the last one's end.
func durationOf(st *agent.RunStep) (took time.Duration, ran bool) {
	var from, to int64
	for i := range st.Attempts {
		a := &st.Attempts[i]
		if !a.Executed || a.NoSpan {
			continue
		}
		if !ran || a.Start < from {
			from = a.Start
		}
		to, ran = max(to, a.End), true
	}
	return time.Duration(max(to-from, 0)), ran
}

func (c *activity) usage(ctx context.Context, model, name string, t agent.Tokens, costNano int64, source agent.CostSource) {
	if !t.Known && source == agent.CostSourceUnset {
		return
	}
	model, name = pair(c.modelSets, "", c.models, model, c.agents, name)
	for _, part := range [...]struct {
		kind string
		n    int64
	}{{"input", t.Input}, {"output", t.Output}, {"cache_read", t.CacheRead}, {"cache_write", t.CacheWrite}, {"reasoning", t.Reasoning}} {
		if part.n > 0 {
			c.tokens.Add(ctx, part.n, labels("model", model, "agent", name, "type", part.kind))
		}
	}
	if source != agent.CostSourceUnset && costNano > 0 {
		c.cost.Add(ctx, float64(costNano)/1e9, labels("model", model, "agent", name, "source", source.String()))
	}
}

// labels makes a set of names and values, one after the other; empty values are
// labels left out.
func labels(pairs ...string) metric.MeasurementOption {
	set := make([]attribute.KeyValue, 0, len(pairs)/2)
	for pair := range slices.Chunk(pairs, 2) {
		if name, value := pair[0], pair[len(pair)-1]; value != "" {
			set = append(set, attribute.String(name, value))
		}
	}
	return metric.WithAttributeSet(attribute.NewSet(set...))
}
