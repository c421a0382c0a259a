package sweep

import (
	"context"
	"fmt"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/policy"
)

// keepContent keeps for its full term what sampling left out, where a finding
// points to it or where the step failed as other spans tell. Until then it
// stands under the grace term.
func (s *Sweeper) keepContent(ctx context.Context, tenant string, vs []*verdict, now time.Time) error {
	if s.policy.Sampling.ReadContent >= 1 {
		return nil
	}
	var kept []agent.KeptContent
	for _, v := range vs {
		for _, r := range v.runs {
			pointed := pointedTo(v.findings[r.ID])
			for i := range r.Steps {
				for j := range r.Steps[i].Attempts {
					a := &r.Steps[i].Attempts[j]
					if a.NoSpan {
						continue
					}
					failed := a.Outcome == agent.OutcomeError || a.Outcome == agent.OutcomeUnknown
					for _, span := range a.Spans {
						if (failed || pointed[spanName{span.Trace, span.Span}]) && s.leftOut(span, now) {
							kept = append(kept, agent.KeptContent{Step: span, Until: s.policy.FullContent(span)})
						}
					}
				}
			}
		}
	}
	if len(kept) == 0 {
		return nil
	}
	if err := s.store.KeepContent(ctx, tenant, kept); err != nil {
		return fmt.Errorf("keep sampled content of %d spans: %w", len(kept), err)
	}
	return nil
}

// leftOut reports whether sampling left the span's content out and it is still
// there.
func (s *Sweeper) leftOut(span *agent.Step, now time.Time) bool {
	return policy.ClassOf(span) == policy.ClassRead && !span.Erased && !s.policy.Sampling.Keeps(span.Unit) &&
		span.ContentExpires > now.Unix() && span.ContentExpires < s.policy.FullContent(span)
}

type spanName struct {
	trace agent.TraceID
	span  agent.SpanID
}

// pointedTo are the spans that findings give as evidence.
func pointedTo(found []agent.Finding) map[spanName]bool {
	out := map[spanName]bool{}
	for i := range found {
		for _, e := range found[i].Evidence {
			out[spanName{e.Trace, e.Span}] = true
		}
	}
	return out
}
