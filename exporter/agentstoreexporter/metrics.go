package agentstoreexporter

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
)

const scopeName = "github.com/steptrail/steptrail/exporter/agentstoreexporter"

// instruments are all metrics of the exporter, beside those of exporterhelper.
type instruments struct {
	spans       metric.Int64Counter
	messages    metric.Int64Counter
	findings    metric.Int64Counter
	inserts     metric.Int64Counter
	duration    metric.Float64Histogram
	unannotated metric.Int64Counter
	undecodable metric.Int64Counter
}

func newInstruments(provider metric.MeterProvider) (*instruments, error) {
	m := provider.Meter(scopeName)
	var i instruments
	var errs []error
	counter := func(dst *metric.Int64Counter, name, unit, text string) {
		c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(text))
		*dst, errs = c, append(errs, err)
	}
	counter(&i.spans, "steptrail_store_spans", "{span}", "Spans stored.")
	counter(&i.messages, "steptrail_store_log_records", "{record}", "Messages from log records stored.")
	counter(&i.findings, "steptrail_store_findings", "{finding}", "Findings of the stream stored.")
	counter(&i.inserts, "steptrail_store_inserts", "{batch}", "Tries to insert a batch, by result (ok, retryable, permanent).")
	counter(&i.unannotated, "steptrail_store_unannotated", "{item}", "Spans and log records left out because they did not pass the agentstep processor.")
	counter(&i.undecodable, "steptrail_store_undecodable", "{request}", "Requests in the queue on disk that could not be read and are lost.")
	var err error
	i.duration, err = m.Float64Histogram("steptrail_store_insert_duration", metric.WithUnit("s"), metric.WithDescription("Wall time of one try to insert a batch."))
	return &i, errors.Join(append(errs, err)...)
}
