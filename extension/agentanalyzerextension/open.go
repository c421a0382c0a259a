package agentanalyzerextension

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/steptrail/steptrail/extension/agentstorageextension"
	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/label"
	"github.com/steptrail/steptrail/internal/meter"
	"github.com/steptrail/steptrail/internal/store"
)

const (
	// openInterval is how often what is open is read from the store.
	openInterval = 5 * time.Second
	// openStale is how old the last reading may be to be shown.
	openStale = time.Minute
)

var severities = [...]agent.Severity{agent.SeverityInfo, agent.SeverityWarning, agent.SeverityCritical}

// kindSeverity is what open findings are counted by.
type kindSeverity struct {
	kind     string
	severity agent.Severity
}

// openFindings shows what is open in the store. What was not read lately is not
// shown: an old number would look like a good one.
type openFindings struct {
	findings, unknowns, overdue metric.Int64ObservableGauge
	reads                       metric.Int64Counter
	kinds                       *label.Values
	always                      []string // kinds that are shown also with 0

	mu   sync.Mutex
	now  map[kindSeverity]int64 // under mu
	read time.Time              // under mu; of the last success
}

func newOpenFindings(m *meter.Meter, kinds []string) *openFindings {
	return &openFindings{
		findings: m.Gauge("steptrail_open_findings"),
		unknowns: m.Gauge("steptrail_unknowns_open"),
		overdue:  m.Gauge("steptrail_unknowns_overdue"),
		reads:    m.Counter("steptrail_open_reads"),
		kinds:    label.NewValues(maxSets / len(severities)),
		always:   kinds,
	}
}

// watch reads at the interval until ctx ends.
func (o *openFindings) watch(ctx context.Context, storage agentstorageextension.Storage, log *zap.Logger) {
	tick := time.NewTicker(time.Second) // until the store is there
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		st, err := storage.Store()
		if err != nil {
			continue // the storage extension logs why
		}
		tick.Reset(openInterval)
		bounded, cancel := context.WithTimeout(ctx, openStale)
		open, err := st.OpenFindings(bounded)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			o.reads.Add(ctx, 1, labels("result", "error"))
			log.Warn("open findings could not be read", zap.Error(err))
			continue
		}
		o.reads.Add(ctx, 1, labels("result", "ok"))
		o.set(open, time.Now())
	}
}

// set takes a reading in. Every kind that can be found is there, with 0.
func (o *openFindings) set(open []store.OpenFindings, at time.Time) {
	now := make(map[kindSeverity]int64)
	for _, kind := range o.always {
		for _, s := range severities {
			now[kindSeverity{o.kinds.Of(kind), s}] = 0
		}
	}
	for _, f := range open {
		now[kindSeverity{o.kinds.Of(f.Kind), f.Severity}] += f.Count
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now, o.read = now, at
}

// observe shows the last reading, if it is not stale at now.
func (o *openFindings) observe(to metric.Observer, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.now == nil || now.Sub(o.read) > openStale {
		return
	}
	unknown := int64(0)
	for of, n := range o.now {
		to.ObserveInt64(o.findings, n, labels("kind", of.kind, "severity", of.severity.String()))
		if of.kind == "outcome.unknown" {
			unknown += n
		}
	}
	to.ObserveInt64(o.unknowns, unknown)
	to.ObserveInt64(o.overdue, o.now[kindSeverity{"outcome.unknown", agent.SeverityCritical}])
}
