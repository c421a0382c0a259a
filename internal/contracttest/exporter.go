package contracttest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
)

// Exporter checks an exporter's factory, its sending_queue, and for each signal that it supports: a shutdown without a
// start, and two whole lives in which it takes an item.
func Exporter(t *testing.T, factory exporter.Factory, opts Options) {
	t.Helper()
	checkFactory(t, factory, opts)
	t.Run("sending_queue is the queue of exporterhelper", func(t *testing.T) {
		requireSendingQueue(t, factory.CreateDefaultConfig())
	})
	settings := exportertest.NewNopSettings(factory.Type())
	signals := []exporterSignal{
		{"traces", factory.TracesStability(), func(cfg component.Config) (component.Component, error) {
			return factory.CreateTraces(t.Context(), settings, cfg)
		}},
		{"logs", factory.LogsStability(), func(cfg component.Config) (component.Component, error) {
			return factory.CreateLogs(t.Context(), settings, cfg)
		}},
		{"metrics", factory.MetricsStability(), func(cfg component.Config) (component.Component, error) {
			return factory.CreateMetrics(t.Context(), settings, cfg)
		}},
	}
	for _, signal := range signals {
		if !supports(signal.stability) {
			t.Run(signal.name+" are refused", func(t *testing.T) {
				_, err := signal.create(opts.config(t, factory))
				requireRefused(t, err)
			})
			continue
		}
		t.Run(signal.name+" can be shut down without a start", func(t *testing.T) {
			c, err := signal.create(opts.config(t, factory))
			require.NoError(t, err)
			require.NoError(t, c.Shutdown(t.Context()))
		})
		for round := range rounds {
			t.Run(fmt.Sprintf("%s are taken, life %d", signal.name, round+1), func(t *testing.T) {
				c, err := signal.create(opts.config(t, factory))
				require.NoError(t, err)
				require.NoError(t, c.Start(t.Context(), opts.host(t)))
				require.NotPanics(t, func() { err = consume(t.Context(), c) })
				require.NoError(t, err)
				require.NoError(t, c.Shutdown(t.Context()))
			})
		}
	}
}

type exporterSignal struct {
	name      string
	stability component.StabilityLevel
	create    func(component.Config) (component.Component, error)
}

// requireSendingQueue checks that the config's sending_queue, where it has one, stands there once and is an optional
// queue of exporterhelper, so that it is configured as in every other exporter.
func requireSendingQueue(t *testing.T, cfg component.Config) {
	t.Helper()
	want := reflect.TypeFor[configoptional.Optional[exporterhelper.QueueBatchConfig]]()
	typ := reflect.Indirect(reflect.ValueOf(cfg)).Type()
	found := 0
	for field := range typ.Fields() {
		if key, _, _ := strings.Cut(field.Tag.Get("mapstructure"), ","); key != "sending_queue" {
			continue
		}
		found++
		require.Equal(t, want, field.Type)
	}
	require.LessOrEqual(t, found, 1, "sending_queue must be defined once")
}
