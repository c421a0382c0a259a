package assemble

import (
	"unsafe"

	"github.com/steptrail/steptrail/internal/agent"
)

// maskBytes is room for a bit for each field of a step.
const maskBytes = 14

// step packs a step, or unpacks the next one; s is only read. What it gives is the
// state of the step's family: the fields that are kept, until the next step. A test
// fills every field of a step to see that none is forgotten.
func (p *packer) step(s *agent.Step) *agent.Step {
	var op agent.Op
	if !p.read {
		op = s.Op
	}
	op = agent.Op(p.uint(uint64(op)))
	at := p.of(op)
	if p.read {
		s = at
	}
	p.begin()
	p.identity(s, at)
	p.statement(s, at)
	if p.differs(!sameBytes(&s.Call, &at.Call)) {
		p.call(&s.Call, &at.Call)
	}
	if p.differs(!sameBytes(&s.Model, &at.Model)) {
		p.model(&s.Model, &at.Model)
	}
	p.rest(s, at)
	return at
}

// of gives the state of a family. The first step of one is packed against the last
// step of any.
func (p *packer) of(op agent.Op) *agent.Step {
	f := familyOf(op)
	switch at := p.state[f]; {
	case p.begun[f]:
	case p.alone: // a run begins with its agent's span, which mostly is the only other
		p.state[f], p.state[others] = p.state[others], at
		p.begun[others] = false
	case p.newest == nil && at == nil:
		p.state[f] = new(agent.Step)
	case p.newest != nil:
		if at == nil {
			at = new(agent.Step)
			p.state[f] = at
		}
		*at = *p.newest
		at.Call, at.Model = agent.Call{}, agent.Model{}
	}
	at := p.state[f]
	p.alone = p.newest == nil && f == others
	p.begun[f], p.newest, at.Op = true, at, op
	return at
}

const (
	// families is how many kinds of steps are each packed against the last one of
	// their kind: model calls, tool calls, others.
	families = 3
	// others is the family of steps that are neither.
	others = 2
)

func familyOf(op agent.Op) int {
	switch op {
	case agent.OpModel:
		return 0
	case agent.OpTool:
		return 1
	default:
		return others
	}
}

// sameBytes reports whether two values are the same in memory: then they are
// equal. It saves a look at each field where both are empty.
func sameBytes[T any](x, y *T) bool {
	n := unsafe.Sizeof(*x)
	return unsafe.String((*byte)(unsafe.Pointer(x)), n) == unsafe.String((*byte)(unsafe.Pointer(y)), n) //nolint:gosec // both are read only, within their size
}

// sameFields is sameBytes for the fields between two offsets.
func sameFields(x, y *agent.Step, from, to uintptr) bool {
	return unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(x), from)), to-from) == unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(y), from)), to-from) //nolint:gosec // both are read only, within their size
}

func (p *packer) identity(s, at *agent.Step) {
	p.str(&s.Tenant, &at.Tenant)
	p.str(&s.Unit, &at.Unit)
	p.bytes(s.Trace[:], at.Trace[:])
	p.bytes(s.Span[:], at.Span[:])
	p.bytes(s.Parent[:], at.Parent[:])
	p.str(&s.SpanKind, &at.SpanKind)
	p.str(&s.Scope, &at.Scope)
	p.str(&s.Dialect, &at.Dialect)
	p.str(&s.Service, &at.Service)
	p.str(&s.Instance, &at.Instance)
	num(p, &s.Start, &at.Start)
	// Most spans are short: the end is told against the start.
	took, none := s.End-s.Start, int64(0)
	num(p, &took, &none)
	at.End = at.Start + none
	num(p, &s.Received, &at.Received)
	num(p, &s.Expires, &at.Expires)
	num(p, &s.ContentExpires, &at.ContentExpires)
}

func (p *packer) statement(s, at *agent.Step) {
	p.str(&s.RunID, &at.RunID)
	p.str(&s.DialectRun, &at.DialectRun)
	p.flag(&s.DialectRunWeak, &at.DialectRunWeak)
	if p.differs(!sameFields(s, at, unsafe.Offsetof(s.ParentRun), unsafe.Offsetof(s.Agent))) {
		p.about(s, at)
	}
	p.str(&s.Agent, &at.Agent)
	p.str(&s.AgentID, &at.AgentID)
	p.str(&s.AgentVersion, &at.AgentVersion)
	num(p, &s.Kind, &at.Kind)
	num(p, &s.KindSource, &at.KindSource)
	if p.differs(!sameFields(s, at, unsafe.Offsetof(s.StepID), unsafe.Offsetof(s.Call))) {
		p.str(&s.StepID, &at.StepID)
		p.str(&s.DialectStep, &at.DialectStep)
		p.str(&s.Checkpoint, &at.Checkpoint)
		num(p, &s.Index, &at.Index)
		num(p, &s.Attempt, &at.Attempt)
	}
}

