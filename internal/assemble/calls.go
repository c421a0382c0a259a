package assemble

import (
	"hash/maphash"
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
)

// callToken is a hash of a call id within a service. Two ids with one hash may make
// a group of more than is one run, which costs time only.
type callToken uint64

func callTokenOf(tenant, service, id string) callToken {
	return callToken(mixed(maphash.String(textSeed, id) ^ maphash.String(textSeed, service)*prime1 ^ maphash.String(textSeed, tenant)*prime2))
}

// callGroups are the groups that have to do with a call id: mostly one.
type callGroups struct {
	one  *group
	role callRole
	all  *callRoles // instead, where it is more than one role of one group
}

// callRoles are the groups that ask for a call id, those that run it, and those
// that begin with its answer.
type callRoles struct {
	in   [3][]*group // by role
	dead bool        // several ask for it: the id tells nothing
}

// callRole is what a group has to do with a call id.
type callRole uint8

const (
	asksCall callRole = iota
	runsCall
	beginsWithAnswer
)

const callCost = 80

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
	t := callTokenOf(g.tenant, service, id)
	x, ok := o.calls[t]
	alone := ok && x.all == nil && x.one == g
	switch {
	case !ok && len(g.calls) >= maxCalls, alone && x.role == role:
		return g
	case !ok:
		o.calls[t] = callGroups{one: g, role: role}
		g.calls = append(g.calls, t)
		o.grow(g, callCost)
		return g
	case alone && x.role+role == asksCall+runsCall && len(g.calls) < maxCalls:
		o.forgetCall(t, g) // the usual case: it asked and ran the call itself
		return g
	case x.all == nil:
		x.all = &callRoles{}
		x.all.in[x.role] = []*group{x.one}
		x.one = nil
		o.calls[t] = x
	}
	c := x.all
	if list := &c.in[role]; !slices.Contains(*list, g) {
		if len(*list) >= maxCallGroups || len(g.calls) >= maxCalls {
			return g
		}
		if !c.has(g) {
			g.calls = append(g.calls, t)
			o.grow(g, callCost)
		}
		*list = append(*list, g)
	}
	asks, runs := c.in[asksCall], c.in[runsCall]
	c.dead = c.dead || len(asks) > 1
	if len(asks) == 1 && len(runs) == 1 && asks[0] == g && runs[0] == g {
		o.forgetCall(t, g)
		return g
	}
	if c.dead || len(asks) == 0 || slices.Contains(runs, asks[0]) {
		return g
	}
	return o.joinAsker(g, c)
}

// has reports whether a group has to do with the call.
func (c *callRoles) has(g *group) bool {
	return slices.Contains(c.in[asksCall], g) || slices.Contains(c.in[runsCall], g) || slices.Contains(c.in[beginsWithAnswer], g)
}

// joinAsker joins the group that asks for a call with those that run it, or go on
// with its answer.
func (o *Open) joinAsker(g *group, c *callRoles) *group {
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
	for i := len(g.calls) - 1; i >= 0; i-- { // mostly it came lately
		if g.calls[i] == t {
			o.grow(g, -callCost)
			g.calls = slices.Delete(g.calls, i, i+1)
			return
		}
	}
}

func (o *Open) dropCall(t callToken, g *group) {
	x, ok := o.calls[t]
	if !ok {
		return
	}
	none := x.one == g
	if x.all != nil {
		none = true
		for role := range x.all.in {
			x.all.in[role] = slices.DeleteFunc(x.all.in[role], func(y *group) bool { return y == g })
			none = none && len(x.all.in[role]) == 0
		}
	}
	if none {
		delete(o.calls, t)
	}
}

// moveCall puts one group in the place of another.
func (o *Open) moveCall(t callToken, from, to *group) {
	x, ok := o.calls[t]
	switch {
	case !ok:
		return
	case x.all == nil:
		if x.one == from {
			x.one = to
			o.calls[t] = x
		}
		return
	}
	for role := range x.all.in {
		list := &x.all.in[role]
		if i := slices.Index(*list, from); i >= 0 {
			(*list)[i] = to
			if slices.Index(*list, to) != i || slices.Contains((*list)[i+1:], to) {
				*list = slices.Delete(*list, i, i+1)
			}
		}
	}
}
