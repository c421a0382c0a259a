package agentanalyzerextension

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/extensioncapabilities"
	"go.uber.org/zap"

	"github.com/steptrail/steptrail/extension/agentstorageextension"
	"github.com/steptrail/steptrail/internal/detect"
	"github.com/steptrail/steptrail/internal/policy"
	"github.com/steptrail/steptrail/internal/policyfile"
	"github.com/steptrail/steptrail/internal/store"
	"github.com/steptrail/steptrail/internal/sweep"
)

var (
	_ extension.Extension             = (*analyzer)(nil)
	_ extensioncapabilities.Dependent = (*analyzer)(nil)
	_ sweep.Store                     = (*store.Store)(nil)
)

type analyzer struct {
	cfg     *Config
	policy  *policy.Policy
	log     *zap.Logger
	metrics *instruments

	stop context.CancelFunc
	done sync.WaitGroup

	// judging keeps the sweep from writing down what it read before an erasure.
	judging sync.Mutex
}

// Dependencies makes the collector start the storage before the analyzer and
// stop it after.
func (a *analyzer) Dependencies() []component.ID { return []component.ID{a.cfg.Storage} }

func newAnalyzer(set extension.Settings, cfg *Config) (*analyzer, error) {
	p, err := policyfile.LoadKeyless(cfg.PolicyFile)
	if err != nil {
		return nil, err
	}
	m, err := newInstruments(set.MeterProvider, detect.KindsUnder(p))
	if err != nil {
		return nil, fmt.Errorf("make metrics: %w", err)
	}
	return &analyzer{cfg: cfg, policy: p, log: set.Logger, metrics: m}, nil
}

// Start finds the storage and begins to sweep.
func (a *analyzer) Start(ctx context.Context, host component.Host) error {
	storage, err := agentstorageextension.Find(host, a.cfg.Storage)
	if err != nil {
		return err
	}
	a.metrics.start(ctx, time.Now())
	forget := forgetOf(host.GetExtensions())
	ctx, a.stop = context.WithCancel(context.WithoutCancel(ctx))
	a.done.Go(func() { a.run(ctx, storage) })                       // ends in Shutdown
	a.done.Go(func() { a.metrics.open.watch(ctx, storage, a.log) }) // likewise
	a.done.Go(func() { a.keep(ctx, storage, forget) })              // likewise
	return nil
}

// Shutdown ends the sweep that is under way and waits for it. What it did not
// reach is judged after the next start.
func (a *analyzer) Shutdown(context.Context) error {
	if a.stop != nil {
		a.stop()
		a.done.Wait()
	}
	return a.metrics.stop.Unregister()
}

// run sweeps at the interval until the context ends.
func (a *analyzer) run(ctx context.Context, storage agentstorageextension.Storage) {
	tick := time.NewTicker(a.cfg.Interval)
	defer tick.Stop()
	var sweeper *sweep.Sweeper
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if sweeper == nil {
			st, err := storage.Store()
			if err != nil {
				continue // not migrated yet; the storage extension logs why
			}
			sweeper = sweep.New(st, a.policy, sweep.Config{
				Overlap: a.cfg.Overlap,
				Tell:    func(n sweep.News) { a.metrics.activity.tell(ctx, n) },
			})
		}
		a.sweep(ctx, sweeper)
	}
}

func (a *analyzer) sweep(ctx context.Context, s *sweep.Sweeper) {
	bounded, cancel := context.WithTimeout(ctx, a.cfg.Timeout)
	defer cancel()
	a.judging.Lock()
	begin := time.Now()
	stats, err := s.Tick(bounded, begin)
	a.judging.Unlock()
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return
	}
	a.metrics.record(ctx, stats, begin, time.Since(begin), err)
	if err != nil {
		a.log.Warn("sweep did not finish; what is left is judged with the next", zap.Error(err), zap.Int("units", stats.Units))
	}
}
