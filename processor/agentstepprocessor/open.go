package agentstepprocessor

import (
	"slices"
	"sync"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/assemble"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/detect"
	"github.com/steptrail/steptrail/internal/policy"
)

// openRuns are the runs that are still being told, shared by all requests.
type openRuns struct {
	mu   sync.Mutex
	runs *assemble.Open               // under mu
	owed map[agent.FindingID]struct{} // under mu; findings that no span carries yet
}

// maxOwed bounds the findings that wait for a span. The sweep writes them down
// in any case.
const maxOwed = 10_000

func newOpenRuns(cfg *Config, p *policy.Policy) *openRuns {
	judge := func(run *agent.Run, under func(key string) []agent.Act, at assemble.Moment) ([]agent.Finding, int64) {
		v := detect.Judge(detect.Input{Run: run, Under: under, Policy: p, Now: at.Now, LastArrival: at.LastArrival})
		return v.Findings, v.Next
	}
	limits := assemble.Limits{Bytes: cfg.MaxOpenBytes, Keep: cfg.MaxOpenTime}
	return &openRuns{runs: assemble.NewWatched(limits, p, judge), owed: make(map[agent.FindingID]struct{})}
}

// add takes in what one request brought and gives what is now known of the runs
// that it touched.
func (o *openRuns) add(b *batch, now int64) []assemble.Verdict {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.runs.Add(assemble.Batch{Steps: b.steps, Facts: b.facts, Logs: b.logs}, now)
}

// due gives the judgements that were put off, and lets quiet runs go.
func (o *openRuns) due(now int64) []assemble.Verdict {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.runs.Due(now)
}

// owe notes findings that wait for the next span of their run.
func (o *openRuns) owe(findings []agent.Finding) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range findings {
		if len(o.owed) < maxOwed {
			o.owed[findings[i].ID] = struct{}{}
		}
	}
}

// pay reports whether a finding still waits for a span, and forgets it.
func (o *openRuns) pay(id agent.FindingID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.owed[id]
	delete(o.owed, id)
	return ok
}

func (o *openRuns) stats() openStats {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.runs.Stats()
	return openStats{groups: int64(s.Groups), bytes: s.Bytes, evicted: s.Evicted, late: s.Late}
}

// spanKey identifies a span.
type spanKey struct {
	trace agent.TraceID
	span  agent.SpanID
}

// mark writes findings onto the spans of the request that they rest on. A
// finding that no span carries yet, and that rests on no span of the request,
// goes onto the last span of the request that belongs to its run.
func (w *worker) mark(td ptrace.Traces, verdicts []assemble.Verdict) {
	if !slices.ContainsFunc(verdicts, func(v assemble.Verdict) bool { return len(v.Findings) > 0 }) {
		return
	}
	spans := make(map[spanKey]ptrace.Span, len(w.batch.steps))
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				spans[spanKey{agent.TraceID(span.TraceID()), agent.SpanID(span.SpanID())}] = span
			}
		}
	}
	for i := range verdicts {
		v := &verdicts[i]
		for j := range v.Findings {
			f := &v.Findings[j]
			marked := false
			for _, e := range f.Evidence {
				if span, ok := spans[spanKey{e.Trace, e.Span}]; ok {
					canon.WriteFinding(span, f)
					marked = true
				}
			}
			if owed := w.s.open.pay(f.ID); !marked && (owed || isFresh(v, f.ID)) {
				if s := w.lastOf(v.Units); s != nil {
					canon.WriteFinding(spans[spanKey{s.Trace, s.Span}], f)
				}
			}
		}
	}
}

func isFresh(v *assemble.Verdict, id agent.FindingID) bool {
	for i := range v.Fresh {
		if v.Fresh[i].ID == id {
			return true
		}
	}
	return false
}

// lastOf gives the last step of the request that belongs to one of some units.
func (w *worker) lastOf(units []string) *agent.Step {
	for i := len(w.batch.steps) - 1; i >= 0; i-- {
		if slices.Contains(units, w.batch.steps[i].Unit) {
			return w.batch.steps[i]
		}
	}
	return nil
}
