package agent

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
)

// build writes the run down.
func (b *builder) build() *Run {
	r := &Run{ID: b.g.id, IDSource: IDSourceInferred, Turns: b.turns, Facts: b.a.in.Facts, ArgumentsRecorded: 1}
	if b.g.explicit {
		r.IDSource = IDSourceReported
	}
	b.describe(r)
	b.identify(r)
	b.buildSteps(r)
	b.conclude(r)
	return r
}

// describe fills in what the run's spans say of it.
func (b *builder) describe(r *Run) {
	nodes := b.g.nodes
	if len(nodes) == len(b.a.steps) {
		r.Spans = b.a.steps
	} else {
		r.Spans = make([]*Step, len(nodes))
		for n, at := range nodes {
			r.Spans[n] = b.a.steps[at]
		}
	}
	r.Tenant, r.Started, r.Ended = r.Spans[0].Tenant, r.Spans[0].Start, r.Spans[0].End
	var newest *Step
	for _, s := range r.Spans {
		first(&r.Session, s.Session)
		first(&r.User, s.User)
		first(&r.TaskType, s.TaskType)
		first(&r.Scenario, s.Scenario)
		first(&r.Parent, s.ParentRun)
		if s.Escalation != "" {
			r.Escalation = s.Escalation
		}
		r.Ended = max(r.Ended, s.End, s.Start)
		r.DroppedAttributes += int64(s.Dropped)
		if s.PolicyHash != "" && (newest == nil || s.Start >= newest.Start) {
			newest = s
		}
		add(&r.Units, s.Unit)
		add(&r.Traces, s.Trace)
		if m := cmp.Or(s.Model.Served, s.Model.Requested); m != "" && s.Op == OpModel {
			add(&r.Models, m)
		}
		if s.Model.PromptVersion != "" {
			add(&r.PromptVersions, s.Model.PromptVersion)
		}
	}
	if newest != nil {
		r.PolicyHash = newest.PolicyHash
	}
	for _, list := range [...]*[]string{&r.Units, &r.Models, &r.PromptVersions} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	slices.SortFunc(r.Traces, TraceID.Compare)
	r.Traces = slices.Compact(r.Traces)
}

func first(to *string, s string) {
	if *to == "" {
		*to = s
	}
}

// add appends what is not the same as the last one added.
func add[T comparable](list *[]T, x T) {
	if n := len(*list); n == 0 || (*list)[n-1] != x {
		*list = append(*list, x)
	}
}

// identify finds the run's roots and its agent.
func (b *builder) identify(r *Run) {
	var outcome RunOutcome
	var statedAt int64
	root := int32(noSpan)
	r.RootEnded = true
	agents := false
	for _, at := range b.g.nodes {
		nd, s := &b.a.nodes[at], b.a.steps[at]
		if s.RunOutcome != RunOutcomeUnset && (outcome == RunOutcomeUnset || s.End >= statedAt) {
			outcome, statedAt = s.RunOutcome, s.End
		}
		if !nd.isAgent {
			continue
		}
		agents = true
		if b.ownAgent(at) >= 0 {
			continue
		}
		r.RootSeen = true
		r.RootEnded = r.RootEnded && s.End != 0
		if root < 0 || (b.a.steps[root].Agent == "" && s.Agent != "") {
			root = at
		}
	}
	if !agents {
		b.plainRoots(r)
	}
	r.RootEnded = r.RootEnded && r.RootSeen
	r.Outcome = outcome
	if root >= 0 {
		r.Agent = b.a.steps[root].Agent
	}
	first(&r.Agent, r.Spans[0].Service)
}

// plainRoots: in a run without any agent span, the root of a trace is the root.
func (b *builder) plainRoots(r *Run) {
	for _, at := range b.g.nodes {
		if s := b.a.steps[at]; s.Parent.IsZero() {
			r.RootSeen = true
			r.RootEnded = r.RootEnded && s.End != 0
		}
	}
}

