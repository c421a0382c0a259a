package canon

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/steptrail/steptrail/internal/agent"
)

// ReadLog reads a normalised log record that has no facts yet. Of the record's
// step only what places it is filled: tenant, unit, trace, span, start.
func (r *Reader) ReadLog(lr plog.LogRecord) *Record {
	rec := r.beginLog(lr)
	r.logAttributes(lr)
	return rec
}

// Log reads the messages of an annotated log record; none if it holds no
// content.
func (r *Reader) Log(lr plog.LogRecord) []LogRecord {
	rec := r.beginLog(lr)
	r.facts = nil
	r.logAttributes(lr)
	r.logs = r.logs[:0]
	if !r.decodeFacts() {
		return nil
	}
	p := parser{b: r.rest}
	position := clamp32(p.int())
	if p.bad || rec.sum != rec.checksum() {
		return nil
	}
	for i, segments := range rec.layout.segments {
		for _, g := range segments {
			if g.end > len(rec.content[i]) {
				return nil
			}
			f := rec.Facts[g.fact]
			s := &rec.Step
			r.logs = append(r.logs, LogRecord{
				Content: agent.LogContent{
					Tenant: s.Tenant, Unit: s.Unit, Trace: s.Trace, Span: s.Span, Start: s.Start,
					Position: position, Output: slot(i) == slotOutput, Message: f.Ref, // three slots
				},
				Body:  agent.Body{Ref: f.Ref, Text: rec.content[i][g.start:g.end], Expires: s.ContentExpires},
				Facts: f,
			})
			position++
		}
	}
	return r.logs
}

func (r *Reader) beginLog(lr plog.LogRecord) *Record {
	rec := &r.rec
	rec.Step = agent.Step{
		Tenant: r.tenant, Scope: r.scope, Service: r.service, Instance: r.instance,
		Trace: agent.TraceID(lr.TraceID()), Span: agent.SpanID(lr.SpanID()),
		Start: instant(logTime(lr)), Index: -1,
		Model: agent.Model{Context: rec.Step.Model.Context[:0], Outputs: rec.Step.Model.Outputs[:0]},
	}
	rec.Bodies, rec.Facts = rec.Bodies[:0], rec.Facts[:0]
	rec.Findings, rec.Unknown = nil, rec.Unknown[:0]
	rec.stated.Reset()
	rec.arguments, rec.result, rec.session = "", "", ""
	rec.content = [contentSlots]string{}
	rec.layout.reset()
	r.json, r.pending = r.json[:0], r.pending[:0]
	return rec
}

func logTime(lr plog.LogRecord) pcommon.Timestamp {
	if t := lr.Timestamp(); t != 0 {
		return t
	}
	return lr.ObservedTimestamp()
}

func (r *Reader) logAttributes(lr plog.LogRecord) {
	rec := &r.rec
	s := &rec.Step
	for k, v := range lr.Attributes().All() {
		switch k {
		case RunID:
			s.RunID = text(v)
		case SystemInstructions:
			rec.content[slotSystem] = text(v)
		case InputMessages:
			rec.content[slotInput] = text(v)
		case OutputMessages:
			rec.content[slotOutput] = text(v)
		case Facts:
			if v.Type() == pcommon.ValueTypeBytes {
				r.facts = v.Bytes().AsRaw()
			}
		}
	}
	if s.Unit = s.RunID; s.Unit == "" {
		s.Unit = r.hexTrace(s.Trace)
	}
}

// AnnotateLog writes the facts of a log record's messages onto it. position
// orders them among the messages of their span.
func (a *Annotator) AnnotateLog(lr plog.LogRecord, rec *Record, position int32) {
	w := writer{b: appendFacts(a.buf[:0], rec)}
	w.int(int64(position))
	a.buf = w.b
	at := lr.Attributes()
	if rec.Step.Redacted > 0 {
		at.PutInt(Redacted, int64(rec.Step.Redacted))
	}
	at.PutEmptyBytes(Facts).FromRaw(a.buf)
}
