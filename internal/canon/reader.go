package canon

import (
	"encoding/hex"
	"math"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
)

// Reader reads spans and log records in the canonical form. The zero Reader is
// ready; use Resource and Scope once per group. It is not safe for concurrent
// use, and what it returns is valid until its next call.
type Reader struct {
	tenant   string
	service  string
	instance string
	scope    string
	group    []agent.Attr // resource attributes, then those of the scope
	resource int          // how many of group are the resource's

	rec     Record
	logs    []LogRecord
	json    []byte // values that are no strings, of one span
	pending []int  // attributes whose value lies in json
	trace   agent.TraceID
	traceID string // trace in hex
	facts   []byte
	rest    []byte // what follows the facts of a log record
}

// Resource takes the resource of the spans that follow.
func (r *Reader) Resource(res pcommon.Resource) {
	r.tenant, r.service, r.instance = "", "", ""
	r.group = r.group[:0]
	r.json, r.pending = r.json[:0], r.pending[:0]
	var host, pid string
	for k, v := range res.Attributes().All() {
		switch k {
		case Tenant:
			r.tenant = text(v)
			continue
		case ServiceName:
			r.service = text(v)
			continue
		case ServiceInstanceID:
			r.instance = text(v)
			continue
		case HostName:
			host = text(v)
		case ProcessPID:
			pid = text(v)
		}
		r.group = r.attr(r.group, k, v)
	}
	r.fix(r.group)
	if r.instance == "" && pid != "" {
		r.instance = host + "/" + pid
	}
	r.resource = len(r.group)
}

// Scope takes the instrumentation scope of the spans that follow.
func (r *Reader) Scope(scope pcommon.InstrumentationScope) {
	r.scope = scope.Name()
	r.group = r.group[:r.resource]
	r.json, r.pending = r.json[:0], r.pending[:0]
	if v := scope.Version(); v != "" {
		r.group = append(r.group, agent.Attr{Key: "otel.scope.version", Value: v})
	}
	for k, v := range scope.Attributes().All() {
		r.group = r.attr(r.group, k, v)
	}
	r.fix(r.group)
}

// Tenant is that of the resource.
func (r *Reader) Tenant() string { return r.tenant }

// Read reads a normalised span that has no facts yet, with what its dialect
// told. The processor then fills in what content analysis and policy say, and
// calls Annotate.
func (r *Reader) Read(span ptrace.Span, stated *Stated) *Record {
	rec := r.begin(span)
	rec.stated = *stated
	r.attributes(span)
	r.events(span)
	r.links(span)
	r.finish(span)
	return rec
}

// Span reads an annotated span. One without readable facts, because it never
// went through the processor, is a span that is no step.
func (r *Reader) Span(span ptrace.Span) *Record {
	rec := r.begin(span)
	rec.stated.Reset()
	r.facts = nil
	r.attributes(span)
	known := r.decodeFacts()
	r.events(span)
	r.links(span)
	r.finish(span)
	if known {
		r.place()
	}
	return rec
}

func (r *Reader) begin(span ptrace.Span) *Record {
	rec := &r.rec
	s := &rec.Step
	*s = agent.Step{
		Tenant: r.tenant, Scope: r.scope, Service: r.service, Instance: r.instance, Resource: r.group,
		Trace: agent.TraceID(span.TraceID()), Span: agent.SpanID(span.SpanID()), Parent: agent.SpanID(span.ParentSpanID()),
		Name: span.Name(), SpanKind: spanKind(span.Kind()),
		Start: instant(span.StartTimestamp()), End: instant(span.EndTimestamp()),
		Index:      -1,
		Attributes: s.Attributes[:0], Events: s.Events[:0], Links: s.Links[:0], Rules: s.Rules[:0],
		Dropped: clamp32(int64(span.DroppedAttributesCount()) + int64(span.DroppedEventsCount()) + int64(span.DroppedLinksCount())),
		Call:    agent.Call{ReconcileWith: s.Call.ReconcileWith[:0]},
		Model:   agent.Model{Context: s.Model.Context[:0], Outputs: s.Model.Outputs[:0]},
	}
	rec.Bodies, rec.Facts = rec.Bodies[:0], rec.Facts[:0]
	rec.Findings, rec.Unknown = rec.Findings[:0], rec.Unknown[:0]
	rec.StatedKind = agent.KindUnset
	rec.status = statusEvidence{}
	rec.arguments, rec.result, rec.session = "", "", ""
	rec.content = [contentSlots]string{}
	rec.layout.reset()
	r.json, r.pending = r.json[:0], r.pending[:0]
	return rec
}

