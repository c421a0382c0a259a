package assemble

import (
	"github.com/steptrail/steptrail/internal/agent"
)

// step looks at a span that is a step, and no model call.
func (w *watch) step(s *agent.Step) {
	kind := kindOf(s)
	if s.Op == agent.OpHandoff || s.HandoffTo != "" || agent.IsHandoffName(s.Call.Tool) {
		w.handoff()
	}
	switch kind {
	case agent.KindHuman, agent.KindOther:
		w.identity(s, kind.String())
		if !isClean(s) {
			w.fail()
		}
		return
	case agent.KindThink: // a call that says it is a model's
		w.flag()
		return
	}
	family := "tool"
	if kind == agent.KindReconcile {
		family = kind.String()
	}
	if s.Op == agent.OpGate {
		w.gate(s)
	} else {
		w.identity(s, family)
		w.besideGate(s)
	}
	if s.Call.Gate != agent.GateUnset && s.Call.Gate != agent.GateNew {
		w.flag()
	}
	acts := kind == agent.KindAct || kind == agent.KindUnset
	if !acts && s.Call.ID != "" {
		w.seen.mark(traitCallID.text(s.Call.ID), markRead)
	}
	t := w.tool(s.Call.Tool)
	if t == nil || s.Op == agent.OpTool && s.Call.Tool == "" {
		w.flag()
		return
	}
	w.called(t)
	w.ran(s, t, acts)
	w.arguments(s, t, acts)
	w.ended(s, acts)
	if acts {
		w.unkeyed(s)
	}
}

// earlier gives the earlier of two times; 0 is none.
func earlier(x, y int64) int64 {
	if x == 0 || y != 0 && y < x {
		return y
	}
	return x
}

// kindOf is what a step does, as far as its span tells; unset where other spans
// may tell: then it may be an act.
func kindOf(s *agent.Step) agent.Kind {
	told := s.Kind != agent.KindUnset && (s.KindSource == agent.KindSourceReported || s.KindSource == agent.KindSourcePolicy)
	switch {
	case told:
		return s.Kind
	case s.Op == agent.OpHandoff:
		return agent.KindOther
	case s.Op == agent.OpTool && (agent.IsHandoffName(s.Call.Tool) || s.Call.OutputFunction || agent.IsOutputName(s.Call.Tool)):
		return agent.KindOther
	case s.Kind != agent.KindUnset:
		return s.Kind
	case s.Op == agent.OpHuman:
		return agent.KindHuman
	case s.Op == agent.OpRetrieval:
		return agent.KindRead
	}
	return agent.KindUnset
}

// handoff counts what may pass the run on: a circle needs two agents in so many
// rounds.
func (w *watch) handoff() {
	if w.passed++; w.rules.rounds > 0 && w.passed >= 2*w.rules.rounds {
		w.flag()
	}
}

// tool gives what is known of a tool; nil where there are too many.
func (w *watch) tool(called string) *toolSeen {
	for i := range w.tools {
		if w.tools[i].name == called {
			return &w.tools[i]
		}
	}
	if len(w.tools) >= maxTools {
		return nil
	}
	w.tools = append(w.tools, toolSeen{name: own(called), base: baseOf(called), rule: w.rules.policy.Tool(called)})
	return &w.tools[len(w.tools)-1]
}

// base gives the hash of a tool's name without prefix.
func (w *watch) base(called string) uint64 {
	for i := range w.tools {
		if w.tools[i].name == called {
			return w.tools[i].base
		}
	}
	return baseOf(called)
}

func baseOf(called string) uint64 { return traitName.text(agent.BaseTool(called)) }

// called counts a call of a tool.
func (w *watch) called(t *toolSeen) {
	t.calls++
	if l := w.limits.ToolCalls; l > 0 && t.calls > l && !w.wasFound("limit.tool_calls", t.name) {
		w.hot, w.over = true, true
	}
}

// enough is how many equal calls of a tool may be a finding.
func (w *watch) enough(t *toolSeen, acts bool) int {
	if acts {
		return 2
	}
	n := w.limits.Attempts + 1
	if r := t.rule.RepeatOr(w.rules.repeat); r > 0 {
		n = min(n, r)
	}
	if w.rules.rounds > 0 {
		n = min(n, w.rules.rounds)
	}
	return max(n, 2)
}

