package agentanalyzerextension

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/steptrail/steptrail/internal/custody"
	"github.com/steptrail/steptrail/internal/sweep"
)

// Scope of the instruments below.
const scopeName = "github.com/steptrail/steptrail/extension/agentanalyzerextension"

// instruments are all metrics of the extension.
type instruments struct {
	sweeps    metric.Int64Counter
	duration  metric.Float64Histogram
	runs      metric.Int64Counter
	spans     metric.Int64Counter
	findings  metric.Int64Counter
	withdrawn metric.Int64Counter
	truncated metric.Int64Counter

	holds, erasures, waiting atomic.Int64

	pending atomic.Int64
	lag     atomic.Int64 // nanoseconds
	stop    metric.Registration
}

func newInstruments(provider metric.MeterProvider) (*instruments, error) {
	m := provider.Meter(scopeName)
	var i instruments
	var errs []error
	counter := func(dst *metric.Int64Counter, name, unit, text string) {
		c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(text))
		*dst, errs = c, append(errs, err)
	}
	counter(&i.sweeps, "steptrail_sweeps", "{sweep}", "Sweeps over stored history, by result (ok, error).")
	counter(&i.runs, "steptrail_sweep_runs", "{run}", "Runs judged by the sweep.")
	counter(&i.spans, "steptrail_sweep_spans", "{span}", "Spans that judged runs were derived from.")
	counter(&i.findings, "steptrail_sweep_findings", "{finding}", "Findings that the sweep wrote: new, changed, confirmed or withdrawn.")
	counter(&i.withdrawn, "steptrail_sweep_findings_withdrawn", "{finding}", "Findings that the sweep took back.")
	counter(&i.truncated, "steptrail_sweep_groups_truncated", "{group}", "Groups of units larger than the store loads at once, judged in part.")
	var err error
	i.duration, err = m.Float64Histogram("steptrail_sweep_duration", metric.WithUnit("s"), metric.WithDescription("Wall time of one sweep."))
	errs = append(errs, err)
	pending, err := m.Int64ObservableGauge("steptrail_sweep_pending", metric.WithUnit("{unit}"), metric.WithDescription("Changed units that wait to be quiet."))
	errs = append(errs, err)
	lag, err := m.Float64ObservableGauge("steptrail_sweep_lag", metric.WithUnit("s"), metric.WithDescription("How much longer than the quiet period the oldest changed unit has waited."))
	errs = append(errs, err)
	gauge := func(name, unit, text string) metric.Int64ObservableGauge {
		g, err := m.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(text))
		errs = append(errs, err)
		return g
	}
	holds := gauge("steptrail_holds", "{hold}", "Holds that have not ended.")
	erasures := gauge("steptrail_erasures_open", "{erasure}", "Erasures that are not done.")
	waiting := gauge("steptrail_erasures_waiting", "{erasure}", "Erasures that wait for the end of a hold.")
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	i.stop, err = m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(pending, i.pending.Load())
		o.ObserveFloat64(lag, time.Duration(i.lag.Load()).Seconds())
		o.ObserveInt64(holds, i.holds.Load())
		o.ObserveInt64(erasures, i.erasures.Load())
		o.ObserveInt64(waiting, i.waiting.Load())
		return nil
	}, pending, lag, holds, erasures, waiting)
	return &i, err
}

// kept notes what a look at holds and erasures found.
func (i *instruments) kept(s custody.Stats) {
	i.holds.Store(int64(s.Holds))
	i.erasures.Store(int64(s.Erasures))
	i.waiting.Store(int64(s.Waiting))
}

// start makes every counter visible from 0.
func (i *instruments) start(ctx context.Context) {
	for _, result := range []string{"ok", "error"} {
		i.sweeps.Add(ctx, 0, metric.WithAttributes(attribute.String("result", result)))
	}
	for _, c := range []metric.Int64Counter{i.runs, i.spans, i.findings, i.withdrawn, i.truncated} {
		c.Add(ctx, 0)
	}
}

func (i *instruments) record(ctx context.Context, s sweep.Stats, took time.Duration, err error) {
	result := "ok"
	if err != nil {
		result = "error"
	}
	i.sweeps.Add(ctx, 1, metric.WithAttributes(attribute.String("result", result)))
	i.duration.Record(ctx, took.Seconds())
	i.runs.Add(ctx, int64(s.Runs))
	i.spans.Add(ctx, int64(s.Spans))
	i.findings.Add(ctx, int64(s.Findings))
	i.withdrawn.Add(ctx, int64(s.Withdrawn))
	i.truncated.Add(ctx, int64(s.Truncated))
	i.pending.Store(int64(s.Pending))
	i.lag.Store(int64(s.Lag))
}
