package agentstoreexporter

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/steptrail/steptrail/internal/meter"
)

const scopeName = "github.com/steptrail/steptrail/exporter/agentstoreexporter"

// described are all metrics of the exporter, beside those of exporterhelper.
var described = []meter.Metric{
	{Name: "steptrail_store_spans", Kind: meter.Counter, Unit: "{span}", Description: "Spans stored."},
	{Name: "steptrail_store_log_records", Kind: meter.Counter, Unit: "{record}", Description: "Messages from log records stored."},
	{Name: "steptrail_store_findings", Kind: meter.Counter, Unit: "{finding}", Description: "Findings of the stream stored."},
	{
		Name: "steptrail_store_inserts", Kind: meter.Counter, Unit: "{batch}", Labels: []string{"result"},
		Description: "Tries to insert a batch, by result (ok, retryable, permanent).",
	},
	{
		Name: "steptrail_store_insert_duration", Kind: meter.Histogram, Unit: "s", Description: "Wall time of one try to insert a batch.",
		Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
	},
	{
		Name: "steptrail_store_unannotated", Kind: meter.Counter, Unit: "{item}",
		Description: "Spans and log records left out because they did not pass the agentstep processor.",
	},
	{
		Name: "steptrail_store_undecodable", Kind: meter.Counter, Unit: "{request}",
		Description: "Requests in the queue on disk that could not be read and are lost.",
	},
}

// instruments are the metrics as they are counted.
type instruments struct {
	spans       metric.Int64Counter
	messages    metric.Int64Counter
	findings    metric.Int64Counter
	inserts     metric.Int64Counter
	duration    metric.Float64Histogram
	unannotated metric.Int64Counter
	undecodable metric.Int64Counter
}

var (
	resultOK        = metric.WithAttributes(attribute.String("result", "ok"))
	resultRetryable = metric.WithAttributes(attribute.String("result", "retryable"))
	resultPermanent = metric.WithAttributes(attribute.String("result", "permanent"))
)

func newInstruments(provider metric.MeterProvider) (*instruments, error) {
	m := meter.New(provider, scopeName, described)
	i := &instruments{
		spans:       m.Counter("steptrail_store_spans"),
		messages:    m.Counter("steptrail_store_log_records"),
		findings:    m.Counter("steptrail_store_findings"),
		inserts:     m.Counter("steptrail_store_inserts"),
		duration:    m.Histogram("steptrail_store_insert_duration"),
		unannotated: m.Counter("steptrail_store_unannotated"),
		undecodable: m.Counter("steptrail_store_undecodable"),
	}
	return i, m.Err()
}

// zero makes every counter visible from 0, so that a rate sees the first time.
func (i *instruments) zero(ctx context.Context) {
	for _, c := range []metric.Int64Counter{i.spans, i.messages, i.findings, i.unannotated, i.undecodable} {
		c.Add(ctx, 0)
	}
	for _, result := range []metric.AddOption{resultOK, resultRetryable, resultPermanent} {
		i.inserts.Add(ctx, 0, result)
	}
}