// arguments counts equal calls.
func (w *watch) arguments(s *agent.Step, t *toolSeen, acts bool) {
	if s.Call.Repeatable || s.Call.Effect == agent.EffectIdempotent {
		acts = false
	}
	c := &s.Call
	recorded := c.Arguments.State == agent.RecordedYes && !c.Arguments.Digest.IsZero()
	again := 0
	if recorded {
		again = w.seen.add(traitCall.digest(t.base, c.Arguments.Digest))
	}
	if !c.ArgumentsSent.IsZero() {
		sent := w.seen.add(traitSent.digest(t.base, c.ArgumentsSent))
		if sent > 1 && (!recorded || again == 1) { // equal by one of two names
			w.flag()
		}
	}
	if again >= w.enough(t, acts) {
		w.flag()
	}
	if again > 1 {
		w.stale()
	}
	if !recorded && c.ArgumentsSent.IsZero() {
		w.bare(t)
	}
}

// bare counts calls whose arguments were not recorded, where the policy counts
// them.
func (w *watch) bare(t *toolSeen) {
	if t.bare++; t.rule != nil && t.rule.RepeatUnseen > 0 && t.bare >= max(2, t.rule.RepeatUnseen) {
		w.flag()
	}
}

// ended looks at how a call ended and what it brought.
func (w *watch) ended(s *agent.Step, acts bool) {
	clean := isClean(s)
	if !clean {
		w.fail()
		w.stale()
		if acts && !isRejected(s) || s.Outcome == agent.OutcomeRefused || s.Outcome == agent.OutcomeDeferred || s.Sign == agent.SignRefused || s.Sign == agent.SignDeferred {
			w.flag()
		}
	}
	if acts && s.Facts != "" {
		if task, _, _ := agent.PeekFacts(s.Facts); task == agent.TaskReceipt {
			w.flag()
		}
	}
	w.result(&s.Call.Result, s.Call.Tool, traitResult, clean)
}

// isRejected: an error that is one for an act, too.
func isRejected(s *agent.Step) bool {
	if s.Outcome != agent.OutcomeUnset {
		return s.Outcome == agent.OutcomeError
	}
	return s.Sign == agent.SignRejected
}

func (w *watch) result(r *agent.Content, called string, k trait, clean bool) {
	if r.State == agent.RecordedYes && w.seen.add(k.digest(0, r.Digest)) > 1 && clean {
		w.stale()
	}
	if w.rules.context > 0 && r.Size > w.rules.context && (called == "" || !w.wasFound("context.bloat", called)) {
		w.hot = true
	}
}

// unkeyed asks for a judgement where an act may miss a key, or its tool a class.
func (w *watch) unkeyed(s *agent.Step) {
	missing := s.Call.Key == "" && !w.wasFound("key.missing", s.Call.Tool)
	classless := (s.Kind == agent.KindUnset || s.KindSource == agent.KindSourceDefault) && s.Call.Tool != "" && !w.wasFound("tool.unclassified", s.Call.Tool)
	if missing || classless {
		w.due = earlier(w.due, s.Received+w.rules.settle)
	}
}

// gate looks at a gate's decision, which is an attempt of the step that it names
// or joins one.
func (w *watch) gate(s *agent.Step) {
	if s.Call.Gate != agent.GateNew || !s.Call.Arguments.Digest.IsZero() || !s.Call.ArgumentsSent.IsZero() || s.DialectStep != "" || s.Call.ID != "" {
		w.flag()
	}
	if s.StepID == "" { // where it lies, or its key, says what it is the gate of
		w.flag()
		return
	}
	w.gated = true
	w.strict()
	if w.seen.add(traitGate.text(s.StepID)) > 1 || w.seen.get(traitStep.text(s.StepID, "tool")) > 0 {
		w.flag()
	}
	w.seen.add(traitGateHas.text(s.StepID, "key", s.Call.Key))
	w.seen.add(traitGateHas.text(s.StepID, "target", s.Call.Target))
	w.seen.add(traitGateHas.text(s.StepID, "tool", s.Call.Tool))
}

// strict: where a step may have one attempt only, a gate whose act began before it
// is one too many.
func (w *watch) strict() {
	if w.gated && w.limits.Attempts < 2 {
		w.flag()
	}
}

// besideGate: an act whose gate said something else of it.
func (w *watch) besideGate(s *agent.Step) {
	if s.StepID == "" || w.seen.get(traitGate.text(s.StepID)) == 0 {
		return
	}
	agrees := func(what, value string) bool {
		return value == "" || w.seen.get(traitGateHas.text(s.StepID, what, value)) > 0 || w.seen.get(traitGateHas.text(s.StepID, what, "")) > 0
	}
	if !agrees("key", s.Call.Key) || !agrees("target", s.Call.Target) || !agrees("tool", s.Call.Tool) {
		w.flag()
	}
}
