package assemble

import (
	"unsafe"

	"github.com/steptrail/steptrail/internal/agent"
)

// maskBytes is room for a bit for each field of a step.
const maskBytes = 14

// step packs or unpacks the fields that clone keeps. A test fills every field of
// a step to see that none is forgotten.
func (p *packer) step(s *agent.Step) {
	s.Op = agent.Op(p.uint(uint64(s.Op)))
	before := p.before[familyOf(s.Op)]
	if before == nil {
		before = &noStep
	}
	p.begin()
	p.identity(s, before)
	p.statement(s, before)
	if p.differs(!sameBytes(&s.Call, &before.Call)) {
		p.call(&s.Call, &before.Call)
	} else {
		s.Call = before.Call
	}
	if p.differs(len(s.Model.Context) > 0 || !sameBytes(&s.Model, &before.Model)) {
		p.model(&s.Model, &before.Model)
	} else {
		s.Model = before.Model
		s.Model.Context = nil
	}
	p.rest(s, before)
}

var noStep agent.Step

// families is how many kinds of steps are each packed against the one before of
// their kind: model calls, tool calls, others.
const families = 3

func familyOf(op agent.Op) int {
	switch op {
	case agent.OpModel:
		return 0
	case agent.OpTool:
		return 1
	default:
		return 2
	}
}

// sameBytes reports whether two values are the same in memory: then they are
// equal. It saves a look at each field where both are empty.
func sameBytes[T any](x, y *T) bool {
	n := unsafe.Sizeof(*x)
	return unsafe.String((*byte)(unsafe.Pointer(x)), n) == unsafe.String((*byte)(unsafe.Pointer(y)), n) //nolint:gosec // both are read only, within their size
}

func (p *packer) identity(s, before *agent.Step) {
	p.str(&s.Tenant, &before.Tenant)
	p.str(&s.Unit, &before.Unit)
	p.bytes(s.Trace[:], before.Trace[:])
	p.bytes(s.Span[:], before.Span[:])
	p.bytes(s.Parent[:], before.Parent[:])
	p.str(&s.SpanKind, &before.SpanKind)
	p.str(&s.Scope, &before.Scope)
	p.str(&s.Dialect, &before.Dialect)
	p.str(&s.Service, &before.Service)
	p.str(&s.Instance, &before.Instance)
	num(p, &s.Start, &before.Start)
	// Most spans are short: the end is told against the start.
	end, start := s.End-s.Start, int64(0)
	num(p, &end, &start)
	s.End = s.Start + end
	num(p, &s.Received, &before.Received)
	num(p, &s.Expires, &before.Expires)
	num(p, &s.ContentExpires, &before.ContentExpires)
}

func (p *packer) statement(s, before *agent.Step) {
	p.str(&s.RunID, &before.RunID)
	p.str(&s.DialectRun, &before.DialectRun)
	p.flag(&s.DialectRunWeak, &before.DialectRunWeak)
	p.str(&s.ParentRun, &before.ParentRun)
	p.str(&s.Session, &before.Session)
	p.str(&s.User, &before.User)
	p.str(&s.TaskType, &before.TaskType)
	p.str(&s.Scenario, &before.Scenario)
	num(p, &s.RunOutcome, &before.RunOutcome)
	p.str(&s.Escalation, &before.Escalation)
	p.str(&s.Agent, &before.Agent)
	p.str(&s.AgentID, &before.AgentID)
	p.str(&s.AgentVersion, &before.AgentVersion)
	num(p, &s.Kind, &before.Kind)
	num(p, &s.KindSource, &before.KindSource)
	p.str(&s.StepID, &before.StepID)
	p.str(&s.DialectStep, &before.DialectStep)
	p.str(&s.Checkpoint, &before.Checkpoint)
	num(p, &s.Index, &before.Index)
	num(p, &s.Attempt, &before.Attempt)
}

func (p *packer) call(c, before *agent.Call) {
	p.str(&c.Tool, &before.Tool)
	p.str(&c.ID, &before.ID)
	p.str(&c.ToolType, &before.ToolType)
	num(p, &c.Effect, &before.Effect)
	p.str(&c.Target, &before.Target)
	p.str(&c.Key, &before.Key)
	num(p, &c.Gate, &before.Gate)
	p.content(&c.Arguments, &before.Arguments)
	p.content(&c.Result, &before.Result)
	p.bytes(c.ArgumentsSent[:], before.ArgumentsSent[:])
	p.bytes(c.ResultSent[:], before.ResultSent[:])
	p.flag(&c.OutputFunction, &before.OutputFunction)
	num(p, &c.OnUnknown, &before.OnUnknown)
	p.strs(&c.ReconcileWith, &before.ReconcileWith)
	p.flag(&c.Repeatable, &before.Repeatable)
	p.flag(&c.Approval, &before.Approval)
	p.flag(&c.Forbidden, &before.Forbidden)
}

