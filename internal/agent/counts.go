package agent

import "slices"

// CountsOf counts the steps of each kind (conventions, "Counts"). A step counts
// where one of its attempts does; an attempt counts where it was executed, or
// was requested and not seen. The array is indexed by Kind.
func CountsOf(r *Run) [KindOther + 1]KindCounts {
	var all [KindOther + 1]KindCounts
	for i := range r.Steps {
		st := &r.Steps[i]
		n := &all[st.Kind]
		counts := false
		for j := range st.Attempts {
			a := &st.Attempts[j]
			if !a.Executed {
				continue
			}
			counts = true
			n.Attempts++
			if failed(a.Outcome) {
				n.Errors++
			}
		}
		if counts {
			n.Steps++
		}
	}
	return all
}

// UsageOf adds up tokens and cost: per operation (the last attempt of each step
// that has any) and per attempt (all of them). Usage that only agent spans state
// is in both, once.
func UsageOf(r *Run) (perOperation, perAttempt Usage) {
	perOperation, perAttempt = r.AgentUsage, r.AgentUsage
	for i := range r.Steps {
		var last *Attempt
		for j := range r.Steps[i].Attempts {
			a := &r.Steps[i].Attempts[j]
			if !a.Tokens.Known && a.CostSource == CostSourceUnset {
				continue
			}
			perAttempt.add(a)
			last = a
		}
		if last != nil {
			perOperation.add(last)
		}
	}
	return perOperation, perAttempt
}

func (u *Usage) add(a *Attempt) {
	u.Tokens = u.Tokens.Add(a.Tokens)
	u.CostNano += a.CostNano
	u.CostSource = max(u.CostSource, a.CostSource)
}

// usageOfAgents keeps what agent spans state of tokens and cost where no model
// call below them has any: the outermost such span's, which sums those below.
func (b *builder) usageOfAgents(r *Run) {
	if !slices.ContainsFunc(b.g.nodes, b.frameUsage) {
		return
	}
	has := map[int32]bool{} // a model call, or another step, below has usage
	for i := range b.cands {
		c := &b.cands[i]
		if c.gone && c.op != OpModel || c.noSpan || !usage(b.span(c)) {
			continue
		}
		for up := b.a.nodes[c.node].parent; up >= 0 && !has[up]; up = b.a.nodes[up].parent {
			has[up] = true
		}
	}
	under := map[int32]bool{} // a frame above was taken
	for _, at := range b.g.nodes {
		if !b.frameUsage(at) || has[at] {
			continue
		}
		under[at] = true
	}
	for _, at := range b.g.nodes {
		if !under[at] || b.takenAbove(at, under) {
			continue
		}
		m := &b.a.steps[at].Model
		r.AgentUsage.Tokens = r.AgentUsage.Tokens.Add(m.Tokens)
		r.AgentUsage.CostNano += m.CostNano
		r.AgentUsage.CostSource = max(r.AgentUsage.CostSource, m.CostSource)
	}
}

func usage(s *Step) bool { return s.Model.Tokens.Known || s.Model.CostSource != CostSourceUnset }

// frameUsage reports whether a span that is no step states usage.
func (b *builder) frameUsage(at int32) bool {
	s := b.a.steps[at]
	return (s.Op == OpAgent || s.Op == OpWorkflow) && b.a.nodes[at].cand < 0 && usage(s)
}

func (b *builder) takenAbove(at int32, taken map[int32]bool) bool {
	for up, n := b.a.nodes[at].agent, 0; up >= 0 && n < maxDepth; up, n = b.a.nodes[up].agent, n+1 {
		if taken[up] {
			return true
		}
	}
	for up, n := b.a.nodes[at].parent, 0; up >= 0 && n < maxDepth; up, n = b.a.nodes[up].parent, n+1 {
		if taken[up] {
			return true
		}
	}
	return false
}

// maxDepth bounds a walk over ancestors that is made for many spans.
const maxDepth = 1000
