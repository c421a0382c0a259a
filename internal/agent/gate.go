package agent

import "slices"

// gateKey is what ties a gate's decision to an act: in one trace, the step id or
// the key.
type gateKey struct {
	trace TraceID
	id    string
	key   bool
}

// joinGates gives each gate's decision to the attempt it was made for
// (conventions, "A gate span"). A decision without one stands alone.
func (b *builder) joinGates() {
	found := false
	for i := range b.cands {
		if b.cands[i].op == OpGate {
			found = true
			break
		}
	}
	if !found {
		return
	}
	acts, gates := map[gateKey][]int32{}, map[gateKey][]int32{}
	for i := range b.cands {
		c := &b.cands[i]
		if c.gone || (c.op != OpGate && c.class != classTool) {
			continue
		}
		list := acts
		if c.op == OpGate {
			list = gates
		}
		s := b.span(c)
		if s.StepID != "" {
			k := gateKey{s.Trace, s.StepID, false}
			list[k] = append(list[k], int32(i))
		}
		if c.key != "" {
			k := gateKey{s.Trace, c.key, true}
			list[k] = append(list[k], int32(i))
		}
	}
	for i := range b.cands {
		g := &b.cands[i]
		if g.op != OpGate || g.gone {
			continue
		}
		if to := b.gateTarget(int32(i), acts, gates); to >= 0 {
			b.joinGate(&b.cands[to], g)
		}
	}
}

// gateTarget finds the attempt that a gate decided on; -1 if there is none.
func (b *builder) gateTarget(i int32, acts, gates map[gateKey][]int32) int32 {
	g, s := &b.cands[i], b.span(&b.cands[i])
	if up := b.a.nodes[g.node].tool; up >= 0 && b.a.nodes[up].run == b.run && b.a.nodes[up].cand >= 0 {
		at := b.a.nodes[up].cand
		if b.cands[at].gone { // folded: the span around it names the attempt
			at = b.headOf(up)
		}
		if at >= 0 {
			return at
		}
	}
	if s.StepID != "" {
		if to := b.nextAct(i, gateKey{s.Trace, s.StepID, false}, acts, gates); to >= 0 {
			return to
		}
	}
	if g.key != "" {
		return b.nextAct(i, gateKey{s.Trace, g.key, true}, acts, gates)
	}
	return noSpan
}

// headOf finds the candidate into which a span was folded.
func (b *builder) headOf(at int32) int32 {
	for up := b.a.nodes[at].tool; up >= 0; up = b.a.nodes[up].tool {
		if c := b.a.nodes[up].cand; c >= 0 && !b.cands[c].gone {
			return c
		}
	}
	return noSpan
}

// nextAct is the attempt of that step or key that starts next after the gate
// and before another gate of the same process.
func (b *builder) nextAct(i int32, k gateKey, acts, gates map[gateKey][]int32) int32 {
	g, s := &b.cands[i], b.span(&b.cands[i])
	limit := int32(len(b.cands))
	from, _ := slices.BinarySearch(gates[k], i+1)
	for _, other := range gates[k][from:] {
		if b.span(&b.cands[other]).Instance == s.Instance {
			limit = other
			break
		}
	}
	from, _ = slices.BinarySearch(acts[k], i)
	for _, at := range acts[k][from:] {
		if b.cands[at].start < g.start {
			continue
		}
		if at > limit && b.cands[at].start >= b.cands[limit].start {
			break
		}
		act := b.span(&b.cands[at])
		if b.cands[at].gone || s.Attempt != 0 && act.Attempt != 0 && s.Attempt != act.Attempt {
			continue
		}
		if act.Instance != s.Instance && g.gate != GateNew {
			continue
		}
		if g.tool != "" && b.cands[at].tool != "" && !sameTool(g.tool, b.cands[at].tool) {
			continue
		}
		if other := b.cands[at].gate; other != GateUnset && other != g.gate {
			if act.Instance == s.Instance {
				break // the process's next decision, told by the act itself
			}
			continue
		}
		return at
	}
	return noSpan
}

func (b *builder) joinGate(to, g *cand) {
	to.spans = append(append([]int32(nil), b.members(to)...), g.node)
	g.gone = true
	to.gate = max(to.gate, g.gate)
	if to.key == "" {
		to.key = g.key
	}
	if to.target == "" {
		to.target = g.target
	}
}