func (p *packer) content(c, before *agent.Content) {
	num(p, &c.State, &before.State)
	p.bytes(c.Digest[:], before.Digest[:])
	p.bytes(c.Ref[:], before.Ref[:])
	num(p, &c.Size, &before.Size)
}

func (p *packer) model(m, before *agent.Model) {
	p.str(&m.Provider, &before.Provider)
	p.str(&m.Requested, &before.Requested)
	p.str(&m.Served, &before.Served)
	p.str(&m.ResponseID, &before.ResponseID)
	p.str(&m.PromptName, &before.PromptName)
	p.str(&m.PromptVersion, &before.PromptVersion)
	p.str(&m.FinishReason, &before.FinishReason)
	float(p, &m.Params.Temperature, &before.Params.Temperature)
	float(p, &m.Params.TopP, &before.Params.TopP)
	integer(p, &m.Params.MaxTokens, &before.Params.MaxTokens)
	integer(p, &m.Params.Seed, &before.Params.Seed)
	p.flag(&m.Tokens.Known, &before.Tokens.Known)
	num(p, &m.Tokens.Input, &before.Tokens.Input)
	num(p, &m.Tokens.Output, &before.Tokens.Output)
	num(p, &m.Tokens.CacheRead, &before.Tokens.CacheRead)
	num(p, &m.Tokens.CacheWrite, &before.Tokens.CacheWrite)
	num(p, &m.Tokens.Reasoning, &before.Tokens.Reasoning)
	num(p, &m.CostNano, &before.CostNano)
	num(p, &m.CostSource, &before.CostSource)
	p.context(&m.Context)
	p.bytes(m.ContextHash[:], before.ContextHash[:])
	p.str(&m.ContextURI, &before.ContextURI)
	p.bytes(m.Input[:], before.Input[:])
	p.bytes(m.Output[:], before.Output[:])
	p.refs(&m.Outputs, &before.Outputs)
}

func (p *packer) rest(s, before *agent.Step) {
	num(p, &s.Outcome, &before.Outcome)
	num(p, &s.Sign, &before.Sign)
	p.str(&s.ErrorType, &before.ErrorType)
	p.str(&s.ErrorText, &before.ErrorText)
	num(p, &s.StatusCode, &before.StatusCode)
	p.str(&s.Reconciles, &before.Reconciles)
	num(p, &s.ReconcileResult, &before.ReconcileResult)
	num(p, &s.Decision, &before.Decision)
	p.str(&s.Actor, &before.Actor)
	p.str(&s.Reason, &before.Reason)
	p.str(&s.HandoffTo, &before.HandoffTo)
	p.str(&s.HTTP.Method, &before.HTTP.Method)
	p.str(&s.HTTP.URL, &before.HTTP.URL)
	p.str(&s.HTTP.Key, &before.HTTP.Key)
	p.links(&s.Links, &before.Links)
	p.strs(&s.Rules, &before.Rules)
	p.str(&s.Facts, &before.Facts)
	p.flag(&s.Erased, &before.Erased)
	p.str(&s.PolicyHash, &before.PolicyHash)
	num(p, &s.Redacted, &before.Redacted)
	num(p, &s.Dropped, &before.Dropped)
}

// facts packs or unpacks what is known of a message.
func (p *packer) facts(f *agent.MessageFacts) {
	p.raw(f.Ref[:])
	f.Role = agent.Role(p.uint(uint64(f.Role)))
	f.UserText = p.uint(boolNumber(f.UserText)) != 0
	f.Erased = p.uint(boolNumber(f.Erased)) != 0
	p.digest(&f.Text)
	if n := p.count(len(f.Calls)); p.read && n > 0 {
		f.Calls = make([]agent.RequestedCall, n)
	}
	for i := range f.Calls {
		c := &f.Calls[i]
		c.ID, c.Tool = p.text(c.ID), p.text(c.Tool)
		p.answer(&c.Arguments)
		c.Kind = agent.Kind(p.uint(uint64(c.Kind)))
		c.KindSource = agent.KindSource(p.uint(uint64(c.KindSource)))
		c.OutputFunction = p.uint(boolNumber(c.OutputFunction)) != 0
	}
	if n := p.count(len(f.Answers)); p.read && n > 0 {
		f.Answers = make([]agent.CallAnswer, n)
	}
	for i := range f.Answers {
		a := &f.Answers[i]
		a.ID, a.Tool = p.text(a.ID), p.text(a.Tool)
		p.answer(&a.Result)
		a.Sign = agent.Sign(p.uint(uint64(a.Sign)))
	}
}

// answer packs the content of a call or an answer.
func (p *packer) answer(c *agent.Content) {
	c.State = agent.Recorded(p.uint(uint64(c.State)))
	p.digest(&c.Digest)
	ref := agent.Digest(c.Ref)
	p.digest(&ref)
	c.Ref = agent.Ref(ref)
	c.Size = p.int(c.Size)
}

// digest takes one byte where there is none.
func (p *packer) digest(d *agent.Digest) {
	if p.uint(boolNumber(!d.IsZero())) != 0 {
		p.raw(d[:])
	}
}
