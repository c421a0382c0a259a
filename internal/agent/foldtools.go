package agent

import "slices"

// maxChain is how many spans one tool attempt has at most.
const maxChain = 6

// shortOverlap is an overlap that is none, in nanoseconds.
const shortOverlap = 1_000_000

// isAfter reports whether what began at start came after what ended at end. Clients
// round: JavaScript's SDK cuts starts to the millisecond, and ends not.
func isAfter(start, end int64) bool { return start > end-shortOverlap }

// foldTools makes one attempt of the spans of one tool call: nested ones, a
// CLIENT with its SERVER, and what a durable engine sent again.
func (b *builder) foldTools() {
	links := chains{}
	b.nestedTools(links)
	b.servedTools(links)
	if len(links) > 0 {
		b.foldLinks(links)
	}
	b.foldReplays()
}

// partners are the spans of one call on either side of a span; -1 for none.
type partners struct{ up, down int32 }

// chains ties candidates to their partners.
type chains map[int32]partners

func (l chains) of(i int32) partners {
	if p, ok := l[i]; ok {
		return p
	}
	return partners{noSpan, noSpan}
}

// tie makes two spans partners, if both sides are free.
func (l chains) tie(up, down int32) bool {
	x, y := l.of(up), l.of(down)
	if x.down >= 0 || y.up >= 0 {
		return false
	}
	x.down, y.up = down, up
	l[up], l[down] = x, y
	return true
}

func (b *builder) nestedTools(links chains) {
	for i := range b.cands {
		c := &b.cands[i]
		if c.op != OpTool {
			continue
		}
		up := b.a.nodes[c.node].tool
		if up < 0 || b.a.nodes[up].run != b.run || b.a.nodes[up].cand < 0 {
			continue
		}
		at := b.a.nodes[up].cand
		if x := &b.cands[at]; oneCall(x, c) || executionOf(x, c) {
			links.tie(at, int32(i))
		}
	}
}

// servedTools pairs each SERVER span with the latest CLIENT span of the tool
// that it begins during.
func (b *builder) servedTools(links chains) {
	var clients map[string][]int32
	for i := range b.cands {
		if c := &b.cands[i]; c.op == OpTool && b.span(c).SpanKind == "client" {
			if clients == nil {
				clients = map[string][]int32{}
			}
			clients[c.tool] = append(clients[c.tool], int32(i))
		}
	}
	if clients == nil {
		return
	}
	for i := range b.cands {
		c := &b.cands[i]
		if c.op != OpTool || b.span(c).SpanKind != "server" || links.of(int32(i)).up >= 0 {
			continue
		}
		list := clients[c.tool]
		for n := len(list) - 1; n >= max(0, len(list)-few); n-- {
			x := &b.cands[list[n]]
			if servedBy(x, c) && oneCall(x, c) && links.tie(list[n], int32(i)) {
				break
			}
		}
	}
}

// servedBy reports whether a server's span begins during its client's.
func servedBy(client, server *cand) bool {
	if server.start < client.start || server.start > client.end {
		return false
	}
	return server.end <= client.end || client.end-server.start >= shortOverlap
}

// oneCall reports whether nothing says that two spans are two calls.
func oneCall(x, y *cand) bool {
	switch {
	case !sameTool(x.tool, y.tool):
		return false
	case x.callID != "" && y.callID != "" && x.callID != y.callID:
		return false
	}
	return !differ(x.args.Digest, y.args.Digest)
}

// executionOf reports whether a span inside a tool span is the execution of its
// call, which it names by the id only.
func executionOf(call, inner *cand) bool {
	return inner.tool == "" && inner.callID != "" && inner.callID == call.callID
}

// foldLinks folds each chain of partners into its outermost span, at most six
// spans at a time. The cands are in order, so the fold of a chain does not
// depend on where it is entered.
func (b *builder) foldLinks(links chains) {
	for i := range b.cands {
		if p := links.of(int32(i)); p.up >= 0 || p.down < 0 {
			continue
		}
		head := int32(i)
		for head >= 0 {
			n := 1
			at := links.of(head).down
			into := &b.cands[head]
			into.spans = []int32{into.node}
			for ; at >= 0 && n < maxChain; n++ {
				b.fold(into, &b.cands[at])
				at = links.of(at).down
			}
			head = at
		}
	}
}

// fold adds a span to the attempt around it.
func (b *builder) fold(into, c *cand) {
	into.spans = append(into.spans, c.node)
	c.gone = true
	if into.args.State < c.args.State {
		into.args, into.sent = c.args, c.sent
	}
	if into.sent.IsZero() {
		into.sent = c.sent
	}
	if into.result.State < c.result.State {
		into.result = c.result
	}
	if into.callID == "" {
		into.callID = c.callID
	}
	if into.target == "" {
		into.target = c.target
	}
	if into.key == "" {
		into.key = c.key
	}
	if into.gate == GateUnset {
		into.gate = c.gate
	}
	if into.source > c.source || into.kind == KindUnset {
		into.kind, into.source, into.class = c.kind, c.source, c.class
	}
}

// foldReplays: the same call id with equal arguments and an equal result in a
// later trace or process is what a durable engine sent again. LangGraph is none:
// it runs what it repeats.
func (b *builder) foldReplays() {
	type call struct {
		tool, id string
	}
	var seen map[call][]int32
	for i := range b.cands {
		c := &b.cands[i]
		if c.gone || c.op != OpTool || c.callID == "" || c.result.Digest.IsZero() || b.span(c).Checkpoint != "" {
			continue
		}
		if seen == nil {
			seen = map[call][]int32{}
		}
		k := call{c.tool, c.callID}
		n := slices.IndexFunc(seen[k], func(f int32) bool { return b.replayed(&b.cands[f], c) })
		if n < 0 {
			if len(seen[k]) < few {
				seen[k] = append(seen[k], int32(i))
			}
			continue
		}
		b.absorb(&b.cands[seen[k][n]], c)
	}
}

func (b *builder) replayed(x, y *cand) bool {
	xs, ys := b.span(x), b.span(y)
	if xs.Attempt != 0 && ys.Attempt != 0 && xs.Attempt != ys.Attempt {
		return false
	}
	return (xs.Trace != ys.Trace || xs.Instance != ys.Instance) && x.result.Digest.Same(y.result.Digest) && oneCall(x, y) && isAfter(y.start, x.end) &&
		(x.key == "" || y.key == "" || x.key == y.key)
}
