package agentstepprocessor

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processorhelper"
	"go.uber.org/zap"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/assemble"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/policy"
)

// processTraces annotates the spans of one request and passes them on. A span
// without ids is dropped alone.
func (s *state) processTraces(ctx context.Context, td ptrace.Traces) (ptrace.Traces, error) {
	s.work(ctx, func(w *worker) []assemble.Verdict { //nolint:contextcheck // conditions of rules wait for nothing
		w.traces(td)
		verdicts := s.open.add(&w.batch, w.received)
		w.mark(td, verdicts)
		return verdicts
	})
	if td.ResourceSpans().Len() == 0 {
		return td, processorhelper.ErrSkipProcessingData
	}
	return td, nil
}

// processLogs redacts the log records of one request, brings those that hold
// content into the canonical form, and passes all on.
func (s *state) processLogs(ctx context.Context, ld plog.Logs) (plog.Logs, error) {
	s.work(ctx, func(w *worker) []assemble.Verdict {
		w.logs(ld)
		return s.open.add(&w.batch, w.received)
	})
	return ld, nil
}

// work lends a worker for one request, counts what it did, and takes it back,
// whatever happens.
func (s *state) work(ctx context.Context, f func(*worker) []assemble.Verdict) {
	w := <-s.workers
	defer func() {
		w.end()
		s.workers <- w
	}()
	w.start()
	verdicts := f(w)
	s.metrics.add(ctx, &w.counts)
	for i := range verdicts {
		s.countFindings(ctx, verdicts[i].Fresh)
	}
}

func (s *state) countFindings(ctx context.Context, fresh []agent.Finding) {
	for i := range fresh {
		s.metrics.findings.Add(ctx, 1, findingAttrs(fresh[i].Kind, fresh[i].Severity))
	}
}

// start readies a worker for a request.
func (w *worker) start() {
	w.received = w.s.now().UnixNano()
	w.counts.reset()
	w.batch.reset()
}

// end lets go of what the request holds.
func (w *worker) end() {
	w.resourceSpans, w.scopeSpans = ptrace.ResourceSpans{}, ptrace.ScopeSpans{}
	w.batch.reset()
}

func (w *worker) traces(td ptrace.Traces) {
	td.ResourceSpans().RemoveIf(func(rs ptrace.ResourceSpans) bool {
		w.resourceSpans = rs
		w.resource(rs.Resource(), defaultTenant)
		rs.SetSchemaUrl(w.schema(rs.SchemaUrl()))
		rs.ScopeSpans().RemoveIf(func(ss ptrace.ScopeSpans) bool {
			w.scopeSpans = ss
			name := ss.Scope().Name()
			w.scope(ss.Scope())
			ss.SetSchemaUrl(w.schema(ss.SchemaUrl()))
			w.counts.spans += int64(ss.Spans().Len())
			ss.Spans().RemoveIf(w.isBad)
			for _, span := range ss.Spans().All() {
				w.batch.addSpan(w.span(name, span))
				w.analyzer.EachFact(w.batch.addFact)
			}
			return ss.Spans().Len() == 0
		})
		return rs.ScopeSpans().Len() == 0
	})
}

// isBad tells a span that nothing can be linked to.
func (w *worker) isBad(span ptrace.Span) bool {
	reason := dropReasons
	switch {
	case span.TraceID().IsEmpty():
		reason = dropZeroTrace
	case span.SpanID().IsEmpty():
		reason = dropZeroSpan
	default:
		return false
	}
	w.counts.dropped[reason]++
	w.s.badSpan.Do(func() {
		w.s.log.Warn("dropped a span without ids; further ones are counted in steptrail_stream_dropped only", zap.String("reason", dropNames[reason]))
	})
	return true
}

func (w *worker) logs(ld plog.Logs) {
	for _, rl := range ld.ResourceLogs().All() {
		w.resource(rl.Resource(), defaultTenant)
		rl.SetSchemaUrl(w.schema(rl.SchemaUrl()))
		for _, sl := range rl.ScopeLogs().All() {
			w.scope(sl.Scope())
			sl.SetSchemaUrl(w.schema(sl.SchemaUrl()))
			for i, lr := range sl.LogRecords().All() {
				if rec := w.logRecord(lr, i); rec != nil {
					w.batch.addLog(&w.reader, lr)
				}
			}
		}
	}
}

// countSpan counts what one span came to.
func (w *worker) countSpan(rec *canon.Record, v verdict) {
	c := &w.counts
	s := &rec.Step
	c.dropped[dropRedaction] += int64(w.guard.refused + w.analyzer.Refused)
	c.clamped[clampBody] += int64(len(w.analyzer.Cut))
	c.clamped[clampAttribute] += int64(len(w.guard.cut) - len(w.analyzer.Cut))
	for _, name := range rec.Unknown {
		c.unknownValue(name)
	}
	if v.conflict {
		c.conflicts++
	}
	if v.clampedPast {
		c.clamped[clampPast]++
	}
	if v.clampedFuture {
		c.clamped[clampFuture]++
	}
	if v.expired {
		c.expired++
		w.s.expired.Do(func() {
			w.s.log.Warn("a span came after its term of retention; further ones are counted in steptrail_stream_expired only",
				zap.Time("began", time.Unix(0, s.Start)), zap.String("class", policy.ClassOf(s).String()))
		})
	}
	if s.Op != agent.OpNone && s.Op != agent.OpHTTP {
		c.steps[s.Kind][shown(s)]++
	}
}

// shown is the outcome that a span states, or shows by itself.
func shown(s *agent.Step) agent.Outcome {
	if s.Outcome != agent.OutcomeUnset {
		return s.Outcome
	}
	switch s.Sign {
	case agent.SignOK:
		return agent.OutcomeOK
	case agent.SignRejected:
		return agent.OutcomeError
	case agent.SignLost, agent.SignException:
		if s.Kind == agent.KindRead || s.Kind == agent.KindThink {
			return agent.OutcomeError
		}
		return agent.OutcomeUnknown
	case agent.SignDeferred:
		return agent.OutcomeDeferred
	case agent.SignRefused:
		return agent.OutcomeRefused
	case agent.SignReceipt:
		return agent.OutcomeUnknown
	default:
		return agent.OutcomeUnset
	}
}
