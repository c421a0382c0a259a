package agent

// ranAsAgent reports whether a call that a model requested is that of an agent
// which ran without a span of the call: one of the tool's name, under the agent
// that asked, begun after it did. The agent answers the request; it is no tool
// call.
func (b *builder) ranAsAgent(r *request) bool {
	if r.call.Tool == "" {
		return false
	}
	asked := &b.cands[r.model]
	above := b.a.nodes[asked.node].agent
	for n := range b.lanes {
		l := &b.lanes[n]
		if l.agent < 0 || l.name != r.call.Tool {
			continue
		}
		if s := b.a.steps[l.agent]; b.a.nodes[l.agent].agent == above && s.Start >= asked.start {
			return true
		}
	}
	return false
}