// buildSteps writes down the steps and their attempts.
func (b *builder) buildSteps(r *Run) {
	n := 0
	for i := range b.steps {
		n += len(b.steps[i].members)
	}
	attempts := make([]Attempt, 0, n)
	r.Steps = make([]RunStep, 0, len(b.steps))
	suffix := b.sharedIDs()
	for i := range b.steps {
		g := &b.steps[i]
		from := len(attempts)
		for _, at := range g.members {
			attempts = append(attempts, Attempt{})
			b.attempt(&attempts[len(attempts)-1], &b.cands[at])
		}
		r.Steps = append(r.Steps, b.step(g, attempts[from:len(attempts):len(attempts)], suffix))
	}
	for i := range r.Steps {
		r.CallsNotSeen += notSeen(r.Steps[i].Attempts)
	}
}

func notSeen(attempts []Attempt) (n int) {
	for i := range attempts {
		if attempts[i].NoSpan && attempts[i].Tool != "" && !attempts[i].Seen {
			n++
		}
	}
	return n
}

func (b *builder) attempt(to *Attempt, c *cand) {
	s := b.span(c)
	to.Source = AttemptSourceOrder
	to.Unit, to.Trace, to.Span, to.Part = s.Unit, s.Trace, s.Span, c.part
	if c.spans == nil {
		to.Spans = b.a.steps[c.node : c.node+1 : c.node+1]
	} else {
		to.Spans = make([]*Step, len(c.spans))
		for i, at := range c.spans {
			to.Spans[i] = b.a.steps[at]
		}
	}
	to.NoSpan, to.Seen = c.noSpan, c.seen
	to.CallID, to.Tool, to.Target, to.Key, to.Gate = c.callID, c.tool, c.target, c.key, c.gate
	to.Outcome = c.outcome
	to.Executed = c.outcome != OutcomeRefused && c.outcome != OutcomeDeferred && !stoppedByGate(c)
	to.Start, to.End = c.start, c.end
	to.Arguments, to.Result, to.Sent = c.args, c.result, c.sent
	if c.shown.State != RecordedNot {
		to.Result = c.shown
	}
	to.UnsafeRequest = c.unsafe
	if c.class != classModel {
		to.Requests = len(c.http)
	}
	if c.noSpan {
		return
	}
	b.attemptError(to, c)
	if c.class == classModel {
		m := b.model(c)
		to.Input, to.Output = m.Input, m.Output
		to.Inputs, to.Outputs = b.messages(c)
		if !c.counted && (!c.parts || c.outcome == OutcomeOK) {
			to.Tokens, to.CostNano, to.CostSource = m.Tokens, m.CostNano, m.CostSource
		}
	} else if c.op != OpGate {
		to.Tokens, to.CostNano, to.CostSource = b.ownUsage(c)
	}
}

// attemptError takes the error from the span that shows one, the outermost
// first; of several requests each shows its own.
func (b *builder) attemptError(to *Attempt, c *cand) {
	if c.parts {
		h := b.a.steps[c.http[0]]
		to.ErrorType, to.ErrorText, to.StatusCode = h.ErrorType, h.ErrorText, h.StatusCode
		return
	}
	for _, s := range to.Spans {
		first(&to.ErrorType, s.ErrorType)
		first(&to.ErrorText, s.ErrorText)
		if to.StatusCode == 0 {
			to.StatusCode = s.StatusCode
		}
	}
	for _, h := range c.http {
		if s := b.a.steps[h]; to.StatusCode == 0 || s.StatusCode >= 400 {
			to.StatusCode = s.StatusCode
		}
	}
}

// ownUsage is what a step that is no model call states of tokens and cost, where
// no model call below it has any.
func (b *builder) ownUsage(c *cand) (t Tokens, cost int64, src CostSource) {
	s := b.span(c)
	if b.a.nodes[c.node].model || b.a.nodes[c.node].below {
		return t, 0, CostSourceUnset
	}
	return s.Model.Tokens, s.Model.CostNano, s.Model.CostSource
}

