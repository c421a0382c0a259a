package query

import (
	"context"

	"github.com/steptrail/steptrail/internal/agent"
)

const (
	// windowBytes is about how much text a window holds at once.
	windowBytes = 8 << 20
	// Bodies of one fetch: at first, and at least and at most later.
	windowStart = 128
	windowLeast = 8
	windowMost  = 4096
)

// window reads bodies in the order of a plan, some at a time. It asks for as
// many as fill about windowBytes, going by the size of those before.
type window struct {
	ctx    context.Context //nolint:containedctx // lives for one answer
	reader RunReader
	units  []string
	plan   []agent.Ref
	next   int // plan index of the next body that is asked for
	loaded int // plan index up to which bodies are in have
	size   int // bodies of the next fetch
	have   map[agent.Ref]string
	err    error // the first that a fetch gave; then everything is missing
}

func newWindow(ctx context.Context, r RunReader, units []string, plan []agent.Ref) *window {
	return &window{ctx: ctx, reader: r, units: units, plan: plan, size: windowStart}
}

// body gives the next body of the plan, which must be the one asked for.
func (w *window) body(ref agent.Ref) (string, bool) {
	if w.err != nil {
		return "", false
	}
	if w.next >= len(w.plan) || w.plan[w.next] != ref {
		panic("BUG: a body was asked for out of the plan's order")
	}
	if w.next == w.loaded {
		w.fetch()
	}
	w.next++
	text, ok := w.have[ref]
	return text, ok
}

func (w *window) fetch() {
	refs := w.plan[w.loaded:min(w.loaded+w.size, len(w.plan))]
	distinct := make([]agent.Ref, 0, len(refs))
	seen := make(map[agent.Ref]bool, len(refs))
	for _, ref := range refs {
		if !seen[ref] {
			seen[ref] = true
			distinct = append(distinct, ref)
		}
	}
	w.have, w.err = w.reader.Bodies(w.ctx, w.units, distinct)
	w.loaded += len(refs)
	bytes := 0
	for _, text := range w.have {
		bytes += len(text)
	}
	if n := len(w.have); n > 0 {
		w.size = min(windowMost, max(windowLeast, windowBytes/(bytes/n+1)))
	}
}