func (p *packer) about(s, at *agent.Step) {
	p.str(&s.ParentRun, &at.ParentRun)
	p.str(&s.Session, &at.Session)
	p.str(&s.User, &at.User)
	p.str(&s.TaskType, &at.TaskType)
	p.str(&s.Scenario, &at.Scenario)
	num(p, &s.RunOutcome, &at.RunOutcome)
	p.str(&s.Escalation, &at.Escalation)
}

func (p *packer) call(c, at *agent.Call) {
	p.str(&c.Tool, &at.Tool)
	p.str(&c.ID, &at.ID)
	p.str(&c.ToolType, &at.ToolType)
	num(p, &c.Effect, &at.Effect)
	p.str(&c.Target, &at.Target)
	p.str(&c.Key, &at.Key)
	num(p, &c.Gate, &at.Gate)
	p.content(&c.Arguments, &at.Arguments)
	p.content(&c.Result, &at.Result)
	p.bytes(c.ArgumentsSent[:], at.ArgumentsSent[:])
	p.bytes(c.ResultSent[:], at.ResultSent[:])
	p.flag(&c.OutputFunction, &at.OutputFunction)
	num(p, &c.OnUnknown, &at.OnUnknown)
	p.strs(&c.ReconcileWith, &at.ReconcileWith)
	p.flag(&c.Repeatable, &at.Repeatable)
	p.flag(&c.Approval, &at.Approval)
	p.flag(&c.Forbidden, &at.Forbidden)
}

func (p *packer) content(c, at *agent.Content) {
	num(p, &c.State, &at.State)
	p.bytes(c.Digest[:], at.Digest[:])
	p.bytes(c.Ref[:], at.Ref[:])
	num(p, &c.Size, &at.Size)
}

func (p *packer) model(m, at *agent.Model) {
	p.str(&m.Provider, &at.Provider)
	p.str(&m.Requested, &at.Requested)
	p.str(&m.Served, &at.Served)
	p.str(&m.ResponseID, &at.ResponseID)
	p.str(&m.PromptName, &at.PromptName)
	p.str(&m.PromptVersion, &at.PromptVersion)
	p.str(&m.FinishReason, &at.FinishReason)
	float(p, &m.Params.Temperature, &at.Params.Temperature)
	float(p, &m.Params.TopP, &at.Params.TopP)
	integer(p, &m.Params.MaxTokens, &at.Params.MaxTokens)
	integer(p, &m.Params.Seed, &at.Params.Seed)
	p.flag(&m.Tokens.Known, &at.Tokens.Known)
	num(p, &m.Tokens.Input, &at.Tokens.Input)
	num(p, &m.Tokens.Output, &at.Tokens.Output)
	num(p, &m.Tokens.CacheRead, &at.Tokens.CacheRead)
	num(p, &m.Tokens.CacheWrite, &at.Tokens.CacheWrite)
	num(p, &m.Tokens.Reasoning, &at.Tokens.Reasoning)
	num(p, &m.CostNano, &at.CostNano)
	num(p, &m.CostSource, &at.CostSource)
	p.context(&m.Context, &at.Context)
	p.bytes(m.ContextHash[:], at.ContextHash[:])
	p.str(&m.ContextURI, &at.ContextURI)
	p.bytes(m.Input[:], at.Input[:])
	p.bytes(m.Output[:], at.Output[:])
	p.refs(&m.Outputs, &at.Outputs)
}

func (p *packer) rest(s, at *agent.Step) {
	if p.differs(!sameFields(s, at, unsafe.Offsetof(s.Outcome), unsafe.Offsetof(s.Facts))) {
		p.ending(s, at)
	}
	p.str(&s.Facts, &at.Facts)
	p.flag(&s.Erased, &at.Erased)
	p.str(&s.PolicyHash, &at.PolicyHash)
	num(p, &s.Redacted, &at.Redacted)
	num(p, &s.Dropped, &at.Dropped)
}

func (p *packer) ending(s, at *agent.Step) {
	num(p, &s.Outcome, &at.Outcome)
	num(p, &s.Sign, &at.Sign)
	p.str(&s.ErrorType, &at.ErrorType)
	p.str(&s.ErrorText, &at.ErrorText)
	num(p, &s.StatusCode, &at.StatusCode)
	p.str(&s.Reconciles, &at.Reconciles)
	num(p, &s.ReconcileResult, &at.ReconcileResult)
	num(p, &s.Decision, &at.Decision)
	p.str(&s.Actor, &at.Actor)
	p.str(&s.Reason, &at.Reason)
	p.str(&s.HandoffTo, &at.HandoffTo)
	p.str(&s.HTTP.Method, &at.HTTP.Method)
	p.str(&s.HTTP.URL, &at.HTTP.URL)
	p.str(&s.HTTP.Key, &at.HTTP.Key)
	p.links(&s.Links, &at.Links)
	p.strs(&s.Rules, &at.Rules)
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
