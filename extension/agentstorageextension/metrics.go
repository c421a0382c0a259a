package agentstorageextension

import (
	"context"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/steptrail/steptrail/internal/meter"
	"github.com/steptrail/steptrail/internal/store"
)

const scopeName = "github.com/steptrail/steptrail/extension/agentstorageextension"

// described are all metrics of the extension.
var described = []meter.Metric{
	{
		Name: "steptrail_store_up", Kind: meter.Gauge, Unit: "{store}",
		Description: "1 while the store answers and its tables are there, else 0; asked every 5 s.",
	},
	{
		Name: "steptrail_store_ping_duration", Kind: meter.Gauge, Unit: "s",
		Description: "How long the store took to answer the last time it was asked whether it is there.",
	},
	{
		Name: "steptrail_engine_restarts", Kind: meter.Counter, Unit: "{restart}",
		Description: "Starts of the embedded engine's process after the first; always 0 with a server.",
	},
}

const (
	pingInterval = 5 * time.Second
	pingTimeout  = 10 * time.Second
)

// health is what is known of the store.
type health struct {
	up       atomic.Int64
	ping     atomic.Int64 // nanoseconds
	restarts atomic.Pointer[func() int64]
	stop     metric.Registration
}

func newHealth(provider metric.MeterProvider) (*health, error) {
	h := &health{}
	m := meter.New(provider, scopeName, described)
	up, ping := m.Gauge("steptrail_store_up"), m.FloatGauge("steptrail_store_ping_duration")
	restarts := m.ObservedCounter("steptrail_engine_restarts")
	var err error
	h.stop, err = m.Observe(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(up, h.up.Load())
		o.ObserveFloat64(ping, time.Duration(h.ping.Load()).Seconds())
		n := int64(0)
		if f := h.restarts.Load(); f != nil {
			n = (*f)()
		}
		o.ObserveInt64(restarts, n)
		return nil
	}, up, ping, restarts)
	return h, err
}

// watch asks the store whether it answers until ctx ends.
func (h *health) watch(ctx context.Context, st *store.Store) {
	tick := time.NewTicker(pingInterval)
	defer tick.Stop()
	defer h.up.Store(0)
	for {
		h.look(ctx, st.Ping)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (h *health) look(ctx context.Context, ping func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	begin := time.Now()
	err := ping(ctx)
	h.ping.Store(int64(time.Since(begin)))
	up := int64(1)
	if err != nil {
		up = 0
	}
	h.up.Store(up)
}
