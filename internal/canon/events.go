package canon

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
)

// events reads the span's events. Exceptions give error type and text where the
// span states none; findings are read as such; all others are kept.
func (r *Reader) events(span ptrace.Span) {
	rec := &r.rec
	s := &rec.Step
	evs := span.Events()
	for i := range evs.Len() {
		ev := evs.At(i)
		name := ev.Name()
		if name == FindingEvent {
			if f, ok := readFinding(s.Tenant, ev.Timestamp(), ev.Attributes()); ok {
				rec.Findings = append(rec.Findings, f)
			}
			continue
		}
		// The event's slice of attributes is used again, as the step's is.
		var attrs []agent.Attr
		if n := len(s.Events); n < cap(s.Events) {
			attrs = s.Events[:n+1][n].Attributes[:0]
		}
		exception := name == ExceptionEvent
		for k, v := range ev.Attributes().All() {
			if exception {
				switch k {
				case ExceptionType:
					rec.status.exception = true
					if t := text(v); t != "" {
						rec.status.excType = t
					}
				case ExceptionMessage:
					rec.status.exception = true
					if m := text(v); m != "" {
						s.ErrorText = m
					}
				}
			}
			attrs = r.attr(attrs, k, v)
		}
		r.fix(attrs)
		s.Events = append(s.Events, agent.Event{Time: instant(ev.Timestamp()), Name: name, Attributes: attrs})
	}
}

func (r *Reader) links(span ptrace.Span) {
	s := &r.rec.Step
	links := span.Links()
	for i := range links.Len() {
		l := links.At(i)
		if l.TraceID().IsEmpty() {
			continue
		}
		s.Links = append(s.Links, agent.Link{Trace: agent.TraceID(l.TraceID()), Span: agent.SpanID(l.SpanID())})
	}
}
