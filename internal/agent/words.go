package agent

// openEnd is an agent whose dialect says what became of the calls of its last
// model answer that nothing else tells of.
type openEnd struct {
	sign Sign
	last int32 // its last model call, a candidate; -1 if it has none
}

// hear collects what spans say of calls that they do not stand for (conventions,
// "Outcome": a call that a span of the agent, its root, a human step or a later
// answer names as waiting, denied, unknown or beyond a limit). Of two that speak
// of one call the later one is right.
func (b *builder) hear() {
	for _, at := range b.g.nodes {
		head := factsHead(b.a.steps[at].Facts)
		if head&(factsHasWords|factsHasOpen) == 0 {
			continue
		}
		f := ParseCallFacts(b.a.steps[at].Facts)
		for _, w := range f.Words {
			if w.ID == "" || w.Sign == SignNone {
				continue
			}
			if b.words == nil {
				b.words = map[string]CallWord{}
			}
			b.words[w.ID] = w
		}
		sign := endedSign(b.a.steps[at])
		if f.Open == SignRefused || f.Open == SignDeferred && (sign == SignOK || sign == SignDeferred) {
			b.openEnd(at, f.Open)
		}
		if f.Spanless != SignNone {
			if b.spanless == nil {
				b.spanless = map[int32]Sign{}
			}
			b.spanless[at] = f.Spanless
		}
	}
	if len(b.openEnds) > 0 {
		b.awaited()
	}
}

// openEnd notes what became of the open calls of an agent, by its own span or by
// one below it, as that of a turn. What was turned away does not wait.
func (b *builder) openEnd(at int32, sign Sign) {
	if up := b.ownAgent(at); up >= 0 && !b.a.nodes[at].isAgent {
		at = up
	}
	if b.openEnds == nil {
		b.openEnds = map[int32]*openEnd{}
	}
	if e := b.openEnds[at]; e == nil {
		b.openEnds[at] = &openEnd{sign, noSpan}
	} else if sign == SignRefused {
		e.sign = sign
	}
}

// awaited finds the last model call of each agent with an open end, and the tool
// spans behind it that only wait: they show neither result nor error.
func (b *builder) awaited() {
	for i := range b.cands {
		c := &b.cands[i]
		e := b.openEnds[b.a.nodes[c.node].agent]
		if e != nil && !c.gone && c.op == OpModel && (e.last < 0 || b.cands[e.last].start <= c.start) {
			e.last = int32(i)
		}
	}
	for i := range b.cands {
		c := &b.cands[i]
		e := b.openEnds[b.a.nodes[c.node].agent]
		if e == nil || e.sign != SignDeferred || c.gone || c.op != OpTool || b.a.nodes[c.node].below {
			continue
		}
		behind := e.last < 0 || b.cands[e.last].start <= c.start
		c.waits = behind && c.args.State != RecordedNot && c.result.State == RecordedNot && (b.sign(c) == SignOK || b.sign(c) == SignNone)
	}
}

// wordOn is what the run's spans say of a call that has no span.
func (b *builder) wordOn(r *request) (w CallWord) {
	if w = b.words[r.call.ID]; w.Sign != SignNone {
		return w
	}
	if r.answer != nil {
		// A client that gives every call that runs a span did not run this one.
		switch b.spanless[b.a.nodes[b.cands[r.model].node].agent] {
		case SignRefused:
			return CallWord{Sign: SignRefused}
		case SignRejected:
			if s := r.answer.answer.Sign; s == SignRejected || s == SignLost || s == SignException {
				return CallWord{Sign: SignRefused}
			}
		default:
		}
	}
	if e := b.openEnds[b.a.nodes[b.cands[r.model].node].agent]; e != nil && e.last == r.model {
		return CallWord{Sign: e.sign}
	}
	return CallWord{}
}

// outcomeByWord is the outcome of a call without a span that a word is known of;
// unset where the word does not decide. Answered without having run, a call that
// waited for a person was turned away; one that waited for work outside has its
// answer.
func outcomeByWord(w CallWord, answered bool) Outcome {
	switch {
	case w.Sign == SignRefused:
		return OutcomeRefused
	case w.Sign == SignDeferred && !answered:
		return OutcomeDeferred
	case w.Sign == SignDeferred && !w.Outside:
		return OutcomeRefused
	}
	return OutcomeUnset
}
