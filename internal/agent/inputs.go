package agent

import (
	"cmp"
	"slices"
)

// laneInput is what was read of the inputs of one lane so far.
type laneInput struct {
	refs  []Ref
	users []userMark        // user messages of the last input
	lasts map[userMark]bool // (last user message, number of user messages) of the inputs before
	model int32             // the model call before
}

// userMark is a user message and its number among the user messages of an input.
type userMark struct {
	ref    Ref
	number int
	pos    int // in the input; not part of what an earlier input is told by
}

// scanInputs reads the inputs of the run's model calls in order, and of each
// only what the input before it in the lane did not hold: the answers to calls,
// by the call, and new user messages.
func (b *builder) scanInputs() map[answerKey][]answered {
	answers := map[answerKey][]answered{}
	lanes := make([]laneInput, len(b.lanes))
	for i := range lanes {
		lanes[i].model = noSpan
	}
	for i := range b.cands {
		c := &b.cands[i]
		if c.gone || c.op != OpModel || c.early {
			continue
		}
		var input []Ref
		for _, at := range b.sources(c) {
			if input = b.a.inputs(b.a.steps[at]); len(input) > 0 {
				break
			}
		}
		l := &lanes[c.lane]
		if len(input) > 0 {
			b.scanInput(int32(i), input, l, answers)
		}
		l.model = int32(i)
	}
	b.scanAgents(answers)
	return answers
}

// scanAgents reads the answers in the conversations that agent spans record.
func (b *builder) scanAgents(answers map[answerKey][]answered) {
	for _, at := range b.records() {
		s := b.a.steps[at]
		for _, list := range [...][]Ref{b.a.inputs(s), b.a.outputs(s)} {
			for _, r := range list {
				f := b.a.facts(r)
				for p := 0; f != nil && p < len(f.Answers); p++ {
					if k := (answerKey{id: f.Answers[p].ID}); k.id != "" {
						answers[k] = append(answers[k], answered{&f.Answers[p], byAgent, b.a.nodes[at].lane, s.End})
					}
				}
			}
		}
	}
}

func (b *builder) scanInput(i int32, input []Ref, l *laneInput, answers map[answerKey][]answered) {
	from := 0
	for from < len(input) && from < len(l.refs) && input[from] == l.refs[from] {
		from++
	}
	for from > 0 && from < len(input) { // back to the message that asked
		f := b.a.facts(input[from])
		if f == nil || len(f.Answers) == 0 {
			break
		}
		from--
	}
	keep := len(l.users)
	for keep > 0 && l.users[keep-1].pos >= from {
		keep--
	}
	l.users, l.refs = l.users[:keep], input
	last := b.lastAsking(input)
	var asked []answerKey // calls of the last assistant message, not answered yet
	if last < 0 {
		asked = b.askedBy(l.model) // the server keeps the conversation
	}
	for pos := from; pos < len(input); pos++ {
		f := b.a.facts(input[pos])
		if f == nil {
			continue
		}
		if len(f.Calls) > 0 {
			asked = asked[:0]
			for p := range f.Calls {
				k := answerKey{id: f.Calls[p].ID}
				if k.id == "" {
					k = answerKey{ref: input[pos], pos: p}
				}
				asked = append(asked, k)
			}
		}
		if pos == last {
			// A message that shows no ids is the answer of the model call before.
			if own := b.askedBy(l.model); len(f.Calls) == 0 || f.Calls[0].ID == "" && len(own) == len(f.Calls) {
				asked = own
			}
		}
		for p := range f.Answers {
			x := &f.Answers[p]
			k := answerKey{id: x.ID}
			switch {
			case x.ID != "" && (len(asked) == 0 || !isItemID(asked[0].id) || isItemID(x.ID)):
			case len(asked) == 0:
				continue
			default:
				k, asked = asked[0], asked[1:]
			}
			answers[k] = append(answers[k], answered{x, i, b.cands[i].lane, b.cands[i].start})
		}
		if f.UserText {
			l.users = append(l.users, userMark{input[pos], len(l.users) + 1, pos})
		}
	}
	b.noteTurn(i, l)
}

// lastAsking is the place of the last assistant message of an input; -1 if there
// is none.
func (b *builder) lastAsking(input []Ref) int {
	for pos := len(input) - 1; pos >= 0; pos-- {
		if f := b.a.facts(input[pos]); f != nil && f.Role == RoleAssistant {
			return pos
		}
	}
	return -1
}

// askedBy are the calls that a model call asked for, in their order.
func (b *builder) askedBy(model int32) (keys []answerKey) {
	at, _ := slices.BinarySearchFunc(b.requests, model, func(r request, m int32) int { return cmp.Compare(r.model, m) })
	for ; model >= 0 && at < len(b.requests) && b.requests[at].model == model; at++ {
		keys = append(keys, b.requests[at].key)
	}
	return keys
}

// noteTurn: a new user message in an input of the outermost agent is a turn of
// the person, if the user message before it was the last one of an earlier
// input of the lane.
func (b *builder) noteTurn(i int32, l *laneInput) {
	n := len(l.users)
	if n == 0 {
		return
	}
	last := l.users[n-1]
	last.pos = 0
	if n > 1 && !l.lasts[last] && b.isOutermost(b.cands[i].lane) {
		before := l.users[n-2]
		before.pos = 0
		if l.lasts[before] {
			b.turns = append(b.turns, Turn{Lane: int(b.cands[i].lane), Time: b.cands[i].start, Span: b.span(&b.cands[i])})
		}
	}
	if l.lasts == nil {
		l.lasts = map[userMark]bool{}
	}
	l.lasts[last] = true
}

// isOutermost: the lane of an agent with no agent of the run above it, or the
// run's own.
func (b *builder) isOutermost(lane int32) bool {
	at := b.lanes[lane].agent
	return at < 0 || b.ownAgent(at) < 0
}
