package assemble

import (
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
)

// callToken is a call id within a service.
type callToken struct{ tenant, service, id string }

// callGroups are the groups that ask for a call id, those that run it, and those
// that begin with its answer.
type callGroups struct {
	in   [3][]*group // by role
	one  [1]*group   // room for the first
	dead bool        // several ask for it: the id tells nothing
}

// callRole is what a group has to do with a call id.
type callRole uint8

const (
	asksCall callRole = iota
	runsCall
	beginsWithAnswer
)

const callCost = 200

// joinByCall joins a group that asks for a call and does not run it with those
// that do, or that go on with its answer. Which of them are one run is decided by
// package agent.
func (o *Open) joinByCall(g *group, s *agent.Step) *group {
	switch {
	case s.Op == agent.OpModel:
		for i := range g.logs {
			if l := &g.logs[i]; l.Span == s.Span && l.Trace == s.Trace {
				g = o.joinByMessage(g, s, l.Message, l.Output)
			}
		}
		if len(g.facts) == 0 {
			return g
		}
		for _, r := range s.Model.Outputs {
			g = o.joinByMessage(g, s, r, true)
		}
		if len(s.Model.Context) > 0 && !g.hasBegun(s) {
			g = o.noteAnswers(g, s)
		}
	case s.ExecutesCall():
		g = o.noteCall(g, s.Service, s.Call.ID, runsCall)
	}
	return g
}

// joinByLog is joinByCall for a message of a model call that came as a log
// record.
func (o *Open) joinByLog(g *group, l *agent.LogContent) {
	if i := g.find(spanKey{l.Trace, l.Span}); i >= 0 {
		o.joinByMessage(g, g.steps[i], l.Message, l.Output)
	}
}

// joinByMessage notes the calls that a message of a model call asks for, or
// answers.
func (o *Open) joinByMessage(g *group, s *agent.Step, ref agent.Ref, output bool) *group {
	f := g.facts[ref]
	if f == nil {
		return g
	}
	if output {
		for i := range f.Calls {
			if !agent.IsHandoffName(f.Calls[i].Tool) { // its id says nothing
				g = o.noteCall(g, s.Service, f.Calls[i].ID, asksCall)
			}
		}
		return g
	}
	for i := range f.Answers {
		g = o.noteCall(g, s.Service, f.Answers[i].ID, beginsWithAnswer)
	}
	return g
}

// noteAnswers notes the calls with whose answers a model input ends.
func (o *Open) noteAnswers(g *group, s *agent.Step) *group {
	for i := len(s.Model.Context) - 1; i >= 0; i-- {
		f := g.facts[s.Model.Context[i]]
		if f == nil || len(f.Answers) == 0 || f.UserText {
			break
		}
		for k := range f.Answers {
			g = o.noteCall(g, s.Service, f.Answers[k].ID, beginsWithAnswer)
		}
	}
	return g
}

// lookBack is how many steps back an earlier model call of the unit is looked
// for.
const lookBack = 64

// hasBegun reports whether the unit of a model call had an input before it: only
// the first may go on with a call of another unit. Later ones repeat what the
// unit itself has asked and run.
func (g *group) hasBegun(s *agent.Step) bool {
	if g.several {
		return false
	}
	if g.cold != nil {
		return g.cold.hasBegun(s)
	}
	for i := len(g.steps) - 1; i >= max(0, len(g.steps)-lookBack); i-- {
		x := g.steps[i]
		if x.Op == agent.OpModel && x.Start < s.Start && len(x.Model.Context) > 0 && x.Trace == s.Trace && x.Unit == s.Unit {
			return true
		}
	}
	return false
}

func (o *Open) noteCall(g *group, service, id string, role callRole) *group {
	if id == "" {
		return g
	}
	t := callToken{g.tenant, service, id}
	c := o.calls[t]
	if c == nil {
		if len(g.calls) >= maxCalls {
			return g
		}
		c = &callGroups{}
		c.in[role] = c.one[:0]
		t.service, t.id = own(service), own(id)
		o.calls[t] = c
	}
	if list := &c.in[role]; !slices.Contains(*list, g) {
		if len(*list) >= maxCallGroups || len(g.calls) >= maxCalls {
			return g
		}
		if !c.has(g) {
			g.calls = append(g.calls, t)
			o.grow(g, callCost+int64(len(t.id)))
		}
		*list = append(*list, g)
	}
	asks, runs := c.in[asksCall], c.in[runsCall]
	c.dead = c.dead || len(asks) > 1
	if len(asks) == 1 && len(runs) == 1 && asks[0] == g && runs[0] == g {
		o.forgetCall(t, g) // the usual case: it asked and ran the call itself
		return g
	}
	if c.dead || len(asks) == 0 || slices.Contains(runs, asks[0]) {
		return g
	}
	return o.joinAsker(g, c)
}

// has reports whether a group has to do with the call.
func (c *callGroups) has(g *group) bool {
	return slices.Contains(c.in[asksCall], g) || slices.Contains(c.in[runsCall], g) || slices.Contains(c.in[beginsWithAnswer], g)
}

// joinAsker joins the group that asks for a call with those that run it, or go on
// with its answer.
func (o *Open) joinAsker(g *group, c *callGroups) *group {
	for _, role := range [...]callRole{runsCall, beginsWithAnswer} {
		for {
			asker := c.in[asksCall][0]
			i := slices.IndexFunc(c.in[role], func(x *group) bool { return x != asker })
			if i < 0 {
				break
			}
			other := c.in[role][i]
			if !mayJoin(asker, other) {
				refuse(asker, other)
				break
			}
			merged := o.merge(asker, other)
			if g.gone {
				g = merged
			}
		}
	}
	return g
}

// maxCalls bounds the call ids of one group that wait for their execution.
const maxCalls = 4096

// maxCallGroups bounds the groups that are told apart under one call id.
const maxCallGroups = 4

// forgetCall drops a call id that tells nothing any more.
func (o *Open) forgetCall(t callToken, g *group) {
	delete(o.calls, t)
	if i := slices.Index(g.calls, t); i >= 0 {
		o.grow(g, -callCost-int64(len(t.id)))
		g.calls = slices.Delete(g.calls, i, i+1)
	}
}

func (o *Open) dropCall(t callToken, g *group) {
	c := o.calls[t]
	if c == nil {
		return
	}
	none := true
	for role := range c.in {
		c.in[role] = slices.DeleteFunc(c.in[role], func(x *group) bool { return x == g })
		none = none && len(c.in[role]) == 0
	}
	if none {
		delete(o.calls, t)
	}
}

// moveCall puts one group in the place of another.
func (o *Open) moveCall(t callToken, from, to *group) {
	c := o.calls[t]
	if c == nil {
		return
	}
	for role := range c.in {
		list := &c.in[role]
		if i := slices.Index(*list, from); i >= 0 {
			(*list)[i] = to
			if slices.Index(*list, to) != i || slices.Contains((*list)[i+1:], to) {
				*list = slices.Delete(*list, i, i+1)
			}
		}
	}
}
