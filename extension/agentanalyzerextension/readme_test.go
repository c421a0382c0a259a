package agentanalyzerextension

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/steptrail/steptrail/internal/sweep"
)

func TestTheReadmeNamesEveryOptionAndItsDefault(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	d := createDefaultConfig().(*Config)
	for key, value := range map[string]string{
		"storage": "`" + d.Storage.String() + "`", "policy_file": "none, required",
		"interval": "`1s`", "overlap": "`1m`", "timeout": "`5m`",
	} {
		require.Contains(t, string(readme), fmt.Sprintf("| `%s` | %s |", key, value))
	}
	require.Equal(t, "1s 1m0s 5m0s", fmt.Sprint(d.Interval, " ", d.Overlap, " ", d.Timeout))
}

func TestTheReadmeNamesEveryMetric(t *testing.T) {
	tel := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, tel.Shutdown(context.WithoutCancel(t.Context()))) })
	m, err := newInstruments(tel.NewTelemetrySettings().MeterProvider)
	require.NoError(t, err)
	m.start(t.Context())
	m.record(t.Context(), sweep.Stats{}, 0, nil)
	var rm metricdata.ResourceMetrics
	require.NoError(t, tel.Reader.Collect(t.Context(), &rm))
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	rows := 0
	for _, scope := range rm.ScopeMetrics {
		for _, metric := range scope.Metrics {
			rows++
			require.Contains(t, string(readme), fmt.Sprintf("| `%s` | %s | %s |", metric.Name, metric.Unit, metric.Description))
		}
	}
	require.Equal(t, strings.Count(string(readme), "| `steptrail_"), rows)
}
