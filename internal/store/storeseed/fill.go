package storeseed

import (
	"context"
	"errors"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/policyfile"
	"github.com/steptrail/steptrail/internal/store"
	"github.com/steptrail/steptrail/internal/sweep"
)

// Fill stores the day that ends at end and has it judged by the demo policy,
// first when half of each run is there, so that rows of several versions lie
// beside each other as they do in life. Some spans are stored twice.
func Fill(ctx context.Context, s *store.Store, end time.Time) ([]*agent.Step, error) {
	p, err := policyfile.LoadKeyless(policyfile.Demo)
	if err != nil {
		return nil, err
	}
	judge := func(late time.Duration) error {
		w := sweep.New(s, p, sweep.Config{})
		_, err := w.Range(ctx, time.Now().Add(-time.Hour), time.Now().Add(time.Hour), time.Now().Add(late))
		return err
	}
	steps := Steps(end)
	first, second := store.NewBatch(), store.NewBatch()
	for i, st := range steps {
		if i%2 == 0 {
			first.AddSpan(st, nil, nil)
		} else {
			second.AddSpan(st, nil, nil)
		}
	}
	return steps, errors.Join(s.Insert(ctx, first), judge(time.Hour), s.Insert(ctx, second), s.Insert(ctx, first), judge(2*time.Hour), judge(3*time.Hour))
}
