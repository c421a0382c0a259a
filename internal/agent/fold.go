package agent

// foldModels makes one attempt of the spans of one model call: nested ones, and
// those that stand beside each other or were replayed under one response id.
func (b *builder) foldModels() {
	b.foldNestedModels()
	b.foldResponses()
	b.foldStreams()
}

// foldNestedModels: a model-call span under another, with no tool or agent
// between, is the same call; several under one are its attempts.
func (b *builder) foldNestedModels() {
	var kids map[int32]int // model span: how many stand directly under it
	for i := range b.cands {
		c := &b.cands[i]
		if c.op != OpModel {
			continue
		}
		if up := b.modelAbove(c.node); up >= 0 {
			if kids == nil {
				kids = map[int32]int{}
			}
			kids[up]++
		}
	}
	if kids == nil {
		return
	}
	for i := range b.cands {
		c := &b.cands[i]
		if c.op != OpModel || kids[c.node] > 0 {
			continue
		}
		b.foldChain(c, kids)
	}
	b.shareFrames()
}

// shareFrames gives what the frame of several attempts says to the last of them:
// some clients write the answer there and nothing on the attempts.
func (b *builder) shareFrames() {
	var last map[int32]int32
	for i := range b.cands {
		c := &b.cands[i]
		if c.gone || c.op != OpModel || c.frame < 0 {
			continue
		}
		if last == nil {
			last = map[int32]int32{}
		}
		if at, ok := last[c.frame]; !ok || b.compareCands(at, int32(i)) <= 0 {
			last[c.frame] = int32(i)
		}
	}
	for _, i := range last {
		b.cands[i].tail = true
	}
}

// sources are the spans that tell what a model call was asked and answered: its
// own, and for the last of several attempts what is around them all.
func (b *builder) sources(c *cand) []int32 {
	if !c.tail {
		return b.members(c)
	}
	return append([]int32{c.frame}, b.members(c)...)
}

// modelAbove is the model call of the run that a model call lies in; -1 if none.
func (b *builder) modelAbove(at int32) int32 {
	up := b.a.nodes[at].call
	if up >= 0 && b.a.nodes[up].run == b.run && b.a.nodes[up].cand >= 0 {
		return up
	}
	return noSpan
}

// foldChain folds an innermost model call into those around it, up to the first
// that has several under it: that one is the frame of the attempts.
func (b *builder) foldChain(c *cand, kids map[int32]int) {
	chain := []int32{c.node}
	head := c.node
	up, n := b.modelAbove(head), 0
	for ; up >= 0 && n < maxDepth; up, n = b.modelAbove(up), n+1 {
		if kids[up] > 1 {
			for ; up >= 0 && n < maxDepth; up, n = b.modelAbove(up), n+1 {
				c.frame = up
				b.cands[b.a.nodes[up].cand].gone = true
			}
			break
		}
		chain = append(chain, up)
		head = up
	}
	if head == c.node {
		return
	}
	reverse(chain)
	out := &b.cands[b.a.nodes[head].cand]
	out.spans, out.frame = chain, c.frame
	for _, at := range chain[1:] {
		b.cands[b.a.nodes[at].cand].gone = true
	}
}

func reverse(s []int32) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}

// foldResponses: a model-call span with the response id of another and no
// different input, beside it or sent again by a durable engine.
func (b *builder) foldResponses() {
	var first map[string]response
	for i := range b.cands {
		c := &b.cands[i]
		if c.op != OpModel || c.gone {
			continue
		}
		id := b.responseID(c)
		if id == "" {
			continue
		}
		if first == nil {
			first = map[string]response{}
		}
		f, ok := first[id]
		if !ok {
			first[id] = response{cand: int32(i)}
			continue
		}
		if !f.known {
			m := b.model(&b.cands[f.cand])
			f.known, f.input, f.output = true, m.Input, m.Output
		}
		if m := b.model(c); b.oneResponse(&f, c, &m) {
			b.absorb(&b.cands[f.cand], c)
			f.show(&m)
		} else {
			f = response{int32(i), true, m.Input, m.Output}
		}
		first[id] = f
	}
}

