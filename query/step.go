package query

import (
	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/query/api"
)

// content is how much of the content an answer shows.
type content uint8

const (
	contentNone content = iota // nothing that tells what was said
	contentRefs                // references to what was said
	contentFull                // what was said
)

func parseContent(s string) (content, bool) {
	switch s {
	case "none":
		return contentNone, true
	case "refs":
		return contentRefs, true
	case "full":
		return contentFull, true
	default:
		return contentNone, false
	}
}

// stepBuilder turns steps and spans into objects, with what the answer shows of
// content. With contentFull it must be asked in the order of its window's plan.
type stepBuilder struct {
	content  content
	bodies   *window                  // with contentFull
	logs     map[spanKey]spanMessages // content that came as log records
	findings map[string][]string      // ids by step
}

type spanKey struct {
	trace agent.TraceID
	span  agent.SpanID
}

// spanMessages are the messages of a span, in order.
type spanMessages struct{ input, output []agent.Ref }

// head gives the step without its attempts.
func (b *stepBuilder) head(s *agent.RunStep) *api.Step {
	return &api.Step{
		StepID: s.ID, Kind: api.StepKind(or(s.Kind.String(), "other")), KindSource: api.StepKindSource(or(s.Source.String(), "default")),
		Declared: s.Declared, Lane: s.Lane, LaneName: s.LaneName, Agent: s.Agent, Tool: s.Tool, Target: s.Target,
		Findings: list(b.findings[s.ID]),
	}
}

func (b *stepBuilder) attempt(a *agent.Attempt) api.Attempt {
	out := api.Attempt{
		Number: int(a.Number), NumberSource: api.AttemptNumberSource(or(a.Source.String(), "order")),
		TraceID: a.Trace.String(), SpanID: a.Span.String(), Part: int(a.Part), NoSpan: a.NoSpan, Seen: a.Seen,
		StartedAt: api.Timestamp(a.Start), EndedAt: api.Timestamp(a.End), DurationMs: millis(a.Start, a.End),
		Outcome: api.AttemptOutcome(a.Outcome.String()), Executed: a.Executed, Gate: api.AttemptGate(a.Gate.String()),
		Key: a.Key, CallID: a.CallID, Tool: a.Tool, Target: a.Target,
		ErrorType: a.ErrorType, Error: a.ErrorText, StatusCode: int(a.StatusCode), Requests: a.Requests,
		Tokens: tokensOf(a.Tokens), CostUSD: moneyOf(a.CostNano, a.CostSource), CostSource: api.CostSource(a.CostSource.String()),
		Arguments: b.body(a.Arguments), Result: b.body(a.Result), Settles: settles(a.Spans), Spans: make([]api.Span, 0, len(a.Spans)),
	}
	if !a.NoSpan { // a call without a span stands under the model call that asked for it, whose facts are not its own
		out.Model = model(a.Spans)
		if out.Model != nil {
			out.Context, out.Output = b.messages(a.Spans)
		}
	}
	for _, s := range a.Spans {
		out.HandoffTo = or(out.HandoffTo, s.HandoffTo)
		if !a.NoSpan {
			out.Spans = append(out.Spans, b.span(s))
		}
	}
	return out
}

// body says what is recorded of an argument or a result.
func (b *stepBuilder) body(c agent.Content) api.Content {
	out := api.Content{Size: c.Size, Recorded: api.ContentRecordedNo}
	switch c.State {
	case agent.RecordedYes:
		out.Recorded = api.ContentRecordedYes
	case agent.RecordedOpaque:
		out.Recorded = api.ContentRecordedOpaque
	case agent.RecordedNot:
	}
	if b.content == contentNone || c.Ref.IsZero() {
		return out
	}
	out.Ref = c.Ref.String()
	if b.content == contentFull {
		out.Body, out.Unavailable = b.text(c.Ref)
	}
	return out
}

func (b *stepBuilder) text(ref agent.Ref) (body api.RawJSON, unavailable bool) {
	text, ok := b.bodies.body(ref)
	if !ok {
		return nil, true
	}
	return api.NewJSON(text), false
}

// err is what kept bodies from being read.
func (b *stepBuilder) err() error {
	if b.bodies == nil {
		return nil
	}
	return b.bodies.err
}

// modelSpan is the attempt's span that states most of a model call: several
// libraries may each have made one.
func modelSpan(spans []*agent.Step, has func(*agent.Model) bool) *agent.Step {
	for _, s := range spans {
		if s.Op == agent.OpModel && has(&s.Model) {
			return s
		}
	}
	return nil
}

// model gives nil where the attempt is no model call. What one span leaves out
// the next one may state.
func model(spans []*agent.Step) *api.Model {
	if modelSpan(spans, func(*agent.Model) bool { return true }) == nil {
		return nil
	}
	out := &api.Model{}
	for _, s := range spans {
		m := &s.Model
		out.Provider, out.Requested, out.Served = or(out.Provider, m.Provider), or(out.Requested, m.Requested), or(out.Served, m.Served)
		out.ResponseID, out.FinishReason = or(out.ResponseID, m.ResponseID), or(out.FinishReason, m.FinishReason)
		out.PromptName, out.PromptVersion = or(out.PromptName, m.PromptName), or(out.PromptVersion, m.PromptVersion)
		p := &out.Params
		p.Temperature, p.TopP = first(p.Temperature, finite(m.Params.Temperature)), first(p.TopP, finite(m.Params.TopP))
		p.MaxTokens, p.Seed = first(p.MaxTokens, m.Params.MaxTokens), first(p.Seed, m.Params.Seed)
	}
	return out
}

