package agentstepprocessor

import (
	"time"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
	"github.com/steptrail/steptrail/internal/dialect"
	"github.com/steptrail/steptrail/internal/policy"
)

// maxAgentName is how many bytes of a name that stands in arguments are kept.
const maxAgentName = 1 << 10

// decider fills in a step what the policy says of it. It is pure: the time of
// receipt is an argument.
type decider struct {
	policy *policy.Policy
	buf    []byte

	// Of the current step: a template of the policy made its target or key.
	madeTarget, madeKey bool
}

// verdict is what deciding one step came upon, for the counters.
type verdict struct {
	conflict      bool // policy and span disagree about the kind
	clampedPast   bool // the span's start is too old to take its terms from
	clampedFuture bool // it lies in the future
	expired       bool // it had expired when it came
}

// decide completes a record that was read and analyzed. arguments are the tool
// call's arguments, pseudonymised; templates are filled from them.
func (d *decider) decide(rec *canon.Record, arguments string, received int64) verdict {
	s := &rec.Step
	var v verdict
	tool := d.tool(s)
	v.conflict = d.kind(rec, tool)
	if s.Op == agent.OpHandoff && s.HandoffTo == "" {
		s.HandoffTo = canon.Cut(dialect.HandoffTo(arguments), maxAgentName)
		rec.Stated().HandoffTo = s.HandoffTo
	}
	d.flags(s, tool)
	d.madeTarget, d.madeKey = false, false
	if tool != nil {
		if s.Call.Target == "" {
			s.Call.Target = d.expand(tool.Target, arguments)
			d.madeTarget = s.Call.Target != ""
		}
		if s.Call.Key == "" {
			s.Call.Key = d.expand(tool.Key, arguments)
			d.madeKey = s.Call.Key != ""
		}
	}
	d.cost(s)
	s.Sign = sign(rec, s.Call.Repeatable)
	s.Received = received
	s.PolicyHash = d.policy.Hash()
	t := d.terms(s)
	v.clampedPast, v.clampedFuture, v.expired = t.Past, t.Future, t.Row <= received/int64(time.Second)
	return v
}

// tool is the policy's rule for what the span ran. The names of models, agents
// and workflows are none of its business.
func (d *decider) tool(s *agent.Step) *policy.Tool {
	switch s.Op {
	case agent.OpTool, agent.OpGate, agent.OpRetrieval, agent.OpHuman, agent.OpHandoff:
		return d.policy.Tool(s.Call.Tool)
	default:
		return nil
	}
}

// kind says what the step does and who said so: policy, the span, its dialect,
// evidence on it. Where nothing tells it stays unset: other spans may tell, else
// the step is taken for an act. It reports whether policy and span disagree.
func (d *decider) kind(rec *canon.Record, tool *policy.Tool) bool {
	s, st := &rec.Step, rec.Stated()
	stated := rec.StatedKind
	if stated == agent.KindUnset && (s.Op == agent.OpTool || s.Op == agent.OpGate) {
		switch s.Call.Effect {
		case agent.EffectUnset:
		case agent.EffectReadOnly:
			stated = agent.KindRead
		default:
			stated = agent.KindAct
		}
	}
	if tool != nil && tool.Class != policy.ClassUnset {
		s.Kind, s.KindSource = kindOf(tool.Class), agent.KindSourcePolicy
		if tool.Class == policy.ClassHandoff {
			s.Op, st.Op = agent.OpHandoff, agent.OpHandoff
		}
		return stated != agent.KindUnset && stated != s.Kind
	}
	switch {
	case stated != agent.KindUnset:
		s.Kind, s.KindSource = stated, agent.KindSourceReported
	default:
		s.Kind, s.KindSource = st.Kind, st.KindSource
	}
	return false
}

// classify says what the policy makes of a tool that a model asked for.
func (d *decider) classify(tool string) (agent.Kind, agent.KindSource) {
	t := d.policy.Tool(tool)
	if t == nil || t.Class == policy.ClassUnset {
		return agent.KindUnset, agent.KindSourceUnset
	}
	return kindOf(t.Class), agent.KindSourcePolicy
}

func kindOf(c policy.Class) agent.Kind {
	switch c {
	case policy.ClassRead:
		return agent.KindRead
	case policy.ClassAct:
		return agent.KindAct
	case policy.ClassThink:
		return agent.KindThink
	case policy.ClassReconcile:
		return agent.KindReconcile
	case policy.ClassHuman:
		return agent.KindHuman
	case policy.ClassOther, policy.ClassHandoff:
		return agent.KindOther
	default:
		return agent.KindUnset
	}
}

func (d *decider) flags(s *agent.Step, tool *policy.Tool) {
	if tool == nil {
		return
	}
	c := &s.Call
	switch tool.OnUnknown {
	case policy.OnUnknownReconcile:
		c.OnUnknown = agent.OnUnknownReconcile
	case policy.OnUnknownReplay:
		c.OnUnknown = agent.OnUnknownReplay
	case policy.OnUnknownEscalate:
		c.OnUnknown = agent.OnUnknownEscalate
	}
	c.ReconcileWith = append(c.ReconcileWith[:0], tool.ReconcileWith...)
	c.Repeatable, c.Approval, c.Forbidden = tool.Repeatable, tool.ApprovalRequired, tool.Forbidden
}

func (d *decider) expand(t *policy.Template, arguments string) string {
	if t == nil || arguments == "" {
		return ""
	}
	var ok bool
	d.buf, ok = t.Expand(d.buf[:0], func(path []string) (string, bool) { return cjson.Lookup(arguments, path...) })
	if !ok {
		return ""
	}
	return string(d.buf)
}

// cost computes what a model call cost, where the sender does not say.
func (d *decider) cost(s *agent.Step) {
	m := &s.Model
	if s.Op != agent.OpModel || m.CostSource != agent.CostSourceUnset || !m.Tokens.Known {
		return
	}
	price := d.policy.Price(m.Served)
	if price == nil {
		price = d.policy.Price(m.Requested)
	}
	if price == nil {
		return
	}
	m.CostNano = min(price.Cost(m.Tokens.Input, m.Tokens.CacheRead, m.Tokens.Output), agent.MaxCostNano)
	m.CostSource = agent.CostSourceComputed
}

// sign is what the span itself shows of the outcome.
func sign(rec *canon.Record, exitCodes bool) agent.Sign {
	s := &rec.Step
	if s.Op == agent.OpNone || s.Op == agent.OpGate {
		return agent.SignNone
	}
	ev := rec.Evidence()
	ev.Error.ExitCodes, ev.Result.ExitCodes = exitCodes, exitCodes
	ev.Result.Read = s.Kind == agent.KindRead
	return agent.JudgeSpan(ev)
}

// terms sets when the row and its bodies expire.
func (d *decider) terms(s *agent.Step) policy.Terms {
	t := d.policy.Terms(s)
	s.Expires, s.ContentExpires = t.Row, t.Content
	return t
}

// logTerms sets when the messages of a log record expire: as those of a model
// call.
func (d *decider) logTerms(s *agent.Step) {
	kind := s.Kind
	s.Kind = agent.KindThink
	d.terms(s)
	s.Kind = kind
}
