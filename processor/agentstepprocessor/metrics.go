package agentstepprocessor

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/meter"
)

const scopeName = "github.com/steptrail/steptrail/processor/agentstepprocessor"

// dropReason is why something was left out.
type dropReason uint8

const (
	dropZeroTrace  dropReason = iota // a span without trace id
	dropZeroSpan                     // a span without span id
	dropRedaction                    // a value that redaction refused
	dropAttributes                   // an attribute beyond the number allowed
	dropReasons
)

var dropNames = [dropReasons]string{"zero_trace_id", "zero_span_id", "redaction_limit", "attribute_limit"}

// clampReason is why something was not taken as it came.
type clampReason uint8

const (
	clampPast      clampReason = iota // terms are not taken from a start so long ago
	clampFuture                       // nor from one in the future
	clampBody                         // a message, argument or result was cut
	clampAttribute                    // another value was cut
	clampReasons
)

var clampNames = [clampReasons]string{"start_too_old", "start_in_future", "body_size", "attribute_size"}

// counts are what one request adds to the metrics. They are handed over once per
// request.
type counts struct {
	spans, logs int64
	conflicts   int64
	dropped     [dropReasons]int64
	clamped     [clampReasons]int64
	steps       [agent.KindOther + 1][agent.OutcomeDeferred + 1]int64
	unknown     map[string]int64 // by attribute; attributes with enums are few
	rules       int64            // conditions that failed
	expired     int64
}

func (c *counts) unknownValue(attribute string) {
	if c.unknown == nil {
		c.unknown = make(map[string]int64)
	}
	c.unknown[attribute]++
}

func (c *counts) reset() {
	unknown := c.unknown
	clear(unknown)
	*c = counts{unknown: unknown}
}

// metrics are the instruments of one component, each named here once.
type metrics struct {
	spans     metric.Int64Counter
	logs      metric.Int64Counter
	steps     metric.Int64Counter
	findings  metric.Int64Counter
	redacted  metric.Int64ObservableCounter
	expired   metric.Int64Counter
	dropped   metric.Int64Counter
	clamped   metric.Int64Counter
	unknown   metric.Int64Counter
	conflicts metric.Int64Counter
	ruleErrs  metric.Int64Counter
	openRuns  metric.Int64ObservableGauge
	openBytes metric.Int64ObservableGauge
	evicted   metric.Int64ObservableCounter
	late      metric.Int64ObservableCounter

	stepAttrs    [agent.KindOther + 1][agent.OutcomeDeferred + 1]metric.MeasurementOption
	droppedAttrs [dropReasons]metric.MeasurementOption
	clampedAttrs [clampReasons]metric.MeasurementOption
	registration metric.Registration
}

// described are all metrics of the processor.
var described = []meter.Metric{
	{Name: "steptrail_stream_spans", Kind: meter.Counter, Unit: "{span}", Description: "Spans that came in."},
	{Name: "steptrail_stream_log_records", Kind: meter.Counter, Unit: "{record}", Description: "Log records that came in."},
	{
		Name: "steptrail_stream_steps", Kind: meter.Counter, Unit: "{span}", Labels: []string{"kind", "outcome"},
		Description: "Spans that are steps, by kind and by the outcome that they show or state by themselves; " +
			"steps and attempts as derived are the analyzer's.",
	},
	{
		Name: "steptrail_findings", Kind: meter.Counter, Unit: "{finding}", Labels: []string{"kind", "severity"},
		Description: "Findings of the stream that are new to this process, by kind and severity; every kind that the policy can raise is there from 0.",
	},
	{
		Name: "steptrail_stream_redacted_values", Kind: meter.Counter, Unit: "{value}", Labels: []string{"detector"},
		Description: "Values that redaction replaced, by the detector or rule of the policy that found them; keys: its key list. A value that stands in a span twice counts twice.",
	},
	{
		Name: "steptrail_stream_dropped", Kind: meter.Counter, Unit: "{item}", Labels: []string{"reason"},
		Description: "Spans, values and attributes that were left out, by reason; redaction_limit: what redaction refused to look through.",
	},
	{
		Name: "steptrail_stream_clamped", Kind: meter.Counter, Unit: "{item}", Labels: []string{"reason"},
		Description: "Values that were cut and starts that were not believed, by reason.",
	},
	{
		Name: "steptrail_stream_expired", Kind: meter.Counter, Unit: "{span}",
		Description: "Spans whose term was over when they came: no answer will have them.",
	},
	{
		Name: "steptrail_stream_unknown_values", Kind: meter.Counter, Unit: "{value}", Labels: []string{"attribute"},
		Description: "Values of our attributes that no enum or number knows, by attribute; they are kept as text.",
	},
	{
		Name: "steptrail_stream_kind_conflicts", Kind: meter.Counter, Unit: "{span}",
		Description: "Spans that state another kind than the policy gives their tool; the policy counts.",
	},
	{
		Name: "steptrail_stream_rule_errors", Kind: meter.Counter, Unit: "{span}",
		Description: "Spans on which a rule of the policy could not be evaluated.",
	},
	{Name: "steptrail_stream_open_runs", Kind: meter.Gauge, Unit: "{group}", Description: "Groups of units that are kept open."},
	{Name: "steptrail_stream_open_bytes", Kind: meter.Gauge, Unit: "By", Description: "Memory of open runs."},
	{
		Name: "steptrail_stream_evicted", Kind: meter.Counter, Unit: "{group}",
		Description: "Groups that were let go at the memory bound; the sweep judges them.",
	},
	{
		Name: "steptrail_stream_late_runs", Kind: meter.Counter, Unit: "{run}",
		Description: "Runs that the stream stopped judging because a span came too late; the sweep judges them.",
	},
}

