package agentanalyzerextension

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"

	"github.com/steptrail/steptrail/extension/agentstorageextension"
	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/custody"
	"github.com/steptrail/steptrail/internal/sweep"
)

// keepEvery is how often holds and erasures are looked at, at most: with longer
// sweep intervals as often as those.
const keepEvery = 2 * time.Second

// forgetter is a storage of queues that can forget.
type forgetter interface {
	Forget() (gone func() bool)
}

// forgetOf asks every storage among the extensions that can forget; nil if there
// is none.
func forgetOf(extensions map[component.ID]component.Component) custody.Forget {
	var all []forgetter
	for _, e := range extensions {
		if f, ok := e.(forgetter); ok {
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return func() func() bool {
		gone := make([]func() bool, len(all))
		for i, f := range all {
			gone[i] = f.Forget()
		}
		return func() bool { return !slices.ContainsFunc(gone, func(g func() bool) bool { return !g() }) }
	}
}

// keep works through holds and erasures until the context ends. It has a sweeper
// of its own for runs whose rows an erasure wrote anew.
func (a *analyzer) keep(ctx context.Context, storage agentstorageextension.Storage, forget custody.Forget) {
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
			keeper = custody.New(st, judge, &a.judging, forget)
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
