package agent

// firstCallPart is the part of the first call without a span under the model
// span that asked for it.
const firstCallPart = maxParts + 1

// unseen makes an attempt of each call that a model requested and that has no
// span (conventions, "A tool call that a model requested and that has no
// span").
func (b *builder) unseen() {
	if len(b.requests) == 0 {
		return
	}
	type call struct{ tool, id string }
	var ran map[call]bool
	kinds := map[string]cand{}
	for i := range b.cands {
		c := &b.cands[i]
		if c.gone || (c.op != OpTool && c.op != OpHandoff && c.op != OpRetrieval) {
			continue
		}
		if c.callID != "" {
			if ran == nil {
				ran = map[call]bool{}
			}
			ran[call{baseTool(c.tool), c.callID}] = true
		}
		if was, ok := kinds[c.tool]; !ok || c.source < was.source {
			kinds[c.tool] = cand{kind: c.kind, source: c.source, class: c.class}
		}
	}
	for n := range b.requests {
		r := &b.requests[n]
		asked := &b.cands[r.model]
		k := call{baseTool(r.call.Tool), r.call.ID}
		if r.used || r.call.ID != "" && ran[k] || r.call.OutputFunction || isOutputName(r.call.Tool) || failed(asked.outcome) || r.call.Tool == "" || b.ranAsAgent(r) {
			continue
		}
		if r.call.ID != "" {
			if ran == nil {
				ran = map[call]bool{}
			}
			ran[k] = true // an id that is asked for again is one call
		}
		if c, ok := b.unseenCall(r, kinds); ok {
			b.cands = append(b.cands, c)
		}
	}
}

// unseenCall is the attempt of a call without a span; false while it may still
// come.
func (b *builder) unseenCall(r *request, kinds map[string]cand) (cand, bool) {
	asked := &b.cands[r.model]
	c := cand{
		node: asked.node, frame: noSpan, part: uint16(firstCallPart + min(r.pos, maxParts)), op: OpTool, lane: r.lane,
		tool: r.call.Tool, callID: r.call.ID, args: r.call.Arguments, request: r.call, noSpan: true, start: asked.end, end: asked.end,
	}
	known := kinds[c.tool]
	switch {
	case r.call.KindSource == KindSourcePolicy:
		c.kind, c.source = r.call.Kind, r.call.KindSource
	case isHandoffName(c.tool):
		c.op, c.kind, c.source = OpHandoff, KindOther, KindSourceDialect
	case known.source != KindSourceUnset:
		c.kind, c.source = known.kind, known.source
	default:
		c.kind, c.source = KindAct, KindSourceDefault
	}
	c.class = classOf(c.kind)
	if c.op == OpHandoff {
		c.seen, c.outcome = true, OutcomeOK
		return c, true
	}
	if w := b.wordOn(r); w.Sign != SignNone {
		if c.outcome = outcomeByWord(w, r.answer != nil); c.outcome != OutcomeUnset {
			c.seen = true
			return c, true
		}
	}
	if r.answer != nil {
		c.seen, c.answer = true, r.answer.answer
		c.result = r.answer.answer.Result
		c.end = max(c.start, r.answer.time)
		c.outcome = outcomeOf(r.answer.answer.Sign, c.kind)
		return c, true
	}
	if !b.a.in.Quiet && !b.a.in.Silent {
		return c, false
	}
	if c.kind == KindAct && c.source != KindSourceDefault && b.lost(c.lane, c.start) {
		c.outcome = OutcomeUnknown
	}
	return c, true
}
