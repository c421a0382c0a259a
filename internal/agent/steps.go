package agent

import (
	"cmp"
	"slices"
)

// stepGroup is a step while it is being found.
type stepGroup struct {
	members  []int32 // candidates in order of (start, end, trace, span, part)
	class    class
	id       string // agent.step.id as sent
	dialect  string // a durable engine's identity
	declared bool
}

// group finds the step of each attempt (conventions, "Step"): the id that it
// states, its call, its dialect's identity, a retry straight after a failed
// attempt, else the span alone.
func (b *builder) group() {
	order := b.ordered()
	x := grouper{b: b, lanes: sized(&b.a.use.tails, len(b.lanes))}
	b.steps = sized(&b.a.use.steps, len(order))[:0]
	members := sized(&b.a.use.members, len(order)) // most steps have one attempt
	for n, i := range order {
		at := x.find(i)
		if at < 0 {
			at = int32(len(b.steps))
			members[n] = i
			b.steps = append(b.steps, stepGroup{members: members[n : n+1 : n+1], class: b.cands[i].class})
		} else {
			b.steps[at].members = append(b.steps[at].members, i)
		}
		x.note(i, at)
	}
	for n := range b.steps {
		b.rerunByEngine(&b.steps[n])
	}
}

// ordered gives the attempts in the order of the spans that name them.
func (b *builder) ordered() []int32 {
	order := sized(&b.a.use.ordered, len(b.cands))[:0]
	sorted := true
	for i := range b.cands {
		if b.cands[i].gone {
			continue
		}
		if n := len(order); n > 0 && b.compareCands(order[n-1], int32(i)) > 0 {
			sorted = false
		}
		order = append(order, int32(i))
	}
	if !sorted {
		slices.SortFunc(order, b.compareCands)
	}
	return order
}

func (b *builder) compareCands(i, j int32) int {
	x, y := &b.cands[i], &b.cands[j]
	return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.end, y.end), cmp.Compare(x.node, y.node), cmp.Compare(x.part, y.part))
}

// laneTail is what came last in a lane.
type laneTail struct {
	tool, model         int32 // candidates + 1; 0 for none
	toolStep, modelStep int32
}

type stepKey struct {
	kind   keyKind
	class  class
	lane   int32
	id     string
	tool   string
	digest Digest
}

type keyKind uint8

const (
	keyStepID keyKind = iota
	keyCall
	keyEngine
	keyCheckpoint
	keyFrame
)

// grouper finds steps by key.
type grouper struct {
	b     *builder
	at    map[stepKey]int32
	lanes []laneTail
}

// find gives the step that an attempt belongs to; -1 if it opens one.
func (x *grouper) find(i int32) int32 {
	c := &x.b.cands[i]
	if k, ok := x.declaredKey(c); ok {
		if at, found := x.at[k]; found {
			return at
		}
		return noSpan
	}
	if at := x.byCall(c); at >= 0 {
		return at
	}
	if at := x.byCheckpoint(c); at >= 0 {
		return at
	}
	return x.byRetry(c)
}

// declaredKey is the identity that an attempt's spans, or what they lie in,
// state: a step id, an engine's activity, the frame of several attempts.
func (x *grouper) declaredKey(c *cand) (stepKey, bool) {
	b := x.b
	if id := b.stepID(c); id != "" {
		return stepKey{kind: keyStepID, class: c.class, id: id}, true
	}
	if id := b.engineStep(c); id != "" && c.class != classOther {
		return stepKey{kind: keyEngine, class: c.class, id: id}, true
	}
	if c.frame >= 0 {
		return stepKey{kind: keyFrame, lane: c.frame}, true
	}
	return stepKey{}, false
}

func (b *builder) stepID(c *cand) string {
	if c.noSpan {
		return ""
	}
	for _, at := range c.spans {
		if id := b.a.steps[at].StepID; id != "" {
			return id
		}
	}
	if id := b.span(c).StepID; id != "" || c.frame < 0 {
		return id
	}
	return b.a.steps[c.frame].StepID
}

// engineStep is the identity that a durable engine gives the attempt, or the
// activity around a model call.
func (b *builder) engineStep(c *cand) string {
	if c.noSpan {
		return ""
	}
	for _, at := range c.spans {
		if id := b.a.steps[at].DialectStep; id != "" {
			return id
		}
	}
	if id := b.span(c).DialectStep; id != "" || c.op != OpModel {
		return id
	}
	if up := b.a.nodes[c.node].tool; up >= 0 {
		return b.a.steps[up].DialectStep
	}
	return ""
}

func (x *grouper) callKey(c *cand) (stepKey, bool) {
	if c.callID == "" || c.class == classModel || c.class == classOther {
		return stepKey{}, false
	}
	return stepKey{kind: keyCall, class: c.class, lane: c.lane, id: c.callID, tool: baseTool(c.tool)}, true
}

