package collector

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configtelemetry"
	"go.opentelemetry.io/collector/service/telemetry"
	otelconf "go.opentelemetry.io/contrib/otelconf/v0.3.0"
)

// latencies are the histograms that are shown as native ones too, under their
// name with nativeSuffix.
var latencies = []string{"steptrail_step_duration", "steptrail_tool_duration"}

const nativeSuffix = "_native"

// nativeLatencies is the collector's telemetry with native histograms of
// latency beside the classic ones, unless a config has views of its own.
type nativeLatencies struct{ telemetry.Factory }

// CreateMeterProvider implements telemetry.Factory.
func (f nativeLatencies) CreateMeterProvider(ctx context.Context, set telemetry.MeterSettings, cfg component.Config) (telemetry.MeterProvider, error) {
	before := set.DefaultViews
	maxScale, maxBuckets := 20, 160
	set.DefaultViews = func(level configtelemetry.Level) []otelconf.View {
		var views []otelconf.View
		if before != nil {
			views = before(level)
		}
		for _, name := range latencies {
			native := name + nativeSuffix
			views = append(views,
				otelconf.View{Selector: &otelconf.ViewSelector{InstrumentName: &name}, Stream: &otelconf.ViewStream{}},
				otelconf.View{Selector: &otelconf.ViewSelector{InstrumentName: &name}, Stream: &otelconf.ViewStream{
					Name: &native,
					Aggregation: &otelconf.ViewStreamAggregation{Base2ExponentialBucketHistogram: &otelconf.ViewStreamAggregationBase2ExponentialBucketHistogram{
						MaxScale: &maxScale, MaxSize: &maxBuckets,
					}},
				}})
		}
		return views
	}
	return f.Factory.CreateMeterProvider(ctx, set, cfg)
}
