package query

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics of the server. Labels are bounded: routes are templates, methods those
// that are routed.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	panics   prometheus.Counter
	fresh    prometheus.Counter
	accesses *prometheus.CounterVec
}

// describeMetrics makes the metrics, each named here once.
func describeMetrics() *metrics {
	return &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "steptrail_http_requests_total", Help: "Requests answered, by route, method and status.",
		}, []string{"route", "method", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "steptrail_http_request_duration_seconds", Help: "Time until the answer was written, by route.",
			Buckets:                     []float64{.005, .025, .1, .25, 1, 2.5, 10, 60},
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour,
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "steptrail_http_requests_in_flight", Help: "Requests being answered."}),
		panics:   prometheus.NewCounter(prometheus.CounterOpts{Name: "steptrail_http_panics_total", Help: "Requests that ended in a panic."}),
		fresh: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "steptrail_query_runs_derived_total", Help: "Runs derived for a list because they changed after their summary was written.",
		}),
		accesses: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "steptrail_query_access_lines_total",
			Help: "Lines of the access log about reads of content, by result (written, failed: tried again, lost).",
		}, []string{"result"}),
	}
}

func (m *metrics) all() []prometheus.Collector {
	return []prometheus.Collector{m.requests, m.duration, m.inFlight, m.panics, m.fresh, m.accesses}
}

func newMetrics(r *prometheus.Registry) (*metrics, error) {
	m := describeMetrics()
	var errs []error
	for _, c := range append(m.all(), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})) {
		if err := r.Register(c); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	for _, result := range []string{"written", "failed", "lost"} { // a rate sees the first one
		m.accesses.WithLabelValues(result)
	}
	return m, nil
}
