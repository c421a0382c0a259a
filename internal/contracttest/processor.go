package contracttest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"
)

// Processor checks a processor's factory, and for each signal that it supports: a shutdown without a start, and two
// whole lives in which an item goes in and comes out under the context it came with, before Shutdown returns.
func Processor(t *testing.T, factory processor.Factory, opts Options) {
	t.Helper()
	checkFactory(t, factory, opts)
	settings := processortest.NewNopSettings(factory.Type())
	signals := []processorSignal{
		{"traces", factory.TracesStability(), func(cfg component.Config, next *sink) (component.Component, error) {
			return factory.CreateTraces(t.Context(), settings, cfg, next)
		}},
		{"logs", factory.LogsStability(), func(cfg component.Config, next *sink) (component.Component, error) {
			return factory.CreateLogs(t.Context(), settings, cfg, next)
		}},
		{"metrics", factory.MetricsStability(), func(cfg component.Config, next *sink) (component.Component, error) {
			return factory.CreateMetrics(t.Context(), settings, cfg, next)
		}},
	}
	for _, signal := range signals {
		if !supports(signal.stability) {
			t.Run(signal.name+" are refused", func(t *testing.T) {
				_, err := signal.create(opts.config(t, factory), &sink{})
				requireRefused(t, err)
			})
			continue
		}
		t.Run(signal.name+" can be shut down without a start", func(t *testing.T) {
			c, err := signal.create(opts.config(t, factory), &sink{})
			require.NoError(t, err)
			require.NoError(t, c.Shutdown(t.Context()))
		})
		for round := range rounds {
			t.Run(fmt.Sprintf("%s are passed on, life %d", signal.name, round+1), func(t *testing.T) {
				next := &sink{}
				c, err := signal.create(opts.config(t, factory), next)
				require.NoError(t, err)
				require.NoError(t, c.Start(t.Context(), opts.host(t)))
				ctx := context.WithValue(t.Context(), contextKey{}, "kept")
				require.NotPanics(t, func() { err = consume(ctx, c) })
				require.NoError(t, err)
				require.NoError(t, c.Shutdown(t.Context()))
				require.Equal(t, 1, next.items)
				require.Equal(t, "kept", next.ctx.Value(contextKey{}), "the context of the request must reach the next consumer")
			})
		}
	}
}

type processorSignal struct {
	name      string
	stability component.StabilityLevel
	create    func(component.Config, *sink) (component.Component, error)
}

type contextKey struct{}

// consume gives one item of its signal to a processor or exporter. Where the consumer says that it does not change
// data, the data is read-only and a write panics.
func consume(ctx context.Context, c component.Component) error {
	now := time.Now()
	switch c := c.(type) {
	case consumer.Traces:
		traces := newTraces(now)
		if !c.Capabilities().MutatesData {
			traces.MarkReadOnly()
		}
		return c.ConsumeTraces(ctx, traces)
	case consumer.Logs:
		logs := newLogs(now)
		if !c.Capabilities().MutatesData {
			logs.MarkReadOnly()
		}
		return c.ConsumeLogs(ctx, logs)
	case consumer.Metrics:
		metrics := newMetrics(now)
		if !c.Capabilities().MutatesData {
			metrics.MarkReadOnly()
		}
		return c.ConsumeMetrics(ctx, metrics)
	}
	return fmt.Errorf("%T consumes no signal", c)
}

// sink counts what reaches it and keeps the last context.
type sink struct {
	items int
	ctx   context.Context //nolint:containedctx // the context itself is what the test looks at
}

var (
	_ consumer.Traces  = (*sink)(nil)
	_ consumer.Logs    = (*sink)(nil)
	_ consumer.Metrics = (*sink)(nil)
)

func (*sink) Capabilities() consumer.Capabilities { return consumer.Capabilities{MutatesData: true} }

func (s *sink) ConsumeTraces(ctx context.Context, traces ptrace.Traces) error {
	s.items, s.ctx = s.items+traces.SpanCount(), ctx
	return nil
}

func (s *sink) ConsumeLogs(ctx context.Context, logs plog.Logs) error {
	s.items, s.ctx = s.items+logs.LogRecordCount(), ctx
	return nil
}

func (s *sink) ConsumeMetrics(ctx context.Context, metrics pmetric.Metrics) error {
	s.items, s.ctx = s.items+metrics.DataPointCount(), ctx
	return nil
}
