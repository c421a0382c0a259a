package meter_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/steptrail/steptrail/internal/meter"
)

func TestAMetricHasTheNameThatPrometheusShows(t *testing.T) {
	for want, m := range map[string]meter.Metric{
		"steptrail_sweeps_total":           {Name: "steptrail_sweeps", Kind: meter.Counter, Unit: "{sweep}"},
		"steptrail_sweep_duration_seconds": {Name: "steptrail_sweep_duration", Kind: meter.Histogram, Unit: "s"},
		"steptrail_stream_open_bytes":      {Name: "steptrail_stream_open_bytes", Kind: meter.Gauge, Unit: "By"},
		"steptrail_cost_usd_total":         {Name: "steptrail_cost_usd", Kind: meter.Counter, Unit: "{USD}"},
		"steptrail_busy_seconds_total":     {Name: "steptrail_busy", Kind: meter.Counter, Unit: "s"},
	} {
		require.Equal(t, want, m.Prometheus())
	}
}

func TestADescribedMetricThatNobodyMakesIsAnError(t *testing.T) {
	list := []meter.Metric{
		{Name: "steptrail_a", Kind: meter.Counter, Unit: "{thing}", Description: "Things."},
		{Name: "steptrail_b", Kind: meter.Gauge, Unit: "{thing}", Description: "Things now."},
	}
	m := meter.New(noop.NewMeterProvider(), "test", list)
	m.Counter("steptrail_a")
	require.EqualError(t, m.Err(), "metric steptrail_b is described and not made")
	_, err := m.Observe(nil)
	require.Error(t, err)
	m.Gauge("steptrail_b")
	require.NoError(t, m.Err())
	require.Panics(t, func() { m.Gauge("steptrail_b") }, "twice")
	require.Panics(t, func() { m.Counter("steptrail_c") }, "unknown")
}

func TestATableHasARowForEachMetric(t *testing.T) {
	require.Equal(t, "| metric | in Prometheus | unit | labels | meaning |\n|---|---|---|---|---|\n"+
		"| `steptrail_a` | `steptrail_a_total` | {thing} | `kind` `tool` | Things. |\n",
		meter.Table([]meter.Metric{{Name: "steptrail_a", Kind: meter.Counter, Unit: "{thing}", Description: "Things.", Labels: []string{"kind", "tool"}}}))
}