// byCall: one call id, tool and, where recorded, equal arguments in a lane, as
// long as the call had not been executed to a clear end.
func (x *grouper) byCall(c *cand) int32 {
	k, ok := x.callKey(c)
	if !ok {
		return noSpan
	}
	at, ok := x.at[k]
	if !ok {
		return noSpan
	}
	last := x.lastOf(at)
	if last.outcome == OutcomeOK && !stoppedByGate(last) || differ(last.args.Digest, c.args.Digest) {
		return noSpan
	}
	return at
}

func (x *grouper) lastOf(step int32) *cand {
	m := x.b.steps[step].members
	return &x.b.cands[m[len(m)-1]]
}

func (x *grouper) checkpointKey(c *cand) (stepKey, bool) {
	ns := x.b.span(c).Checkpoint
	if ns == "" || c.noSpan {
		return stepKey{}, false
	}
	k := stepKey{kind: keyCheckpoint, class: c.class, id: ns, tool: c.tool, digest: c.args.Digest}
	if c.class == classModel {
		m := x.b.model(c)
		k.tool, k.digest = m.Requested, m.Input
	}
	return k, !k.digest.IsZero() && c.class != classOther
}

// byCheckpoint: LangGraph ran a node again, with the same call in it.
func (x *grouper) byCheckpoint(c *cand) int32 {
	k, ok := x.checkpointKey(c)
	if !ok {
		return noSpan
	}
	at, ok := x.at[k]
	if !ok {
		return noSpan
	}
	if last := x.lastOf(at); failed(last.outcome) || last.outcome == OutcomeDeferred || x.b.nodeFailed(last) {
		return at
	}
	return noSpan
}

// nodeFailed reports whether the graph node around an attempt ended badly.
func (b *builder) nodeFailed(c *cand) bool {
	ns := b.span(c).Checkpoint
	up := b.a.nodes[c.node].parent
	for n := 0; up >= 0 && n < maxDepth && !b.a.nodes[up].isAgent; up, n = b.a.nodes[up].parent, n+1 {
		s := b.a.steps[up]
		if s.Op == OpWorkflow && s.Checkpoint == ns {
			switch s.Sign {
			case SignLost, SignException, SignRejected, SignDeferred:
				return true
			default:
			}
		}
	}
	return false
}

// byRetry: the same call straight after a failed attempt in the lane, with no
// other tool step between; a call with an id of its own is a new call.
func (x *grouper) byRetry(c *cand) int32 {
	l := &x.lanes[c.lane]
	switch {
	case c.class == classModel && c.op == OpModel && l.model > 0:
		last := &x.b.cands[l.model-1]
		if l.tool > l.model && !failed(last.outcome) || !failed(last.outcome) || !isAfter(c.start, last.end) {
			return noSpan
		}
		if l.tool > 0 && x.b.cands[l.tool-1].start >= last.start {
			return noSpan
		}
		xm, ym := x.b.model(last), x.b.model(c)
		if xm.Requested == ym.Requested && xm.Input.Same(ym.Input) {
			return l.modelStep
		}
	case c.class == classTool && c.callID == "" && c.tool != "" && c.op != OpGate && l.tool > 0:
		last := &x.b.cands[l.tool-1]
		if last.callID == "" && failed(last.outcome) && isAfter(c.start, last.end) && last.tool == c.tool &&
			last.args.Digest.Same(c.args.Digest) && (last.target == "" || c.target == "" || last.target == c.target) {
			return l.toolStep
		}
	}
	return noSpan
}

// note remembers where an attempt went, for those after it.
func (x *grouper) note(i, at int32) {
	c, g := &x.b.cands[i], &x.b.steps[at]
	if k, ok := x.declaredKey(c); ok {
		x.set(k, at)
		switch k.kind {
		case keyStepID:
			g.id, g.declared = k.id, true
		case keyEngine:
			g.dialect, g.declared = k.id, true
		default:
		}
	}
	if k, ok := x.callKey(c); ok {
		x.set(k, at)
	}
	if k, ok := x.checkpointKey(c); ok {
		x.set(k, at)
	}
	l := &x.lanes[c.lane]
	switch {
	case c.class == classModel:
		l.model, l.modelStep = i+1, at
	case c.class != classOther:
		l.tool, l.toolStep = i+1, at
	}
}

func (x *grouper) set(k stepKey, at int32) {
	if x.at == nil {
		x.at = make(map[stepKey]int32, len(x.b.cands))
	}
	x.at[k] = at
}

// rerunByEngine: an attempt after which a durable engine ran its activity again
// did not end well, whatever its span says.
func (b *builder) rerunByEngine(g *stepGroup) {
	if g.dialect == "" || len(g.members) < 2 {
		return
	}
	for _, i := range g.members[:len(g.members)-1] {
		c := &b.cands[i]
		if c.outcome != OutcomeOK {
			continue
		}
		if c.outcome = OutcomeError; c.kind == KindAct {
			c.outcome = OutcomeUnknown
		}
	}
}

// stoppedByGate: the gate answered, nothing ran.
func stoppedByGate(c *cand) bool {
	switch c.gate {
	case GateDuplicate, GateInFlight:
		return true
	case GateUnknown:
		return c.outcome == OutcomeRefused || c.outcome == OutcomeDeferred || c.outcome == OutcomeUnset
	case GateUnset, GateNew:
	}
	return false
}