// openStats is what the open runs tell.
type openStats struct{ groups, bytes, evicted, late int64 }

func newMetrics(set component.TelemetrySettings, open func() openStats, redacted *redactTally, kinds []string) (*metrics, error) {
	in := meter.New(set.MeterProvider, scopeName, described)
	m := &metrics{
		spans:     in.Counter("steptrail_stream_spans"),
		logs:      in.Counter("steptrail_stream_log_records"),
		steps:     in.Counter("steptrail_stream_steps"),
		findings:  in.Counter("steptrail_findings"),
		redacted:  in.ObservedCounter("steptrail_stream_redacted_values"),
		dropped:   in.Counter("steptrail_stream_dropped"),
		clamped:   in.Counter("steptrail_stream_clamped"),
		expired:   in.Counter("steptrail_stream_expired"),
		unknown:   in.Counter("steptrail_stream_unknown_values"),
		conflicts: in.Counter("steptrail_stream_kind_conflicts"),
		ruleErrs:  in.Counter("steptrail_stream_rule_errors"),
		openRuns:  in.Gauge("steptrail_stream_open_runs"),
		openBytes: in.Gauge("steptrail_stream_open_bytes"),
		evicted:   in.ObservedCounter("steptrail_stream_evicted"),
		late:      in.ObservedCounter("steptrail_stream_late_runs"),
	}
	m.attributes()
	reg, err := in.Observe(func(_ context.Context, o metric.Observer) error {
		s := open()
		o.ObserveInt64(m.openRuns, s.groups)
		o.ObserveInt64(m.openBytes, s.bytes)
		o.ObserveInt64(m.evicted, s.evicted)
		o.ObserveInt64(m.late, s.late)
		redacted.each(func(detector string, n int64) {
			o.ObserveInt64(m.redacted, n, metric.WithAttributes(attribute.String("detector", detector)))
		})
		return nil
	}, m.openRuns, m.openBytes, m.evicted, m.late, m.redacted)
	if err != nil {
		return nil, err
	}
	m.registration = reg
	m.zero(kinds)
	return m, nil
}

func (m *metrics) attributes() {
	for k := range m.stepAttrs {
		for o := range m.stepAttrs[k] {
			kind, outcome := agent.Kind(k).String(), agent.Outcome(o).String() // small
			if outcome == "" {
				outcome = "none"
			}
			m.stepAttrs[k][o] = metric.WithAttributeSet(attribute.NewSet(attribute.String("kind", kind), attribute.String("outcome", outcome)))
		}
	}
	for i, name := range dropNames {
		m.droppedAttrs[i] = metric.WithAttributeSet(attribute.NewSet(attribute.String("reason", name)))
	}
	for i, name := range clampNames {
		m.clampedAttrs[i] = metric.WithAttributeSet(attribute.NewSet(attribute.String("reason", name)))
	}
}

// zero exports what has not happened yet, so that a rate sees the first time.
func (m *metrics) zero(kinds []string) {
	ctx := context.Background()
	for _, c := range []metric.Int64Counter{m.spans, m.logs, m.conflicts, m.ruleErrs} {
		c.Add(ctx, 0)
	}
	for _, kind := range kinds {
		for _, s := range []agent.Severity{agent.SeverityInfo, agent.SeverityWarning, agent.SeverityCritical} {
			m.findings.Add(ctx, 0, findingAttrs(kind, s))
		}
	}
	for _, a := range m.droppedAttrs {
		m.dropped.Add(ctx, 0, a)
	}
	for _, a := range m.clampedAttrs {
		m.clamped.Add(ctx, 0, a)
	}
}

func findingAttrs(kind string, s agent.Severity) metric.MeasurementOption {
	return metric.WithAttributes(attribute.String("kind", kind), attribute.String("severity", s.String()))
}

// add hands over the counts of one request.
func (m *metrics) add(ctx context.Context, c *counts) {
	add := func(to metric.Int64Counter, n int64, options ...metric.AddOption) {
		if n > 0 {
			to.Add(ctx, n, options...)
		}
	}
	add(m.spans, c.spans)
	add(m.logs, c.logs)
	add(m.expired, c.expired)
	add(m.conflicts, c.conflicts)
	add(m.ruleErrs, c.rules)
	for i, n := range c.dropped {
		add(m.dropped, n, m.droppedAttrs[i])
	}
	for i, n := range c.clamped {
		add(m.clamped, n, m.clampedAttrs[i])
	}
	for k := range c.steps {
		for o, n := range c.steps[k] {
			add(m.steps, n, m.stepAttrs[k][o])
		}
	}
	for name, n := range c.unknown {
		add(m.unknown, n, metric.WithAttributes(attribute.String("attribute", name)))
	}
}

func (m *metrics) shutdown() error { return m.registration.Unregister() }
