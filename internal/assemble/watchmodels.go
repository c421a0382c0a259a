package assemble

import (
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
)

// openCall is a call that a model asked for and of which no execution came yet.
type openCall struct {
	call  *agent.RequestedCall
	ref   agent.Ref // the message that asks
	pos   int       // in it
	start int64     // of the model call
	came  int64     // when that came

	answered bool // so it is an attempt without a span, until one comes after all
}

// model looks at a model call.
func (w *watch) model(g *group, s *agent.Step) {
	if s.Kind != agent.KindUnset && s.Kind != agent.KindThink {
		w.flag()
	}
	if !isClean(s) {
		w.fail()
		if len(s.Model.Outputs) > 0 || s.Outcome == agent.OutcomeRefused || s.Outcome == agent.OutcomeDeferred {
			w.flag()
		}
	}
	w.identity(s, "model")
	if !s.Model.Output.IsZero() && w.rules.repeat > 0 && w.seen.add(traitOutput.digest(0, s.Model.Output)) >= w.rules.repeat {
		w.flag()
	}
	w.measureInput(s)
	refs := s.Model.Context
	from := common(refs, w.context)
	for from > 0 && from < len(refs) { // back to the message that asked
		f := g.facts[refs[from]]
		if f == nil || len(f.Answers) == 0 {
			break
		}
		from--
	}
	if len(refs) > 0 {
		w.context = refs
	}
	w.answers(g, refs[from:])
	w.asks(g, s, s.Model.Outputs)
}

// measureInput keeps the least and the largest input.
func (w *watch) measureInput(s *agent.Step) {
	_, n, _ := agent.PeekFacts(s.Facts)
	if n <= 0 {
		n = 4 * s.Model.Tokens.Input
	}
	if n <= 0 {
		return
	}
	if w.least == 0 || n < w.least {
		w.least = n
	}
	if w.most = max(w.most, n); n == w.most && w.grows() {
		w.hot = true
	}
}

// grows: an input is large, and at least twice the least, in whatever order they
// come.
func (w *watch) grows() bool {
	return w.rules.context > 0 && w.most > w.rules.context && w.most >= 2*w.least && !w.wasFound("context.bloat", "")
}

// asks takes in the calls that a model asks for.
func (w *watch) asks(g *group, s *agent.Step, refs []agent.Ref) {
	for _, ref := range refs {
		f := g.facts[ref]
		if f == nil {
			continue
		}
		for i := range f.Calls {
			w.ask(openCall{call: &f.Calls[i], ref: ref, pos: i, start: s.Start, came: s.Received})
		}
	}
}

func (w *watch) ask(o openCall) {
	c := o.call
	switch {
	case c.KindSource == agent.KindSourcePolicy:
	case agent.IsHandoffName(c.Tool):
		w.handoff()
		return
	}
	if c.OutputFunction || agent.IsOutputName(c.Tool) {
		return
	}
	t := w.tool(c.Tool)
	if t == nil || c.Tool == "" {
		w.flag()
		return
	}
	if !c.Arguments.Digest.IsZero() {
		n := w.seen.add(traitRequest.digest(t.base, c.Arguments.Digest))
		if n >= w.enough(t, mayAct(c)) {
			w.flag()
		}
		if n > 1 {
			w.stale()
		}
	}
	switch {
	case c.ID == "" && w.seen.get(traitAnswered.place(o.ref, o.pos)) > 0:
		w.flag() // the answer came before the request
		return
	case c.ID != "":
		key := traitCallID.text(c.ID)
		m := w.seen.marks(key)
		if m&markRan != 0 && w.seen.get(traitRanAs.with(key, t.base)) > 0 {
			return
		}
		if m&markAnswered != 0 {
			w.flag()
			return
		}
	}
	if len(w.open) >= maxOpenCalls {
		w.forget()
	}
	w.open = append(w.open, o)
}

// forget makes room for a call: the oldest that was answered goes first.
func (w *watch) forget() {
	i := slices.IndexFunc(w.open, func(o openCall) bool { return o.answered })
	if i < 0 {
		i = 0
		w.flag()
	}
	w.open = slices.Delete(w.open, i, i+1)
}

// mayAct: the policy does not say that the call only reads.
func mayAct(c *agent.RequestedCall) bool {
	return c.KindSource != agent.KindSourcePolicy || c.Kind == agent.KindUnset || c.Kind == agent.KindAct
}

// ran: a span executes the call that it names; one without a call id executes the
// latest request of its tool, with equal arguments first.
func (w *watch) ran(s *agent.Step, t *toolSeen, acts bool) {
	if len(w.open) == 0 || s.Op == agent.OpGate {
		return
	}
	best := -1
	for i := len(w.open) - 1; i >= 0; i-- {
		o := &w.open[i]
		if w.base(o.call.Tool) != t.base {
			continue
		}
		if s.Call.ID != "" {
			if o.call.ID == s.Call.ID {
				best = i
				break
			}
			continue
		}
		if o.start > s.Start {
			continue
		}
		if o.call.Arguments.Digest.Same(s.Call.Arguments.Digest) {
			best = i
			break
		}
		if best < 0 {
			best = i
		}
	}
	if best < 0 {
		return
	}
	c := w.open[best].call
	if w.open[best].answered {
		w.flag() // it was counted already
	}
	w.open = slices.Delete(w.open, best, best+1)
	if s.Call.ID == "" && c.ID != "" { // it has the id of its request
		w.hasID(c.ID, c.Tool, true)
		if !acts {
			w.seen.mark(traitCallID.text(c.ID), markRead)
		}
	}
	if s.Call.Arguments.State != agent.RecordedYes && !c.Arguments.Digest.IsZero() { // and its arguments
		if w.seen.add(traitCall.digest(t.base, c.Arguments.Digest)) >= w.enough(t, acts) {
			w.flag()
		}
	}
}

