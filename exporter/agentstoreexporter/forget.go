package agentstoreexporter

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"
)

// forgetter is a storage of queues that can forget: after Forget it keeps nothing
// in its files of what was stored before, once that has been taken out.
type forgetter interface {
	Forget() (gone func() bool)
}

const (
	// erasuresEvery is how often it is looked which units were erased, while
	// nothing is inserted.
	erasuresEvery = 5 * time.Second
	// erasuresTimeout bounds one look, for which inserts may wait.
	erasuresTimeout = 30 * time.Second
)

// watchErasures has the queue forget whenever units are erased, by whichever
// process that is.
func (e *storeExporter) watchErasures(ctx context.Context, host component.Host) {
	q := e.cfg.Queue.Get()
	if q == nil || q.StorageID == nil {
		return
	}
	f, ok := host.GetExtensions()[*q.StorageID].(forgetter)
	if !ok {
		e.logger.Warn("the storage of sending_queue cannot forget: it may keep what has passed it, erased runs too; file_storage of this distribution can",
			zap.Stringer("storage", *q.StorageID))
		return
	}
	e.forget = f.Forget
	ctx, e.stop = context.WithCancel(context.WithoutCancel(ctx))
	e.done.Go(func() { e.watch(ctx) }) // ends in shutdown
}

// watch looks until ctx ends. The first look finds what was erased before the
// process started, perhaps while it was down.
func (e *storeExporter) watch(ctx context.Context) {
	tick := time.NewTicker(erasuresEvery)
	defer tick.Stop()
	known := 0
	for {
		// An error is told by the inserts, which ask the same.
		if n, err := e.erasedGeneration(ctx); err == nil && n != known {
			known = n
			e.forget()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (e *storeExporter) erasedGeneration(ctx context.Context) (int, error) {
	s, err := e.storage.Store()
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, erasuresTimeout)
	defer cancel()
	return s.ErasedGeneration(ctx)
}

// erase takes content of erased units out before the request reaches the queue,
// as far as it is known which these are.
func (e *storeExporter) erase(req *request) {
	if e.storage == nil {
		return
	}
	if s, err := e.storage.Store(); err == nil {
		s.EraseKnown(req.batch)
	}
}
