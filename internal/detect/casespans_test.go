package detect_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// caseSpan is a span of a case with the resource it comes from.
type caseSpan struct {
	span            ptrace.Span
	service, worker string
	late, resent    bool
}

// spanMaker turns a case into spans, with the ids and attributes that the shared
// converter gives them.
type spanMaker struct {
	c     *caseFile
	base  int64 // Unix nanoseconds
	spans []caseSpan
}

func hid(n int, parts ...any) string {
	text := make([]string, len(parts))
	for i, p := range parts {
		text[i] = fmt.Sprint(p)
	}
	sum := sha256.Sum256([]byte(strings.Join(text, "\x1f")))
	return hex.EncodeToString(sum[:])[:n]
}

func (m *spanMaker) ns(ms float64) pcommon.Timestamp {
	return pcommon.Timestamp(m.base + int64(math.RoundToEven(ms*1e6))) // after 1970
}

func (m *spanMaker) emit(r *caseRun, trace, id, parent, name string, kind ptrace.SpanKind, start, dur float64) *caseSpan {
	span := ptrace.NewSpan()
	var t pcommon.TraceID
	var s, p pcommon.SpanID
	mustHex(t[:], trace)
	mustHex(s[:], id)
	if parent != "" {
		mustHex(p[:], parent)
	}
	span.SetTraceID(t)
	span.SetSpanID(s)
	span.SetParentSpanID(p)
	span.SetName(name)
	span.SetKind(kind)
	span.SetStartTimestamp(m.ns(start))
	span.SetEndTimestamp(m.ns(start + dur))
	at := span.Attributes()
	put(at, "agent.run.id", r.ID)
	put(at, "agent.task.type", r.TaskType)
	put(at, "gen_ai.conversation.id", r.Session)
	m.spans = append(m.spans, caseSpan{span: span, service: cmp.Or(r.Service, r.Agent)})
	return &m.spans[len(m.spans)-1]
}

func mustHex(dst []byte, s string) {
	if _, err := hex.Decode(dst, []byte(s)); err != nil {
		panic("BUG: " + err.Error())
	}
}

func put(at pcommon.Map, key, value string) {
	if value != "" {
		at.PutStr(key, value)
	}
}

func (m *spanMaker) convert() []caseSpan {
	for i := range m.c.Runs {
		m.run(&m.c.Runs[i])
	}
	return m.spans
}

type extent struct{ from, to float64 }

func (e *extent) add(s *caseStep, first bool) {
	if first {
		e.from, e.to = s.Start, s.Start+s.Dur
		return
	}
	e.from, e.to = min(e.from, s.Start), max(e.to, s.Start+s.Dur)
}

func (m *spanMaker) run(r *caseRun) {
	name := m.c.Name
	traceID := func(t int) string {
		if r.Trace != nil {
			return hid(32, "trace", name, *r.Trace, t)
		}
		return hid(32, "trace", name, r.ID, t)
	}
	rootID := func(t int) string { return hid(16, "root", name, r.ID, t) }
	laneID := func(t int, lane string) string { return hid(16, "lane", name, r.ID, t, lane) }
	ids := make([]string, len(r.Steps))
	refs, seen := map[string]string{}, map[string]int64{}
	extents := map[int]*extent{}
	instant := true
	for i := range r.Steps {
		s := &r.Steps[i]
		ids[i] = hid(16, "step", name, r.ID, i)
		if s.ID != "" {
			seen[s.ID]++
			if refs[s.ID] == "" {
				refs[s.ID] = ids[i]
			}
			refs[fmt.Sprintf("%s#%d", s.ID, cmp.Or(s.Attempt, seen[s.ID]))] = ids[i]
		}
		e := extents[s.Trace]
		if e == nil {
			e = &extent{}
			extents[s.Trace] = e
			e.add(s, true)
		}
		e.add(s, false)
		instant = instant && s.Dur == 0
	}
	m.roots(r, extents, instant, traceID, rootID)
	m.lanes(r, traceID, rootID, laneID)
	for i := range r.Steps {
		s := &r.Steps[i]
		var parent string
		switch {
		case s.Parent == "" && s.Lane != "":
			parent = laneID(s.Trace, s.Lane)
		case s.Parent == "":
			parent = rootID(s.Trace)
		case strings.HasPrefix(s.Parent, "missing:"):
			parent = hid(16, "missing", name, r.ID, s.Parent)
		case strings.HasPrefix(s.Parent, "lane:"):
			parent = laneID(s.Trace, s.Parent[5:])
		default:
			parent = refs[s.Parent]
		}
		m.step(r, s, ids[i], i, traceID(s.Trace), parent)
	}
}

