package agentstepprocessor

import (
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/dialect"
)

// worker takes spans and log records through dialect, redaction, analysis and
// policy. It holds what is reused from span to span and serves one request at a
// time.
type worker struct {
	s        *state
	dialects dialect.Normalizer
	stated   canon.Stated
	guard    guard
	analyzer *canon.Analyzer
	reader   canon.Reader
	decider  decider
	writer   canon.Annotator
	counts   counts
	batch    batch

	resourceSpans ptrace.ResourceSpans
	scopeSpans    ptrace.ScopeSpans

	tenant   string
	received int64

	// Of the current span: hashes that the sender stated.
	arguments, result agent.Digest
	compared          string // the arguments, pseudonymised
}

// begin starts a group of spans or log records.
func (w *worker) resource(res pcommon.Resource, tenant string) {
	w.tenant = tenant
	w.guard.protect = w.s.protector(tenant)
	w.guard.reset()
	at := res.Attributes()
	w.counts.dropped[dropAttributes] += int64(w.guard.group(at))
	w.countGuard()
	at.PutStr(canon.Tenant, tenant)
	w.reader.Resource(res)
}

func (w *worker) scope(scope pcommon.InstrumentationScope) {
	w.guard.reset()
	w.counts.dropped[dropAttributes] += int64(w.guard.group(scope.Attributes()))
	scope.SetName(w.guard.name("scope.name", valid(scope.Name())))
	scope.SetVersion(w.guard.name("scope.version", valid(scope.Version())))
	w.countGuard()
	w.reader.Scope(scope)
}

// schema protects the URL of a schema.
func (w *worker) schema(url string) string {
	w.guard.reset()
	url = w.guard.name("schema_url", url)
	w.countGuard()
	return url
}

// countGuard counts what the guard did to a group that has no row of its own.
func (w *worker) countGuard() {
	w.counts.dropped[dropRedaction] += int64(w.guard.refused)
	w.counts.clamped[clampAttribute] += int64(len(w.guard.cut))
}

// span takes one span all the way and returns its record, which is valid until
// the next one.
func (w *worker) span(scope string, span ptrace.Span) *canon.Record {
	canon.Strip(span)
	w.dialects.Normalize(scope, span, &w.stated)
	w.protectSpan(span)
	w.protectStated()
	rec := w.reader.Read(span, &w.stated)
	w.analyzer.Attach(rec)
	if !w.arguments.IsZero() {
		rec.Step.Call.ArgumentsSent = w.arguments
	}
	rec.Step.Call.ResultSent = w.result
	v := w.decider.decide(rec, w.compared, w.received)
	w.protectDecided(rec)
	w.analyzer.CallFacts(rec, w.decider.policy.Reconciles(rec.Step.Call.Tool), !w.arguments.IsZero())
	w.analyzer.Bodies(rec)
	rec.Step.Redacted = int32(min(w.guard.replaced+w.analyzer.Replaced, 1<<30)) // bounded
	w.rules(span, rec)
	w.guard.cut = append(w.guard.cut, w.analyzer.Cut...)
	w.writer.Annotate(span, rec, w.guard.cut)
	w.countSpan(rec, v)
	return rec
}

// protectSpan redacts everything on a span that can hold content, and analyzes
// messages, arguments and results on the way.
func (w *worker) protectSpan(span ptrace.Span) {
	g := &w.guard
	g.reset()
	w.analyzer.Begin(w.tenant, g.protect, startOf(span))
	w.arguments, w.result, w.compared = agent.Digest{}, agent.Digest{}, ""
	at := span.Attributes()
	drop, broken := false, false
	for k, v := range at.All() {
		broken = broken || !g.goodKey(k)
		switch treatmentOf(k) {
		case keepID:
			w.id(k, v)
		case keepLabel:
			w.label(k, v)
		case keepKey:
			w.rewrite(k, v, g.protect.Key)
		case keepTarget:
			w.rewrite(k, v, g.protect.Target)
		case content:
			w.content(k, v)
		case stated:
			drop = true
			w.statedHash(k, v)
		default:
			if isNumber(v) && strings.HasPrefix(k, "gen_ai.") {
				continue // counts and parameters hold nothing of a person
			}
			g.attribute(k, v)
		}
	}
	if drop {
		at.RemoveIf(func(k string, _ pcommon.Value) bool { return treatmentOf(k) == stated })
	}
	dropped := g.limit(at)
	if broken {
		g.keys(at)
	}
	span.SetDroppedAttributesCount(addCount(span.DroppedAttributesCount(), dropped))
	w.counts.dropped[dropAttributes] += int64(dropped)
	span.SetName(g.name("span.name", span.Name()))
	if m := span.Status().Message(); m != "" {
		span.Status().SetMessage(g.text("status.message", m))
	}
	w.protectEvents(span)
}