// finish derives what follows from several attributes.
func (r *Reader) finish(span ptrace.Span) {
	rec := &r.rec
	s, st := &rec.Step, &rec.stated
	s.Dialect, s.Op = st.Dialect, st.Op
	s.DialectRun, s.DialectRunWeak = st.DialectRun, st.DialectRunWeak
	s.DialectStep, s.Checkpoint = st.DialectStep, st.Checkpoint
	s.Call.OutputFunction = st.OutputFunction
	if s.HandoffTo == "" {
		s.HandoffTo = st.HandoffTo
	}
	if s.Call.Effect == agent.EffectUnset {
		s.Call.Effect = st.Effect
	}
	if s.Unit = s.Explicit(); s.Unit == "" {
		s.Unit = r.hexTrace(s.Trace)
	}
	switch {
	case s.Session == "":
		s.Session = rec.session
	case rec.session != "" && rec.session != s.Session:
		s.Attributes = append(s.Attributes, agent.Attr{Key: SessionID, Value: rec.session})
	}
	s.Model.Tokens = normalTokens(s.Model.Tokens)
	status := span.Status()
	rec.status.failed = status.Code() == ptrace.StatusCodeError
	if m := status.Message(); m != "" && (rec.status.failed || s.ErrorText == "") {
		s.ErrorText = m
	}
	s.ErrorText = Cut(s.ErrorText, maxErrorText)
	if s.ErrorType == "" {
		s.ErrorType = rec.status.excType
	}
	if s.StatusCode == 0 {
		s.StatusCode = codeOf(s.ErrorType)
	}
}

// hexTrace gives a trace id in hex. Spans of one trace come in a row, so the
// last one is remembered.
func (r *Reader) hexTrace(t agent.TraceID) string {
	if r.traceID == "" || t != r.trace {
		r.trace = t
		var buf [32]byte
		hex.Encode(buf[:], t[:])
		r.traceID = string(buf[:])
	}
	return r.traceID
}

// maxErrorText is the longest error text that a step keeps, in bytes. The whole
// text stands in the span.
const maxErrorText = 4096

// codeOf reads a status code from an error type: three digits, alone or after
// http_.
func codeOf(errorType string) int32 {
	if len(errorType) > 5 && (errorType[:5] == "http_" || errorType[:5] == "HTTP_") {
		errorType = errorType[5:]
	}
	if len(errorType) != 3 {
		return 0
	}
	n, err := strconv.Atoi(errorType)
	if err != nil || n < 100 || n > 599 {
		return 0
	}
	return int32(n) //nolint:gosec // three digits
}

// normalTokens makes Input hold what was read from and written to a cache, and
// Output the reasoning: where the sender left them out, its sum is smaller than
// its parts.
func normalTokens(t agent.Tokens) agent.Tokens {
	if t.CacheRead+t.CacheWrite > t.Input {
		t.Input += t.CacheRead + t.CacheWrite
	}
	if t.Reasoning > t.Output {
		t.Output += t.Reasoning
	}
	return t
}

func spanKind(k ptrace.SpanKind) string {
	switch k {
	case ptrace.SpanKindInternal:
		return "internal"
	case ptrace.SpanKindServer:
		return "server"
	case ptrace.SpanKindClient:
		return "client"
	case ptrace.SpanKindProducer:
		return "producer"
	case ptrace.SpanKindConsumer:
		return "consumer"
	default:
		return ""
	}
}

// instant is a timestamp in Unix nanoseconds; one that no int64 holds is the
// last that does.
func instant(t pcommon.Timestamp) int64 { return int64(min(uint64(t), math.MaxInt64)) } // bounded

func clamp32(n int64) int32 { return int32(max(math.MinInt32, min(n, math.MaxInt32))) } // bounded
