package agentstoreexporter

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/steptrail/steptrail/extension/agentstorageextension"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/store"
)

// storeExporter turns telemetry into batches and batches into inserts.
type storeExporter struct {
	cfg     *Config
	logger  *zap.Logger
	metrics *instruments
	readers sync.Pool // of *canon.Reader
	storage agentstorageextension.Storage
	warned  sync.Once // about items that no processor annotated

	forget func() (gone func() bool) // nil: the queue is not on disk, or cannot forget
	stop   context.CancelFunc        // ends watch
	done   sync.WaitGroup            // of watch
}

func newExporter(set exporter.Settings, cfg *Config) (*storeExporter, error) {
	m, err := newInstruments(set.MeterProvider)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return &storeExporter{
		cfg: cfg, logger: set.Logger, metrics: m,
		readers: sync.Pool{New: func() any { return new(canon.Reader) }},
	}, nil
}

func (e *storeExporter) start(ctx context.Context, host component.Host) error {
	storage, err := agentstorageextension.Find(host, e.cfg.Storage)
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	e.storage = storage
	e.metrics.zero(ctx)
	if q := e.cfg.Queue.Get(); q != nil && q.StorageID == nil && !q.WaitForResult {
		e.logger.Warn("sending_queue has no storage: what is acknowledged and not yet stored is lost if the process is killed")
	}
	e.watchErasures(ctx, host)
	return nil
}

func (e *storeExporter) shutdown(context.Context) error {
	if e.stop != nil {
		e.stop()
		e.done.Wait()
	}
	return nil
}

// newRequest gives an empty request. Once the store is there its batches leave
// out what is stored already.
func (e *storeExporter) newRequest() *request {
	if e.storage != nil {
		if s, err := e.storage.Store(); err == nil {
			return &request{exporter: e, batch: s.NewBatch()}
		}
	}
	return &request{exporter: e, batch: store.NewBatch()}
}

// traces reads annotated spans into a request.
func (e *storeExporter) traces(ctx context.Context, td ptrace.Traces) (xexporterhelper.Request, error) {
	req := e.newRequest()
	r := e.readers.Get().(*canon.Reader) //nolint:forcetypeassert // the pool's own
	defer e.readers.Put(r)
	missing := 0
	for _, rs := range td.ResourceSpans().All() {
		r.Resource(rs.Resource())
		for _, ss := range rs.ScopeSpans().All() {
			r.Scope(ss.Scope())
			for _, span := range ss.Spans().All() {
				rec := r.Span(span)
				if rec.Step.Expires == 0 {
					missing++
					continue
				}
				req.batch.AddSpan(&rec.Step, rec.Bodies, rec.Facts)
				for i := range rec.Findings {
					req.batch.AddFinding(rec.Findings[i])
				}
			}
		}
	}
	e.unannotated(ctx, missing)
	e.erase(req)
	return req, nil
}

// logs reads annotated log records into a request: content of model calls, and
// findings that no span could carry. Other records are none of ours.
func (e *storeExporter) logs(ctx context.Context, ld plog.Logs) (xexporterhelper.Request, error) {
	req := e.newRequest()
	r := e.readers.Get().(*canon.Reader) //nolint:forcetypeassert // the pool's own
	defer e.readers.Put(r)
	missing := 0
	for _, rl := range ld.ResourceLogs().All() {
		r.Resource(rl.Resource())
		for _, sl := range rl.ScopeLogs().All() {
			r.Scope(sl.Scope())
			for _, record := range sl.LogRecords().All() {
				if f, ok := r.FindingOf(record); ok {
					req.batch.AddLateFinding(f)
					continue
				}
				for _, m := range r.Log(record) {
					if m.Body.Expires == 0 {
						missing++
						continue
					}
					req.batch.AddLog(m.Content, m.Body, m.Facts)
				}
			}
		}
	}
	e.unannotated(ctx, missing)
	e.erase(req)
	return req, nil
}

// unannotated counts items without a term of retention: only the processor,
// which knows the policy, can give it.
func (e *storeExporter) unannotated(ctx context.Context, n int) {
	if n == 0 {
		return
	}
	e.metrics.unannotated.Add(ctx, int64(n))
	e.warned.Do(func() {
		e.logger.Error("spans or log records that did not pass the agentstep processor are not stored: put it into the pipeline before this exporter")
	})
}

// push stores a request. It may be called again with the same one.
func (e *storeExporter) push(ctx context.Context, req xexporterhelper.Request) error {
	r, ok := req.(*request)
	if !ok {
		return consumererror.NewPermanent(fmt.Errorf("send %T", req))
	}
	s, err := e.storage.Store()
	if err != nil {
		return err
	}
	begin := time.Now()
	err = s.Insert(ctx, r.batch)
	e.metrics.duration.Record(ctx, time.Since(begin).Seconds())
	switch {
	case err == nil:
		if r.batch.Late() && e.forget != nil {
			e.forget() // content of erased units has passed the queue
		}
		e.metrics.inserts.Add(ctx, 1, resultOK)
		e.metrics.spans.Add(ctx, int64(r.batch.Spans()))
		e.metrics.messages.Add(ctx, int64(r.batch.Logs()))
		e.metrics.findings.Add(ctx, int64(r.batch.Findings()))
		return nil
	case store.Permanent(err):
		e.metrics.inserts.Add(ctx, 1, resultPermanent)
		return consumererror.NewPermanent(err)
	default:
		e.metrics.inserts.Add(ctx, 1, resultRetryable)
		return err
	}
}
