package assemble

import (
	"unsafe"

	"github.com/steptrail/steptrail/internal/agent"
)

const factCost = int64(unsafe.Sizeof(agent.MessageFacts{})) + mapCost

// keepFacts keeps what is known of the messages that a model call read and
// wrote. Inputs repeat each other, so what the one before held is passed over.
func (o *Open) keepFacts(g *group, s *agent.Step, facts map[agent.Ref]*agent.MessageFacts) {
	if len(facts) == 0 || len(s.Model.Context)+len(s.Model.Outputs) == 0 {
		return
	}
	for _, r := range s.Model.Context[common(g.context, s.Model.Context):] {
		o.keepFact(g, r, facts)
	}
	for _, r := range s.Model.Outputs {
		o.keepFact(g, r, facts)
	}
	g.context = s.Model.Context
}

func (o *Open) keepFact(g *group, r agent.Ref, facts map[agent.Ref]*agent.MessageFacts) {
	f := facts[r]
	said := f != nil && f.Role == agent.RoleAssistant && !f.Text.IsZero() // what the model said may be news
	if f == nil || len(f.Calls)+len(f.Answers) == 0 && !f.UserText && !said {
		return
	}
	if _, ok := g.facts[r]; ok {
		return
	}
	if g.facts == nil {
		g.facts = map[agent.Ref]*agent.MessageFacts{}
	}
	g.facts[r] = f
	o.grow(g, factSize(f))
}

// factSize estimates the memory of what is known of a message.
func factSize(f *agent.MessageFacts) int64 {
	size := factCost
	for i := range f.Calls {
		size += int64(unsafe.Sizeof(f.Calls[i])) + int64(len(f.Calls[i].ID)+len(f.Calls[i].Tool))
	}
	for i := range f.Answers {
		size += int64(unsafe.Sizeof(f.Answers[i])) + int64(len(f.Answers[i].ID)+len(f.Answers[i].Tool))
	}
	return size
}