func first[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

// messages names what the model saw and what it answered.
func (b *stepBuilder) messages(spans []*agent.Step) (*api.Context, []string) {
	if b.content == contentNone {
		return nil, nil
	}
	said := b.refs(spans)
	out := &api.Context{Messages: texts(said.input)}
	if s := modelSpan(spans, func(m *agent.Model) bool { return !m.ContextHash.IsZero() || m.ContextURI != "" }); s != nil {
		out.URI = s.Model.ContextURI
		if !s.Model.ContextHash.IsZero() {
			out.Hash = "sha256:" + s.Model.ContextHash.String()
		}
	}
	return out, texts(said.output)
}

// refs gives the messages of the first span that has some, else those that came
// as log records.
func (b *stepBuilder) refs(spans []*agent.Step) (out spanMessages) {
	if s := modelSpan(spans, func(m *agent.Model) bool { return len(m.Context) > 0 }); s != nil {
		out.input = s.Model.Context
	}
	if s := modelSpan(spans, func(m *agent.Model) bool { return len(m.Outputs) > 0 }); s != nil {
		out.output = s.Model.Outputs
	}
	for _, s := range spans {
		out = b.orLogged(out, s)
	}
	return out
}

// spanRefs gives the messages of a span that is no attempt.
func (b *stepBuilder) spanRefs(s *agent.Step) spanMessages {
	return b.orLogged(spanMessages{s.Model.Context, s.Model.Outputs}, s)
}

func (b *stepBuilder) orLogged(m spanMessages, s *agent.Step) spanMessages {
	logged := b.logs[spanKey{s.Trace, s.Span}]
	if len(m.input) == 0 {
		m.input = logged.input
	}
	if len(m.output) == 0 {
		m.output = logged.output
	}
	return m
}

// settles gives nil where no span of the attempt states a decision or a look.
func settles(spans []*agent.Step) *api.Settles {
	var out api.Settles
	for _, s := range spans {
		out.Reconciles, out.Actor, out.Reason = or(out.Reconciles, s.Reconciles), or(out.Actor, s.Actor), or(out.Reason, s.Reason)
		out.Result = api.SettlesResult(or(string(out.Result), s.ReconcileResult.String()))
		out.Decision = api.SettlesDecision(or(string(out.Decision), s.Decision.String()))
	}
	if out == (api.Settles{}) {
		return nil
	}
	return &out
}

// span gives what one span states. Attributes, events and resource may say
// anything, so that they count as content.
func (b *stepBuilder) span(s *agent.Step) api.Span {
	out := api.Span{
		TraceID: s.Trace.String(), SpanID: s.Span.String(), Unit: s.Unit, Name: s.Name, SpanKind: s.SpanKind, Op: s.Op.String(),
		Scope: s.Scope, Dialect: s.Dialect, Service: s.Service, Instance: s.Instance, Agent: s.Agent,
		StartedAt: api.Timestamp(s.Start), EndedAt: api.Timestamp(s.End), DurationMs: millis(s.Start, s.End),
		ErrorType: s.ErrorType, Error: s.ErrorText, StatusCode: int(s.StatusCode), HTTPMethod: s.HTTP.Method, HTTPURL: s.HTTP.URL,
		Rules: s.Rules, Redacted: int(s.Redacted), Dropped: int(s.Dropped),
	}
	if !s.Parent.IsZero() {
		out.ParentSpanID = s.Parent.String()
	}
	if s.Received != 0 {
		t := api.Timestamp(s.Received)
		out.ReceivedAt = &t
	}
	for _, l := range s.Links {
		out.Links = append(out.Links, api.SpanLink{TraceID: l.Trace.String(), SpanID: l.Span.String()})
	}
	if b.content == contentFull {
		out.Attributes, out.Resource = attributes(s.Attributes), attributes(s.Resource)
		for i := range s.Events {
			e := &s.Events[i]
			out.Events = append(out.Events, api.SpanEvent{Time: api.Timestamp(e.Time), Name: e.Name, Attributes: attributes(e.Attributes)})
		}
	}
	return out
}

// other gives what a span that is no attempt states, with what went into it and
// what came out: of an attempt, the attempt itself has that.
func (b *stepBuilder) other(s *agent.Step) api.Span {
	out := b.span(s)
	if b.content != contentNone {
		said := b.spanRefs(s)
		out.Context, out.Output = texts(said.input), texts(said.output)
	}
	for _, c := range []struct {
		to   **api.Content
		from agent.Content
	}{{&out.Arguments, s.Call.Arguments}, {&out.Result, s.Call.Result}} {
		if c.from.State != agent.RecordedNot {
			body := b.body(c.from)
			*c.to = &body
		}
	}
	return out
}

func attributes(attrs []agent.Attr) api.Attributes {
	if len(attrs) == 0 {
		return nil
	}
	out := make(api.Attributes, len(attrs))
	for _, a := range attrs {
		if a.JSON {
			out[a.Key] = api.NewJSON(a.Value)
		} else {
			out[a.Key] = api.StringJSON(a.Value)
		}
	}
	return out
}