func isNumber(v pcommon.Value) bool {
	return v.Type() == pcommon.ValueTypeInt || v.Type() == pcommon.ValueTypeDouble || v.Type() == pcommon.ValueTypeBool
}

func (w *worker) protectEvents(span ptrace.Span) {
	g := &w.guard
	evs := span.Events()
	for i := range evs.Len() {
		ev := evs.At(i)
		ev.SetName(g.name("event.name", ev.Name()))
		ev.SetDroppedAttributesCount(addCount(ev.DroppedAttributesCount(), g.group(ev.Attributes())))
	}
	links := span.Links()
	for i := range links.Len() {
		l := links.At(i)
		l.SetDroppedAttributesCount(addCount(l.DroppedAttributesCount(), g.group(l.Attributes())))
		if s := l.TraceState().AsRaw(); s != "" {
			l.TraceState().FromRaw(g.text("link.tracestate", s))
		}
	}
	if s := span.TraceState().AsRaw(); s != "" {
		span.TraceState().FromRaw(g.text("tracestate", s))
	}
}

func addCount(n uint32, more int) uint32 {
	return uint32(min(uint64(n)+uint64(max(more, 0)), 1<<32-1)) // bounded
}

func startOf(span ptrace.Span) int64 {
	return int64(min(uint64(span.StartTimestamp()), 1<<63-1)) // bounded
}

// treatment says how the value of a known attribute is protected.
type treatment uint8

const (
	redacted   treatment = iota // as any text
	keepID                      // an id that the analysis needs: kept
	keepLabel                   // a name or enum: as any text, and no longer than an id
	keepKey                     // an idempotency key: as the policy says
	keepTarget                  // a target: as the policy says
	content                     // messages, arguments, results
	stated                      // a hash of content, kept as keyed hash only
)

func treatmentOf(k string) treatment {
	if strings.HasPrefix(k, canon.Prefix) {
		switch k {
		case canon.IdempotencyKey:
			return keepKey
		case canon.Target:
			return keepTarget
		case canon.ArgumentsHash, canon.ResultHash:
			return stated
		case canon.RunID, canon.RunParentID, canon.StepID, canon.ContextHash, canon.Reconciles:
			return keepID
		case canon.RunOutcome, canon.TaskType, canon.ScenarioID, canon.StepKind, canon.ToolEffect, canon.GateDecision, canon.Outcome, canon.OnUnknown,
			canon.ReconcileResult, canon.HumanDecision, canon.PromptVersion:
			return keepLabel
		}
		return redacted
	}
	switch k {
	case canon.ToolArguments, canon.ToolResult, canon.InputMessages, canon.OutputMessages, canon.SystemInstructions:
		return content
	case canon.HTTPKeyHeader:
		return keepKey
	case canon.ResponseID, canon.AgentID, canon.ToolCallID, canon.ServiceInstanceID:
		return keepID
	case canon.OperationName, canon.ProviderName, canon.RequestModel, canon.ResponseModel, canon.AgentName, canon.ToolName, canon.ToolType,
		canon.HTTPMethod, canon.PromptName, canon.ServiceName, canon.DBOperation, canon.DBSystem:
		return keepLabel
	}
	return redacted
}

func (w *worker) id(k string, v pcommon.Value) {
	if v.Type() != pcommon.ValueTypeStr {
		return
	}
	if s := v.Str(); len(s) > maxID || !utf8.ValidString(s) {
		v.SetStr(w.guard.id(k, s))
	}
}

// label protects a name or enum.
func (w *worker) label(k string, v pcommon.Value) {
	if v.Type() != pcommon.ValueTypeStr {
		w.guard.attribute(k, v)
		return
	}
	s := v.Str()
	if kept := w.guard.name(k, w.guard.id(k, s)); kept != s {
		v.SetStr(kept)
	}
}

// rewrite gives an idempotency key or target what the policy says; a header's
// value is a list.
func (w *worker) rewrite(k string, v pcommon.Value, keep func(string) (string, bool)) {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		if kept := w.kept(w.guard.id(k, v.Str()), keep); kept != v.Str() {
			v.SetStr(kept)
		}
	case pcommon.ValueTypeSlice:
		for _, e := range v.Slice().All() {
			if e.Type() == pcommon.ValueTypeStr {
				w.rewrite(k, e, keep)
			}
		}
	default:
		w.guard.value("", v, 0)
	}
}