func (b *builder) step(g *stepGroup, attempts []Attempt, suffix map[idClass]string) RunStep {
	lead := &b.cands[g.members[0]]
	st := RunStep{
		Declared: g.declared, Kind: lead.kind, Source: lead.source, Op: lead.op, Lane: int(lead.lane),
		LaneName: b.lanes[lead.lane].name, Agent: b.agentOf(lead), Attempts: attempts,
	}
	for _, i := range g.members {
		c := &b.cands[i]
		first(&st.Tool, c.tool)
		first(&st.Target, c.target)
		if c.kind == KindAct && st.Kind != KindAct {
			st.Kind, st.Source = c.kind, c.source
		}
		if st.Op == OpGate && c.op != OpGate {
			st.Op = c.op
		}
	}
	if st.Op == OpHandoff {
		st.HandoffTo = cmp.Or(b.span(lead).HandoffTo, handoffTo(st.Tool), st.Tool)
	}
	number(st.Attempts)
	st.ID = b.shownID(g, &st.Attempts[0], suffix)
	return st
}

// agentOf is the name of the innermost agent that an attempt runs under.
func (b *builder) agentOf(c *cand) string {
	if up := b.a.nodes[c.node].agent; up >= 0 {
		return b.a.steps[up].Agent
	}
	return b.span(c).Agent
}

// number gives each attempt its number: as reported, where every attempt of the
// step has one; else by order.
func number(attempts []Attempt) {
	reported := true
	for i := range attempts {
		if attempts[i].NoSpan || attempts[i].Part != 0 || reportedNumber(&attempts[i]) == 0 {
			reported = false
			break
		}
	}
	for i := range attempts {
		if attempts[i].Number = int32(i + 1); reported {
			attempts[i].Number, attempts[i].Source = reportedNumber(&attempts[i]), AttemptSourceReported
		}
	}
	if reported {
		slices.SortStableFunc(attempts, func(x, y Attempt) int { return cmp.Compare(x.Number, y.Number) })
	}
}

func reportedNumber(a *Attempt) int32 {
	for _, s := range a.Spans {
		if s.Attempt > 0 {
			return s.Attempt
		}
	}
	return 0
}

type idClass struct {
	id    string
	class class
}

// sharedIDs tells which ids, sent for steps of several classes, get a suffix:
// those that an act or a read, or a class before theirs, has too.
func (b *builder) sharedIDs() map[idClass]string {
	var suffix map[idClass]string
	var least map[string]class
	for i := range b.steps {
		g := &b.steps[i]
		if g.id == "" {
			continue
		}
		if least == nil {
			least = map[string]class{}
		}
		if was, ok := least[g.id]; !ok || g.class < was {
			least[g.id] = g.class
		}
	}
	for i := range b.steps {
		g := &b.steps[i]
		if g.id == "" || g.class == least[g.id] {
			continue
		}
		if suffix == nil {
			suffix = map[idClass]string{}
		}
		suffix[idClass{g.id, g.class}] = classSuffix[g.class]
	}
	return suffix
}

var classSuffix = [...]string{classTool: "", classModel: "@think", classHuman: "@human", classReconcile: "@reconcile", classOther: "@other"}

// shownID is the id of a step as the API gives it.
func (b *builder) shownID(g *stepGroup, lead *Attempt, suffix map[idClass]string) string {
	if g.id != "" {
		id := g.id + suffix[idClass{g.id, g.class}]
		if strings.HasPrefix(id, "~") {
			id = "~" + id
		}
		return id
	}
	return b.derivedID(lead)
}

const (
	derivedSize = 17
	// idsTogether is how many derived ids share an allocation: a finding that is kept
	// keeps those.
	idsTogether = 16
)

// derivedID hashes the first attempt's place: unit, trace, span and part.
func (b *builder) derivedID(a *Attempt) string {
	var buf [128]byte
	in := binary.LittleEndian.AppendUint16(buf[:0], a.Part)
	in = append(in, a.Trace[:]...)
	in = append(in, a.Span[:]...)
	in = append(in, a.Unit...)
	sum := sha256.Sum256(in)
	var out [derivedSize]byte
	out[0] = '~'
	hex.Encode(out[1:], sum[:8])
	if b.ids.Cap()-b.ids.Len() < derivedSize {
		b.ids = strings.Builder{}
		b.ids.Grow(derivedSize * min(idsTogether, len(b.steps)))
	}
	from := b.ids.Len()
	b.ids.Write(out[:])
	return b.ids.String()[from:]
}
