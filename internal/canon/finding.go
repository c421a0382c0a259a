package canon

import (
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/cjson"
)

// maxEvidence bounds how many spans of a finding its event names.
const maxEvidence = 256

// WriteFinding adds the span event of a finding, or writes it anew where the
// span has one with this id.
func WriteFinding(span ptrace.Span, f *agent.Finding) {
	ev := findingEvent(span, f.ID.String())
	ev.SetName(FindingEvent)
	ev.SetTimestamp(pcommon.Timestamp(max(f.DetectedAt, 0))) // not negative
	writeFinding(ev.Attributes(), f)
}

// WriteFindingLog makes a log record of a finding that no span on its way can
// carry: it names the last span of its evidence.
func WriteFindingLog(lr plog.LogRecord, f *agent.Finding) {
	lr.SetEventName(FindingEvent)
	lr.SetTimestamp(pcommon.Timestamp(max(f.DetectedAt, 0))) // not negative
	lr.SetSeverityNumber(severityNumber(f.Severity))
	lr.SetSeverityText(f.Severity.String())
	lr.Body().SetStr(f.Message)
	if n := len(f.Evidence); n > 0 {
		lr.SetTraceID(pcommon.TraceID(f.Evidence[n-1].Trace))
		lr.SetSpanID(pcommon.SpanID(f.Evidence[n-1].Span))
	}
	writeFinding(lr.Attributes(), f)
}

func severityNumber(s agent.Severity) plog.SeverityNumber {
	switch s {
	case agent.SeverityCritical:
		return plog.SeverityNumberError
	case agent.SeverityWarning:
		return plog.SeverityNumberWarn
	default:
		return plog.SeverityNumberInfo
	}
}

// FindingOf reads a log record that WriteFindingLog made; false if it is none.
func (r *Reader) FindingOf(lr plog.LogRecord) (agent.Finding, bool) {
	if lr.EventName() != FindingEvent {
		return agent.Finding{}, false
	}
	return readFinding(r.tenant, lr.Timestamp(), lr.Attributes())
}

// StripLog removes what only the processor may write, whoever sent it: facts,
// and the name by which a record is a finding.
func StripLog(lr plog.LogRecord) {
	at := lr.Attributes()
	at.Remove(Facts)
	at.Remove(Redacted)
	if lr.EventName() == FindingEvent {
		lr.SetEventName("")
	}
}

func writeFinding(at pcommon.Map, f *agent.Finding) {
	at.Clear()
	at.EnsureCapacity(12)
	at.PutStr(FindingID, f.ID.String())
	at.PutStr(FindingKind, f.Kind)
	at.PutStr(FindingSeverity, f.Severity.String())
	at.PutStr(FindingMessage, f.Message)
	at.PutStr(FindingEvidence, string(appendEvidence(nil, f.Evidence)))
	at.PutStr(FindingRun, f.Run)
	at.PutStr(FindingAnchor, f.Anchor)
	at.PutStr(FindingStatus, f.Status.String())
	put(at, FindingStep, f.Step)
	put(at, FindingTool, f.Tool)
	put(at, FindingAgent, f.Agent)
	if f.Waste != (agent.Waste{}) {
		at.PutStr(FindingWaste, string(appendWaste(nil, f.Waste)))
	}
	if f.MergedInto != (agent.FindingID{}) {
		at.PutStr(FindingMergedInto, f.MergedInto.String())
	}
}

func findingEvent(span ptrace.Span, id string) ptrace.SpanEvent {
	evs := span.Events()
	for i := range evs.Len() {
		ev := evs.At(i)
		if ev.Name() != FindingEvent {
			continue
		}
		if v, ok := ev.Attributes().Get(FindingID); ok && v.Type() == pcommon.ValueTypeStr && v.Str() == id {
			return ev
		}
	}
	return evs.AppendEmpty()
}

func put(at pcommon.Map, key, value string) {
	if value != "" {
		at.PutStr(key, value)
	}
}

func appendEvidence(dst []byte, evidence []agent.Evidence) []byte {
	if len(evidence) > maxEvidence {
		evidence = evidence[:maxEvidence]
	}
	dst = append(dst, '[')
	for i, e := range evidence {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = cjson.AppendQuoted(append(dst, `{"trace_id":`...), e.Trace.String())
		dst = cjson.AppendQuoted(append(dst, `,"span_id":`...), e.Span.String())
		dst = cjson.AppendQuoted(append(dst, `,"unit":`...), e.Unit)
		dst = strconv.AppendInt(append(dst, `,"attempt":`...), int64(e.Attempt), 10)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func appendWaste(dst []byte, w agent.Waste) []byte {
	dst = strconv.AppendInt(append(dst, `{"attempts":`...), w.Attempts, 10)
	dst = strconv.AppendInt(append(dst, `,"duration_ns":`...), w.Duration, 10)
	dst = strconv.AppendInt(append(dst, `,"tokens":`...), w.Tokens, 10)
	dst = strconv.AppendInt(append(dst, `,"cost_nano_usd":`...), w.CostNano, 10)
	return append(dst, '}')
}

// readFinding reads the attributes of a finding; false if it has no readable id.
func readFinding(tenant string, detected pcommon.Timestamp, at pcommon.Map) (agent.Finding, bool) {
	f := agent.Finding{Tenant: tenant, DetectedAt: instant(detected)}
	ok := false
	for k, v := range at.All() {
		s := text(v)
		switch k {
		case FindingID:
			id, err := agent.ParseFindingID(s)
			f.ID, ok = id, err == nil
		case FindingKind:
			f.Kind = s
		case FindingSeverity:
			f.Severity, _ = agent.ParseSeverity(s)
		case FindingMessage:
			f.Message = s
		case FindingEvidence:
			f.Evidence = readEvidence(s)
		case FindingRun:
			f.Run = s
		case FindingAnchor:
			f.Anchor = s
		case FindingStatus:
			f.Status, _ = agent.ParseStatus(s)
		case FindingStep:
			f.Step = s
		case FindingTool:
			f.Tool = s
		case FindingAgent:
			f.Agent = s
		case FindingWaste:
			f.Waste = readWaste(s)
		case FindingMergedInto:
			f.MergedInto, _ = agent.ParseFindingID(s)
		}
	}
	return f, ok
}

func readEvidence(text string) []agent.Evidence {
	var out []agent.Evidence
	sc := cjson.Scan(text)
	for sc.Array(); sc.Next() && len(out) < maxEvidence; {
		var e agent.Evidence
		for sc.Object(); sc.Next(); {
			switch sc.Key() {
			case "trace_id":
				e.Trace, _ = agent.ParseTraceID(sc.Text())
			case "span_id":
				e.Span, _ = agent.ParseSpanID(sc.Text())
			case "unit":
				e.Unit = sc.Text()
			case "attempt":
				e.Attempt = clamp32(scanInt(&sc))
			}
		}
		out = append(out, e)
	}
	return out
}

func readWaste(text string) agent.Waste {
	var w agent.Waste
	sc := cjson.Scan(text)
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "attempts":
			w.Attempts = scanInt(&sc)
		case "duration_ns":
			w.Duration = scanInt(&sc)
		case "tokens":
			w.Tokens = scanInt(&sc)
		case "cost_nano_usd":
			w.CostNano = scanInt(&sc)
		}
	}
	return w
}

func scanInt(sc *cjson.Scanner) int64 {
	n, err := strconv.ParseInt(sc.Raw(), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
