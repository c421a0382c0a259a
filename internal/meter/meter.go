// Package meter makes the instruments of a component from one list that also
// makes the table in the component's README. It counts nothing itself.
//
//	[]Metric → Meter → instruments of otel
//	         → Table → README
package meter

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/metric"
)

// Kind is what a metric does.
type Kind uint8

// Values of Kind.
const (
	Counter   Kind = iota + 1 // only grows
	Gauge                     // a state
	Histogram                 // a distribution
)

// Metric describes one metric.
type Metric struct {
	Name        string // without the suffixes that Prometheus wants
	Kind        Kind
	Unit        string // UCUM; {things} for counts
	Description string
	Labels      []string
	Buckets     []float64 // of a histogram, in its unit
}

// Prometheus is the name under which a Prometheus endpoint of the collector
// shows the metric.
func (m *Metric) Prometheus() string {
	name := m.Name
	if unit := map[string]string{"s": "seconds", "By": "bytes"}[m.Unit]; unit != "" && !strings.HasSuffix(name, "_"+unit) {
		name += "_" + unit
	}
	switch {
	case m.Kind == Counter:
		name += "_total"
	case m.Kind == Gauge && m.Unit == "1":
		name += "_ratio"
	}
	return name
}

// Table is the metrics as a Markdown table, in the order of the list.
func Table(list []Metric) string {
	var b strings.Builder
	b.WriteString("| metric | in Prometheus | unit | labels | meaning |\n|---|---|---|---|---|\n")
	for i := range list {
		m := &list[i]
		labels := ""
		if len(m.Labels) > 0 {
			labels = "`" + strings.Join(m.Labels, "` `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s |\n", m.Name, m.Prometheus(), m.Unit, labels, m.Description)
	}
	return b.String()
}

// Meter makes instruments by the names of a list. It is used while a component
// is made, by one goroutine.
type Meter struct {
	otel metric.Meter
	list map[string]Metric // that were not made yet
	errs []error
}

// New begins to make the instruments of a list.
func New(provider metric.MeterProvider, scope string, list []Metric) *Meter {
	m := &Meter{otel: provider.Meter(scope), list: make(map[string]Metric, len(list))}
	for _, d := range list {
		m.list[d.Name] = d
	}
	return m
}

// take looks a description up; each can be taken once.
func (m *Meter) take(name string, kind Kind) (unit metric.InstrumentOption, text metric.InstrumentOption, d Metric) {
	d, ok := m.list[name]
	if !ok || d.Kind != kind {
		panic("BUG: metric " + name + " is not described, is of another kind, or was made before")
	}
	delete(m.list, name)
	return metric.WithUnit(d.Unit), metric.WithDescription(d.Description), d
}

func made[T any](m *Meter, instrument T, err error) T {
	m.errs = append(m.errs, err)
	return instrument
}

// Counter makes a counter of whole things.
func (m *Meter) Counter(name string) metric.Int64Counter {
	unit, text, _ := m.take(name, Counter)
	c, err := m.otel.Int64Counter(name, unit, text)
	return made(m, c, err)
}

// FloatCounter makes a counter of parts of things.
func (m *Meter) FloatCounter(name string) metric.Float64Counter {
	unit, text, _ := m.take(name, Counter)
	c, err := m.otel.Float64Counter(name, unit, text)
	return made(m, c, err)
}

// ObservedCounter makes a counter that something else counts.
func (m *Meter) ObservedCounter(name string) metric.Int64ObservableCounter {
	unit, text, _ := m.take(name, Counter)
	c, err := m.otel.Int64ObservableCounter(name, unit, text)
	return made(m, c, err)
}

// Gauge makes a gauge of whole things.
func (m *Meter) Gauge(name string) metric.Int64ObservableGauge {
	unit, text, _ := m.take(name, Gauge)
	g, err := m.otel.Int64ObservableGauge(name, unit, text)
	return made(m, g, err)
}

// FloatGauge makes a gauge of parts of things.
func (m *Meter) FloatGauge(name string) metric.Float64ObservableGauge {
	unit, text, _ := m.take(name, Gauge)
	g, err := m.otel.Float64ObservableGauge(name, unit, text)
	return made(m, g, err)
}

// Histogram makes a histogram with the buckets of its description.
func (m *Meter) Histogram(name string) metric.Float64Histogram {
	unit, text, d := m.take(name, Histogram)
	h, err := m.otel.Float64Histogram(name, unit, text, metric.WithExplicitBucketBoundaries(d.Buckets...))
	return made(m, h, err)
}

// Observe has the instruments' values asked for with every collection, until
// the registration ends. It is the last call: it fails with what the others
// failed with, and where a metric of the list was not made.
func (m *Meter) Observe(f metric.Callback, instruments ...metric.Observable) (metric.Registration, error) {
	if err := m.Err(); err != nil {
		return nil, err
	}
	return m.otel.RegisterCallback(f, instruments...)
}

// Err is what went wrong so far; metrics of the list that nobody made are among
// it.
func (m *Meter) Err() error {
	errs := m.errs
	for _, name := range slices.Sorted(maps.Keys(m.list)) {
		errs = append(errs, fmt.Errorf("metric %s is described and not made", name))
	}
	return errors.Join(errs...)
}
