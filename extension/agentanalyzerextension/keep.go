package agentanalyzerextension

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/steptrail/steptrail/extension/agentstorageextension"
	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/custody"
	"github.com/steptrail/steptrail/internal/sweep"
)

// keepEvery is how often holds and erasures are looked at, at most: with longer
// sweep intervals as often as those.
const keepEvery = 2 * time.Second

// keep works through holds and erasures until the context ends. It has a sweeper
// of its own for runs whose rows an erasure wrote anew.
func (a *analyzer) keep(ctx context.Context, storage agentstorageextension.Storage) {
	tick := time.NewTicker(max(a.cfg.Interval, keepEvery))
	defer tick.Stop()
	var keeper *custody.Keeper
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if keeper == nil {
			st, err := storage.Store()
			if err != nil {
				continue // not migrated yet; the storage extension logs why
			}
			sweeper := sweep.New(st, a.policy, sweep.Config{Overlap: a.cfg.Overlap})
			judge := func(ctx context.Context, units []agent.UnitID, now time.Time) error {
				_, err := sweeper.Units(ctx, units, now)
				return err
			}
			keeper = custody.New(st, judge, &a.judging)
		}
		bounded, cancel := context.WithTimeout(ctx, a.cfg.Timeout)
		stats, err := keeper.Tick(bounded, time.Now())
		cancel()
		if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return
		}
		a.metrics.kept(stats)
		if err != nil {
			a.log.Warn("holds and erasures did not go on; they are tried again", zap.Error(err))
		}
	}
}
