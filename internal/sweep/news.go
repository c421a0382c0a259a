package sweep

import (
	"context"
	"fmt"

	"github.com/steptrail/steptrail/internal/agent"
)

// News is what a judgement wrote about a run that no sweep, of this process or
// another, had written before: what counters count. Whoever is told must not
// change it, and it is not kept.
type News struct {
	Run     *agent.Run
	Summary *agent.Summary
	// Ended: the run ended or stalled, and had not when it was last written. One
	// that goes on and ends again is news again.
	Ended bool
	Steps []NewStep
}

// NewStep is a step with attempts that are new.
type NewStep struct {
	Step *agent.RunStep
	// First: no attempt of the step had been written.
	First    bool
	Attempts []*agent.Attempt // never empty; each has an outcome
}

// news compares what will be written with what is. A process that ends between
// the write and the telling tells nobody, so counters may miss, never double.
func (s *Sweeper) news(ctx context.Context, tenant string, d *agent.Derived) ([]News, error) {
	if s.cfg.Tell == nil || len(d.Runs) == 0 {
		return nil, nil
	}
	var units, runs []string
	for _, r := range d.Runs {
		units, runs = append(units, r.Units...), append(runs, r.ID)
	}
	before, err := s.store.WrittenOf(ctx, tenant, units, runs)
	if err != nil {
		return nil, fmt.Errorf("read what was written: %w", err)
	}
	out := make([]News, 0, len(d.Runs))
	for i, r := range d.Runs {
		sum := &d.Summaries[i]
		n := News{Run: r, Summary: sum, Steps: newSteps(r, before.Attempts)}
		_, ended := before.Ended[r.ID]
		n.Ended = !ended && (sum.Status == agent.RunStatusEnded || sum.Status == agent.RunStatusStalled)
		out = append(out, n)
	}
	return out, nil
}

func newSteps(r *agent.Run, before map[agent.AttemptName]struct{}) []NewStep {
	var out []NewStep
	for i := range r.Steps {
		st := NewStep{Step: &r.Steps[i], First: true}
		for j := range st.Step.Attempts {
			a := &st.Step.Attempts[j]
			if a.Outcome == agent.OutcomeUnset {
				continue // its end is still awaited
			}
			if _, known := before[a.Name()]; known {
				st.First = false
				continue
			}
			st.Attempts = append(st.Attempts, a)
		}
		if len(st.Attempts) > 0 {
			out = append(out, st)
		}
	}
	return out
}