// response is what the spans of one answer show so far.
type response struct {
	cand          int32
	known         bool // input and output are filled in
	input, output Digest
}

// show adds what a further span shows, which is nothing different.
func (r *response) show(m *Model) {
	if !m.Input.IsZero() {
		r.input = m.Input
	}
	if !m.Output.IsZero() {
		r.output = m.Output
	}
}

// absorb makes the spans of one attempt those of another. It grows in place, so
// that many of them cost what they are.
func (b *builder) absorb(into, c *cand) {
	if into.spans == nil {
		into.spans = append(make([]int32, 0, 4), into.node)
	}
	into.spans = append(into.spans, b.members(c)...)
	c.gone = true
}

// foldStreams: a model-call span without length tells what a streamed call before
// it answered, where that span beside it shows no answer of its own.
func (b *builder) foldStreams() {
	var open map[int32]int32 // by parent: the last call that shows no answer
	for i := range b.cands {
		c := &b.cands[i]
		if c.op != OpModel || c.gone {
			continue
		}
		parent := b.a.nodes[c.node].parent
		m := b.model(c)
		if c.end > c.start {
			if open == nil {
				open = map[int32]int32{}
			}
			if delete(open, parent); parent >= 0 && b.responseID(c) == "" && m.Output.IsZero() && !m.Tokens.Known && b.sign(c) == SignOK {
				open[parent] = int32(i)
			}
			continue
		}
		f, ok := open[parent]
		if !ok || m.Output.IsZero() && !m.Tokens.Known {
			continue
		}
		into := &b.cands[f]
		x := b.model(into)
		if x.Requested == m.Requested && !differ(x.Input, m.Input) {
			b.absorb(into, c)
			delete(open, parent)
		}
	}
}

func (b *builder) responseID(c *cand) string {
	for _, at := range b.members(c) {
		if id := b.a.steps[at].Model.ResponseID; id != "" {
			return id
		}
	}
	return ""
}

// twinGap is how long after a model call's end its zero-length twin may stand.
const twinGap = 5_000_000

// oneResponse reports whether y is x again. An id alone does not tell: local
// servers number their answers.
func (b *builder) oneResponse(f *response, y *cand, ym *Model) bool {
	x := &b.cands[f.cand]
	if x.frame != y.frame && x.frame >= 0 && y.frame >= 0 {
		return false
	}
	if differ(f.input, ym.Input) || differ(f.output, ym.Output) {
		return false
	}
	xs, ys := b.span(x), b.span(y)
	if y.start < x.end || (y.end <= y.start && y.start <= x.end+twinGap) || (x.end <= x.start && y.start <= x.end+twinGap) {
		return true
	}
	replay := xs.Trace != ys.Trace || xs.Instance != ys.Instance
	return replay && xs.Checkpoint == "" && ys.Checkpoint == ""
}

func differ(x, y Digest) bool { return !x.IsZero() && !y.IsZero() && x != y }

// model collects what the spans of a model call say, the innermost first.
func (b *builder) model(c *cand) (m Model) {
	spans := b.sources(c)
	for i := len(spans) - 1; i >= 0; i-- {
		s := &b.a.steps[spans[i]].Model
		if m.Input.IsZero() {
			m.Input = s.Input
		}
		if m.Output.IsZero() {
			m.Output = s.Output
		}
		if !m.Tokens.Known {
			m.Tokens = s.Tokens
		}
		if m.CostSource == CostSourceUnset || m.CostSource == CostSourceComputed && s.CostSource == CostSourceReported {
			m.CostNano, m.CostSource = s.CostNano, s.CostSource
		}
		if m.Requested == "" {
			m.Requested = s.Requested
		}
		if m.Served == "" {
			m.Served = s.Served
		}
	}
	return m
}
