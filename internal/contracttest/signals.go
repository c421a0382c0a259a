package contracttest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pipeline"
)

// supports tells whether a factory states a stability for a signal, which is how it says that it can make it.
func supports(level component.StabilityLevel) bool { return level != component.StabilityLevelUndefined }

// requireRefused checks that a signal that is not supported is refused in the way pipelines understand.
func requireRefused(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, pipeline.ErrSignalNotSupported)
}

// The generators below make one item with everything that any consumer may insist on: ids, times, a resource.

func newTraces(now time.Time) ptrace.Traces {
	traces := ptrace.NewTraces()
	rs := traces.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "contract")
	span := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetTraceID(pcommon.TraceID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	span.SetSpanID(pcommon.SpanID{1, 2, 3, 4, 5, 6, 7, 8})
	span.SetName("test_span")
	span.Attributes().PutStr("test_attr", "value_1")
	span.SetStartTimestamp(pcommon.NewTimestampFromTime(now.Add(-time.Second)))
	span.SetEndTimestamp(pcommon.NewTimestampFromTime(now))
	return traces
}

func newLogs(now time.Time) plog.Logs {
	logs := plog.NewLogs()
	rl := logs.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", "contract")
	record := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	record.SetTraceID(pcommon.TraceID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	record.SetSpanID(pcommon.SpanID{1, 2, 3, 4, 5, 6, 7, 8})
	record.Body().SetStr("test log message")
	record.SetTimestamp(pcommon.NewTimestampFromTime(now))
	return logs
}

func newMetrics(now time.Time) pmetric.Metrics {
	metrics := pmetric.NewMetrics()
	rm := metrics.ResourceMetrics().AppendEmpty()
	rm.Resource().Attributes().PutStr("service.name", "contract")
	m := rm.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("test_metric")
	point := m.SetEmptyGauge().DataPoints().AppendEmpty()
	point.Attributes().PutStr("test_attr", "value_1")
	point.SetIntValue(123)
	point.SetTimestamp(pcommon.NewTimestampFromTime(now))
	return metrics
}