func (w *worker) kept(s string, keep func(string) (string, bool)) string {
	kept, ok := keep(s)
	if !ok {
		w.guard.refused++
		return refusedText
	}
	if kept != s {
		w.guard.replaced++
	}
	return kept
}

// content analyzes a content attribute and puts what may be kept in its place.
func (w *worker) content(k string, v pcommon.Value) {
	if v.Type() != pcommon.ValueTypeStr {
		if v.Type() == pcommon.ValueTypeEmpty {
			return
		}
		v.SetStr(string(canon.AppendJSON(nil, v)))
	}
	raw := v.Str()
	if !utf8.ValidString(raw) {
		raw = strings.ToValidUTF8(raw, string(utf8.RuneError))
	}
	raw = wholeSurrogates(raw)
	a := w.analyzer
	kept := raw
	switch k {
	case canon.ToolArguments:
		kept, w.compared = a.Arguments(raw)
	case canon.ToolResult:
		kept = a.Result(raw)
	case canon.InputMessages:
		kept = a.InputMessages(raw)
	case canon.OutputMessages:
		kept = a.OutputMessages(raw)
	case canon.SystemInstructions:
		kept = a.SystemInstructions(raw)
	}
	if kept != v.Str() {
		v.SetStr(kept)
	}
}

func (w *worker) statedHash(k string, v pcommon.Value) {
	d := digestOf(v, w.analyzer.KeyedHash)
	if d.IsZero() {
		w.counts.unknownValue(k)
		return
	}
	if k == canon.ArgumentsHash {
		w.arguments = d
	} else {
		w.result = d
	}
}

// protectDecided treats a target and a key that templates made as those that
// were sent.
func (w *worker) protectDecided(rec *canon.Record) {
	c := &rec.Step.Call
	if w.decider.madeTarget {
		c.Target = w.kept(c.Target, w.guard.protect.Target)
	}
	if w.decider.madeKey {
		c.Key = w.kept(c.Key, w.guard.protect.Key)
	}
}

// logRecord takes one log record all the way. It returns the record of its
// messages, or nil where it holds none.
func (w *worker) logRecord(lr plog.LogRecord, ordinal int) *canon.Record {
	g := &w.guard
	g.reset()
	at := lr.Attributes()
	canon.StripLog(lr)
	kind := dialect.NormalizeLog(lr)
	w.analyzer.Begin(w.tenant, g.protect, 0)
	good := true
	for k, v := range at.All() {
		good = good && g.goodKey(k)
		switch treatmentOf(k) {
		case content:
			if kind == dialect.LogOther {
				g.attribute(k, v)
				continue
			}
			w.content(k, v)
		case keepID:
			w.id(k, v)
		case keepLabel:
			w.label(k, v)
		default:
			g.attribute(k, v)
		}
	}
	w.counts.dropped[dropAttributes] += int64(g.limit(at))
	if !good {
		g.keys(at)
	}
	g.value("body", lr.Body(), 0)
	lr.SetSeverityText(g.name("severity_text", lr.SeverityText()))
	lr.SetEventName(g.name("event_name", valid(lr.EventName())))
	w.countGuard()
	w.counts.logs++
	if kind == dialect.LogOther || lr.TraceID().IsEmpty() {
		return nil
	}
	rec := w.reader.ReadLog(lr)
	w.analyzer.Attach(rec)
	rec.Step.Received = w.received
	w.decider.logTerms(&rec.Step)
	rec.Step.Redacted = int32(min(g.replaced+w.analyzer.Replaced, 1<<30)) // bounded
	w.counts.dropped[dropRedaction] += int64(w.analyzer.Refused)
	w.counts.clamped[clampBody] += int64(len(w.analyzer.Cut))
	w.writer.AnnotateLog(lr, rec, position(kind, ordinal, rec))
	return rec
}

// position orders the messages of one call. A record that holds them all counts
// from 0; one that holds a single message takes its place in the request and, so
// that no two records of a call share one, a part of the message's hash.
func position(kind dialect.LogKind, ordinal int, rec *canon.Record) int32 {
	if kind == dialect.LogCall || len(rec.Facts) == 0 {
		return 0
	}
	ref := rec.Facts[0].Ref
	return int32(min(ordinal, 1<<15-1))<<16 | int32(ref[0])<<8 | int32(ref[1]) // 15 bits
}
