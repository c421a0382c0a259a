package agent

// ranAsAgent reports whether a call that a model requested is that of an agent
// which ran without a span of the call: one of the tool's name, under the agent
// that asked, begun after it did. The agent answers the request; it is no tool
// call.
func (b *builder) ranAsAgent(r *request) bool {
	if r.call.Tool == "" {
		return false
	}
	if b.under == nil {
		b.under = make(map[agentUnder]int64, len(b.lanes))
		for n := range b.lanes {
			l := &b.lanes[n]
			if l.agent < 0 {
				continue
			}
			k := agentUnder{b.a.nodes[l.agent].agent, l.name}
			began := b.a.steps[l.agent].Start
			if last, ok := b.under[k]; !ok || began > last {
				b.under[k] = began
			}
		}
	}
	asked := &b.cands[r.model]
	last, ok := b.under[agentUnder{b.a.nodes[asked.node].agent, r.call.Tool}]
	return ok && last >= asked.start
}

// agentUnder is an agent's name under another agent.
type agentUnder struct {
	above int32
	name  string
}