func (m *spanMaker) roots(r *caseRun, extents map[int]*extent, instant bool, traceID, rootID func(int) string) {
	if r.Root.Mode == "missing" {
		return
	}
	first := math.MaxInt
	traces := make([]int, 0, len(extents))
	for t := range extents {
		first = min(first, t)
		traces = append(traces, t)
	}
	slices.Sort(traces)
	for _, t := range traces {
		e := extents[t]
		start := math.Inf(1)
		for i := range r.Steps {
			if s := &r.Steps[i]; s.Trace == t && s.Worker == "" {
				start = min(start, s.Start)
			}
		}
		if math.IsInf(start, 1) {
			start = e.from
		}
		start -= 40
		if t == first {
			start = max(0, start)
			if r.Root.Start != nil {
				start = *r.Root.Start
			}
		}
		dur := max(0, e.to+20-start)
		if t == first && r.Root.Dur != nil {
			dur = *r.Root.Dur
		}
		if instant {
			start, dur = e.from, 0
		}
		s := m.emit(r, traceID(t), rootID(t), "", "invoke_agent "+r.Agent, ptrace.SpanKindInternal, start, dur)
		s.late = r.Root.Mode == "late"
		m.agent(s, r, r.Agent)
	}
}

func (m *spanMaker) agent(s *caseSpan, r *caseRun, name string) {
	at := s.span.Attributes()
	at.PutStr("gen_ai.operation.name", "invoke_agent")
	at.PutStr("gen_ai.provider.name", cmp.Or(r.Provider, "acme_ai"))
	at.PutStr("gen_ai.agent.name", name)
}

func (m *spanMaker) lanes(r *caseRun, traceID, rootID func(int) string, laneID func(int, string) string) {
	type place struct {
		trace int
		lane  string
	}
	lanes := map[place]*extent{}
	var order []place
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Lane == "" {
			continue
		}
		parts := strings.Split(s.Lane, "/")
		for n := range parts {
			p := place{s.Trace, strings.Join(parts[:n+1], "/")}
			if lanes[p] == nil {
				lanes[p] = &extent{}
				lanes[p].add(s, true)
				order = append(order, p)
			}
			lanes[p].add(s, false)
		}
	}
	for _, p := range order {
		parent, leaf := rootID(p.trace), p.lane
		if i := strings.LastIndexByte(p.lane, '/'); i >= 0 {
			parent, leaf = laneID(p.trace, p.lane[:i]), p.lane[i+1:]
		}
		e := lanes[p]
		s := m.emit(r, traceID(p.trace), laneID(p.trace, p.lane), parent, "invoke_agent "+leaf, ptrace.SpanKindInternal, e.from-2, e.to-e.from+4)
		m.agent(s, r, leaf)
	}
}

