package agentstepprocessor

import (
	"context"
	"errors"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/steptrail/steptrail/internal/agent"
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
	redacted    int64
	conflicts   int64
	dropped     [dropReasons]int64
	clamped     [clampReasons]int64
	steps       [agent.KindOther + 1][agent.OutcomeDeferred + 1]int64
	unknown     map[string]int64 // by attribute; attributes with enums are few
	rules       int64            // conditions that failed
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
	redacted  metric.Int64Counter
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

// instrument describes a metric, for the README.
type instrument struct{ name, unit, description string }

// instruments lists the metrics in the order of the README's table.
var instruments = []instrument{
	{"steptrail_stream_spans", "{span}", "Spans that came in."},
	{"steptrail_stream_log_records", "{record}", "Log records that came in."},
	{"steptrail_stream_steps", "{span}", "Spans that are steps, by kind and by the outcome that they show or state by themselves."},
	{"steptrail_findings", "{finding}", "Findings that are new to this process, by kind and severity."},
	{"steptrail_stream_redacted_values", "{value}", "Values that redaction replaced."},
	{"steptrail_stream_dropped", "{item}", "Spans, values and attributes that were left out, by reason."},
	{"steptrail_stream_clamped", "{item}", "Values that were cut and starts that were not believed, by reason."},
	{"steptrail_stream_unknown_values", "{value}", "Values of our attributes that no enum or number knows, by attribute; they are kept as text."},
	{"steptrail_stream_kind_conflicts", "{span}", "Spans that state another kind than the policy gives their tool; the policy counts."},
	{"steptrail_stream_rule_errors", "{span}", "Spans on which a rule of the policy could not be evaluated."},
	{"steptrail_stream_open_runs", "{group}", "Groups of units that are kept open."},
	{"steptrail_stream_open_bytes", "By", "Memory of open runs."},
	{"steptrail_stream_evicted", "{group}", "Groups that were let go at the memory bound; the sweep judges them."},
	{"steptrail_stream_late_runs", "{run}", "Runs that the stream stopped judging because a span came too late; the sweep judges them."},
}

// openStats is what the open runs tell.
type openStats struct{ groups, bytes, evicted, late int64 }

func newMetrics(set component.TelemetrySettings, open func() openStats, kinds []string) (*metrics, error) {
	meter := set.MeterProvider.Meter(scopeName)
	m := &metrics{}
	var errs []error
	describe := func(name string) (unit, description string) {
		for _, i := range instruments {
			if i.name == name {
				return i.unit, i.description
			}
		}
		panic("BUG: metric " + name + " is not described")
	}
	counter := func(to *metric.Int64Counter, name string) {
		unit, description := describe(name)
		c, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		*to, errs = c, append(errs, err)
	}
	counter(&m.spans, "steptrail_stream_spans")
	counter(&m.logs, "steptrail_stream_log_records")
	counter(&m.steps, "steptrail_stream_steps")
	counter(&m.findings, "steptrail_findings")
	counter(&m.redacted, "steptrail_stream_redacted_values")
	counter(&m.dropped, "steptrail_stream_dropped")
	counter(&m.clamped, "steptrail_stream_clamped")
	counter(&m.unknown, "steptrail_stream_unknown_values")
	counter(&m.conflicts, "steptrail_stream_kind_conflicts")
	counter(&m.ruleErrs, "steptrail_stream_rule_errors")
	gauge := func(to *metric.Int64ObservableGauge, name string) {
		unit, description := describe(name)
		g, err := meter.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(description))
		*to, errs = g, append(errs, err)
	}
	gauge(&m.openRuns, "steptrail_stream_open_runs")
	gauge(&m.openBytes, "steptrail_stream_open_bytes")
	observed := func(to *metric.Int64ObservableCounter, name string) {
		unit, description := describe(name)
		c, err := meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(description))
		*to, errs = c, append(errs, err)
	}
	observed(&m.evicted, "steptrail_stream_evicted")
	observed(&m.late, "steptrail_stream_late_runs")
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	m.attributes()
	reg, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s := open()
		o.ObserveInt64(m.openRuns, s.groups)
		o.ObserveInt64(m.openBytes, s.bytes)
		o.ObserveInt64(m.evicted, s.evicted)
		o.ObserveInt64(m.late, s.late)
		return nil
	}, m.openRuns, m.openBytes, m.evicted, m.late)
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
	add(m.redacted, c.redacted)
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