// answers reads the answers to calls in messages, in their order. One without a
// call id answers the next call of the message that asked last.
func (w *watch) answers(g *group, refs []agent.Ref) {
	var asked []agent.RequestedCall
	var from agent.Ref
	pos := 0
	for _, ref := range refs {
		f := g.facts[ref]
		if f == nil {
			continue
		}
		if len(f.Calls) > 0 {
			asked, from, pos = f.Calls, ref, 0
		}
		for i := range f.Answers {
			a := &f.Answers[i]
			if a.ID != "" {
				w.answer(a, ref)
				continue
			}
			if pos >= len(asked) {
				continue
			}
			at, id := pos, asked[pos].ID
			pos++
			if id != "" {
				w.seen.mark(traitCallID.text(id), markAnswered)
				w.heard(a, id, func(o *openCall) bool { return o.call.ID == id })
				continue
			}
			w.seen.add(traitAnswered.place(from, at))
			w.heard(a, "", func(o *openCall) bool { return o.call.ID == "" && o.ref == from && o.pos == at })
		}
	}
}

// answer reads an answer with a call id, once from each message.
func (w *watch) answer(a *agent.CallAnswer, in agent.Ref) {
	if w.seen.add(traitAnswer.text(a.ID, string(in[:]))) > 1 {
		return
	}
	w.seen.mark(traitCallID.text(a.ID), markAnswered)
	w.heard(a, a.ID, func(o *openCall) bool { return o.call.ID == a.ID })
}

// heard: calls of that id have an answer. Where no execution of them came, they
// are attempts of their own.
func (w *watch) heard(a *agent.CallAnswer, id string, is func(*openCall) bool) {
	clean := a.Sign == agent.SignOK || a.Sign == agent.SignNone
	unseen := false
	for i := range w.open {
		o := &w.open[i]
		if !is(o) {
			continue
		}
		unseen = true
		if !o.answered {
			o.answered = true
			w.unseen(o, a)
		}
	}
	if !clean {
		w.fail()
		w.stale()
		ran, reads := id == "", false
		if id != "" {
			m := w.seen.marks(traitCallID.text(id))
			ran, reads = m&markRan != 0, m&markRead != 0
		}
		switch refused := a.Sign == agent.SignRefused || a.Sign == agent.SignDeferred; {
		case a.Sign == agent.SignRejected:
		case ran || unseen:
			if !reads || refused {
				w.flag()
			}
		case id != "": // the span that executes it is to come
			w.seen.mark(traitCallID.text(id), markUnsure)
		}
	}
	w.result(&a.Result, a.Tool, traitShown, clean)
}

// unseen: a call without a span ran, as its answer says.
func (w *watch) unseen(o *openCall, a *agent.CallAnswer) {
	c := o.call
	t := w.tool(c.Tool)
	if t == nil {
		w.flag()
		return
	}
	w.steps++
	w.exceed("limit.steps", w.limits.Steps > 0 && w.steps > w.limits.Steps)
	w.called(t)
	acts := mayAct(c)
	if t.rule != nil && (t.rule.ApprovalRequired || t.rule.Forbidden) {
		w.flag()
	}
	if c.Arguments.Digest.IsZero() {
		w.bare(t)
	} else {
		n := w.seen.add(traitCall.digest(t.base, c.Arguments.Digest))
		if n >= w.enough(t, acts) {
			w.flag()
		}
		if n > 1 {
			w.stale()
		}
	}
	if !acts {
		return
	}
	if a.Sign != agent.SignOK && a.Sign != agent.SignNone && a.Sign != agent.SignRejected {
		w.flag()
	}
	if c.KindSource != agent.KindSourcePolicy && !w.wasFound("tool.unclassified", c.Tool) {
		w.due = earlier(w.due, o.came+w.rules.settle)
	}
}

// log looks at a message that came as a log record.
func (w *watch) log(l *agent.LogContent, f *agent.MessageFacts, now int64) bool {
	w.hot = false
	if f == nil {
		return false
	}
	if l.Output {
		if w.failed > 0 && len(f.Calls) > 0 {
			w.flag() // maybe of a model call that failed
		}
		for i := range f.Calls {
			w.ask(openCall{call: &f.Calls[i], ref: f.Ref, pos: i, start: l.Start, came: now})
		}
		return w.hot
	}
	for i := range f.Answers {
		a := &f.Answers[i]
		if a.ID == "" { // whose answer it is, its place tells
			w.flag()
			continue
		}
		w.answer(a, l.Message)
	}
	return w.hot
}