func (m *spanMaker) step(r *caseRun, s *caseStep, id string, i int, trace, parent string) {
	kind, name := ptrace.SpanKindInternal, "execute_tool "+s.Tool
	switch {
	case s.Kind == "think":
		kind, name = ptrace.SpanKindClient, "chat "+s.Model
	case s.GateOnly:
		name = "gate " + s.Tool
	}
	out := m.emit(r, trace, id, parent, name, kind, s.Start, s.Dur)
	out.worker = s.Worker
	at := out.span.Attributes()
	switch {
	case s.Kind == "think":
		at.PutStr("gen_ai.operation.name", "chat")
		at.PutStr("gen_ai.provider.name", cmp.Or(r.Provider, "acme_ai"))
		put(at, "gen_ai.request.model", s.Model)
		putInt(at, "gen_ai.usage.input_tokens", s.TokensIn)
		putInt(at, "gen_ai.usage.output_tokens", s.TokensOut)
		if s.Cost != nil {
			at.PutDouble("agent.cost.usd", *s.Cost)
		}
		put(at, "gen_ai.input.messages", messages(s.Input, ""))
		put(at, "gen_ai.output.messages", messages(s.Output, "stop"))
	case s.GateOnly:
		put(at, "gen_ai.tool.name", s.Tool)
	default:
		at.PutStr("gen_ai.operation.name", "execute_tool")
		put(at, "gen_ai.tool.name", s.Tool)
		at.PutStr("gen_ai.tool.type", "function")
		at.PutStr("gen_ai.tool.call.id", "call_"+hid(20, "call", m.c.Name, r.ID, i))
		args := string(s.Args)
		if s.ArgsRaw != nil {
			args = *s.ArgsRaw
		}
		put(at, "gen_ai.tool.call.arguments", args)
		put(at, "gen_ai.tool.call.result", plainText(s.Result))
	}
	put(at, "agent.step.id", s.ID)
	if s.Attempt != 0 {
		at.PutInt("agent.step.attempt", s.Attempt)
	}
	if s.Kind != "tool" {
		at.PutStr("agent.step.kind", s.Kind)
	}
	put(at, "agent.target", s.Target)
	put(at, "agent.idempotency.key", s.Key)
	put(at, "agent.gate.decision", s.Gate)
	put(at, "agent.outcome", s.Outcome)
	for k, v := range s.Attributes {
		_ = at.PutEmpty(k).FromRaw(v)
	}
	if s.Error != nil {
		at.PutStr("error.type", s.Error.Type)
		out.span.Status().SetCode(ptrace.StatusCodeError)
		out.span.Status().SetMessage(s.Error.Message)
	}
	sent := *out
	for range s.Resend {
		sent.resent = true
		m.spans = append(m.spans, sent)
	}
}

func putInt(at pcommon.Map, key string, v *int64) {
	if v != nil {
		at.PutInt(key, *v)
	}
}

// plainText: a string is sent as it is, anything else as JSON.
func plainText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && string(raw) != "null" {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// messages turns [["user","text"], …] into a message list; full message objects
// pass unchanged.
func messages(raw json.RawMessage, finish string) string {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return ""
	}
	out := make([]any, len(list))
	for i, m := range list {
		var pair []string
		if json.Unmarshal(m, &pair) != nil || len(pair) != 2 {
			out[i] = m
			continue
		}
		d := map[string]any{"role": pair[0], "parts": []any{map[string]any{"type": "text", "content": pair[1]}}}
		if finish != "" {
			d["finish_reason"] = finish
		}
		out[i] = d
	}
	text, err := json.Marshal(out)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return string(text)
}

// requests orders the spans as an exporter would send them, or shuffles them,
// and cuts them into export requests. A late root comes in a request of its own.
func requests(spans []caseSpan, split int, random *rand.Rand) []ptrace.Traces {
	var normal, resent, late []caseSpan
	for _, s := range spans {
		switch {
		case s.late:
			late = append(late, s)
		case s.resent:
			resent = append(resent, s)
		default:
			normal = append(normal, s)
		}
	}
	slices.SortStableFunc(normal, func(x, y caseSpan) int {
		return cmp.Or(cmp.Compare(x.span.EndTimestamp(), y.span.EndTimestamp()), cmp.Compare(rooted(x), rooted(y)),
			cmp.Compare(x.span.StartTimestamp(), y.span.StartTimestamp()))
	})
	normal = append(normal, resent...)
	if random != nil {
		random.Shuffle(len(normal), func(i, j int) { normal[i], normal[j] = normal[j], normal[i] })
	}
	n := max(1, min(split, len(normal)))
	var out []ptrace.Traces
	for i := range n {
		out = append(out, request(normal[len(normal)*i/n:len(normal)*(i+1)/n]))
	}
	if len(late) > 0 {
		out = append(out, request(late))
	}
	return out
}

func rooted(s caseSpan) int {
	if s.span.ParentSpanID().IsEmpty() {
		return 1
	}
	return 0
}

func request(spans []caseSpan) ptrace.Traces {
	td := ptrace.NewTraces()
	type group struct{ service, worker string }
	groups := map[group]ptrace.SpanSlice{}
	for _, s := range spans {
		g := group{s.service, s.worker}
		list, ok := groups[g]
		if !ok {
			rs := td.ResourceSpans().AppendEmpty()
			put(rs.Resource().Attributes(), "service.name", g.service)
			put(rs.Resource().Attributes(), "service.instance.id", g.worker)
			ss := rs.ScopeSpans().AppendEmpty()
			ss.Scope().SetName("steptrail-cases")
			list = ss.Spans()
			groups[g] = list
		}
		s.span.CopyTo(list.AppendEmpty())
	}
	return td
}
