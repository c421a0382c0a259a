package agentanalyzerextension

import (
	"context"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/steptrail/steptrail/internal/custody"
	"github.com/steptrail/steptrail/internal/meter"
	"github.com/steptrail/steptrail/internal/sweep"
)

// instruments are all metrics of the extension.
type instruments struct {
	activity *activity
	open     *openFindings

	sweeps    metric.Int64Counter
	duration  metric.Float64Histogram
	runs      metric.Int64Counter
	spans     metric.Int64Counter
	findings  metric.Int64Counter
	withdrawn metric.Int64Counter
	truncated metric.Int64Counter

	holds, erasures, waiting atomic.Int64

	pending atomic.Int64
	behind  atomic.Int64 // Unix nanoseconds: since when the oldest unit could have been judged; 0: none waits
	stop    metric.Registration
}

// newInstruments makes them; kinds are those of findings that can be open.
func newInstruments(provider metric.MeterProvider, kinds []string) (*instruments, error) {
	m := meter.New(provider, scopeName, described)
	i := &instruments{
		activity:  newActivity(m),
		open:      newOpenFindings(m, kinds),
		sweeps:    m.Counter("steptrail_sweeps"),
		duration:  m.Histogram("steptrail_sweep_duration"),
		runs:      m.Counter("steptrail_sweep_runs"),
		spans:     m.Counter("steptrail_sweep_spans"),
		findings:  m.Counter("steptrail_sweep_findings"),
		withdrawn: m.Counter("steptrail_sweep_findings_withdrawn"),
		truncated: m.Counter("steptrail_sweep_groups_truncated"),
	}
	others := m.ObservedCounter("steptrail_labels_other")
	pending, lag := m.Gauge("steptrail_sweep_pending"), m.FloatGauge("steptrail_sweep_lag")
	holds, erasures, waiting := m.Gauge("steptrail_holds"), m.Gauge("steptrail_erasures_open"), m.Gauge("steptrail_erasures_waiting")
	var err error
	i.stop, err = m.Observe(func(_ context.Context, o metric.Observer) error {
		for name, n := range i.activity.others() {
			o.ObserveInt64(others, n, labels("label", name))
		}
		o.ObserveInt64(others, i.open.kinds.Others(), labels("label", "kind"))
		o.ObserveInt64(pending, i.pending.Load())
		o.ObserveFloat64(lag, i.lag(time.Now()).Seconds())
		o.ObserveInt64(holds, i.holds.Load())
		o.ObserveInt64(erasures, i.erasures.Load())
		o.ObserveInt64(waiting, i.waiting.Load())
		i.open.observe(o, time.Now())
		return nil
	}, others, pending, lag, holds, erasures, waiting, i.open.findings, i.open.unknowns, i.open.overdue)
	return i, err
}

// kept notes what a look at holds and erasures found.
func (i *instruments) kept(s custody.Stats) {
	i.holds.Store(int64(s.Holds))
	i.erasures.Store(int64(s.Erasures))
	i.waiting.Store(int64(s.Waiting))
}

// lag is how much longer than the quiet period the oldest unit has waited.
func (i *instruments) lag(now time.Time) time.Duration {
	since := i.behind.Load()
	if since == 0 {
		return 0
	}
	return max(time.Duration(now.UnixNano()-since), 0)
}

// start makes every counter visible from 0.
func (i *instruments) start(ctx context.Context, now time.Time) {
	for _, result := range []string{"ok", "error"} {
		i.sweeps.Add(ctx, 0, labels("result", result))
		i.open.reads.Add(ctx, 0, labels("result", result))
	}
	for _, c := range []metric.Int64Counter{i.runs, i.spans, i.findings, i.withdrawn, i.truncated} {
		c.Add(ctx, 0)
	}
	i.behind.Store(now.UnixNano()) // until the first sweep, nothing is judged
}

// record counts a sweep that began at begin.
func (i *instruments) record(ctx context.Context, s sweep.Stats, begin time.Time, took time.Duration, err error) {
	result := "ok"
	if err != nil {
		result = "error"
	}
	i.sweeps.Add(ctx, 1, labels("result", result))
	i.duration.Record(ctx, took.Seconds())
	i.runs.Add(ctx, int64(s.Runs))
	i.spans.Add(ctx, int64(s.Spans))
	i.findings.Add(ctx, int64(s.Findings))
	i.withdrawn.Add(ctx, int64(s.Withdrawn))
	i.truncated.Add(ctx, int64(s.Truncated))
	if err != nil && s.Pending == 0 {
		return // it did not get as far as to look: the lag goes on
	}
	i.pending.Store(int64(s.Pending))
	switch {
	case s.Lag > 0:
		i.behind.Store(begin.Add(-s.Lag).UnixNano())
	case err == nil:
		i.behind.Store(begin.UnixNano())
	}
}
