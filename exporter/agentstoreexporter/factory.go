package agentstoreexporter

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper"
)

// Type names the exporter in a collector's configuration.
var Type = component.MustNewType("agentstore")

// NewFactory makes the factory of the exporter.
func NewFactory() exporter.Factory {
	return exporter.NewFactory(Type, createDefaultConfig,
		exporter.WithTraces(createTraces, component.StabilityLevelAlpha),
		exporter.WithLogs(createLogs, component.StabilityLevelAlpha))
}

func createDefaultConfig() component.Config {
	batch := exporterhelper.NewDefaultBatchConfig()
	batch.FlushTimeout = 200 * time.Millisecond // rows are visible well within 3 s
	batch.MinSize = 8192
	batch.MaxSize = 50_000

	queue := exporterhelper.NewDefaultQueueConfig()
	queue.Sizer = exporterhelper.RequestSizerTypeBytes
	queue.QueueSize = 1 << 30
	queue.NumConsumers = 4
	queue.Batch = configoptional.Some(batch)

	retry := configretry.NewDefaultBackOffConfig()
	retry.InitialInterval = 500 * time.Millisecond
	retry.MaxInterval = 10 * time.Second
	retry.MaxElapsedTime = 0 // what was acknowledged is not given up

	return &Config{
		Storage: component.MustNewID("agentstorage"),
		Timeout: exporterhelper.TimeoutConfig{Timeout: time.Minute},
		Queue:   configoptional.Some(queue),
		Retry:   retry,
	}
}

func createTraces(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Traces, error) {
	e, err := newExporter(set, cfg.(*Config)) //nolint:forcetypeassert // the collector passes what createDefaultConfig made
	if err != nil {
		return nil, err
	}
	return xexporterhelper.NewTracesRequest(ctx, set, e.traces, e.push, e.options()...)
}

func createLogs(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Logs, error) {
	e, err := newExporter(set, cfg.(*Config)) //nolint:forcetypeassert // likewise
	if err != nil {
		return nil, err
	}
	return xexporterhelper.NewLogsRequest(ctx, set, e.logs, e.push, e.options()...)
}

func (e *storeExporter) options() []exporterhelper.Option {
	return []exporterhelper.Option{
		exporterhelper.WithStart(e.start),
		exporterhelper.WithShutdown(e.shutdown),
		exporterhelper.WithTimeout(e.cfg.Timeout),
		exporterhelper.WithRetry(e.cfg.Retry),
		xexporterhelper.WithQueueBatch(e.cfg.Queue, xexporterhelper.QueueBatchSettings{Encoding: encoding{e}}),
	}
}
