package agentstepprocessor

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processorhelper"
)

// Type is the name of the component in a config file.
var Type = component.MustNewType("agentstep")

// NewFactory makes the factory of the processor. Its traces and logs share one
// state where they share one config, as they do in one collector.
func NewFactory() processor.Factory {
	shared := newSharedStates()
	return processor.NewFactory(
		Type,
		createDefaultConfig,
		processor.WithTraces(func(ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Traces) (processor.Traces, error) {
			s, err := shared.get(cfg.(*Config), set) //nolint:contextcheck // counters start at zero, for no request
			if err != nil {
				return nil, err
			}
			return processorhelper.NewTraces(ctx, set, cfg, next, s.processTraces, s.options()...)
		}, component.StabilityLevelBeta),
		processor.WithLogs(func(ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Logs) (processor.Logs, error) {
			s, err := shared.get(cfg.(*Config), set) //nolint:contextcheck // counters start at zero, for no request
			if err != nil {
				return nil, err
			}
			s.late.set(next)
			return processorhelper.NewLogs(ctx, set, cfg, next, s.processLogs, s.options()...)
		}, component.StabilityLevelBeta),
	)
}

func createDefaultConfig() component.Config {
	return &Config{
		DataDir:           "./steptrail-data",
		MaxOpenBytes:      512 << 20,
		MaxOpenTime:       15 * time.Minute,
		MaxBodyBytes:      1 << 20,
		MaxAttributeBytes: 64 << 10,
		MaxAttributes:     1024,
		MessageCacheBytes: 16 << 20,
	}
}
