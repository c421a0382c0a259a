package assemble

import (
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
)

// callToken is a call id within a service.
type callToken struct{ tenant, service, id string }

// callGroups are the groups that ask for a call id, and those that run it or go
// on with its answer.
type callGroups struct {
	asks, runs []*group
	dead       bool // several ask for it: the id tells nothing
}

const callCost = 200

// joinByCall joins a group that asks for a call and does not run it with those
// that do. Which of them are one run is decided by package agent.
func (o *Open) joinByCall(g *group, s *agent.Step) *group {
	switch s.Op {
	case agent.OpModel:
		if len(g.facts) == 0 {
			return g
		}
		for _, r := range s.Model.Outputs {
			if f := g.facts[r]; f != nil {
				for i := range f.Calls {
					g = o.noteCall(g, s.Service, f.Calls[i].ID, true)
				}
			}
		}
		if len(s.Model.Context) > 0 && !g.hasBegun(s) {
			g = o.noteAnswers(g, s)
		}
	case agent.OpTool:
		if s.Sign != agent.SignDeferred && s.Sign != agent.SignRefused {
			g = o.noteCall(g, s.Service, s.Call.ID, false)
		}
	default:
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
			g = o.noteCall(g, s.Service, f.Answers[k].ID, false)
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
	for i := len(g.steps) - 1; i >= max(0, len(g.steps)-lookBack); i-- {
		x := g.steps[i]
		if x.Op == agent.OpModel && x.Start < s.Start && len(x.Model.Context) > 0 && x.Trace == s.Trace && x.Unit == s.Unit {
			return true
		}
	}
	return false
}

func (o *Open) noteCall(g *group, service, id string, asks bool) *group {
	if id == "" {
		return g
	}
	t := callToken{g.tenant, service, id}
	c := o.calls[t]
	if c == nil {
		c = &callGroups{}
		t.service, t.id = own(service), own(id)
		o.calls[t] = c
	}
	list := &c.runs
	if asks {
		list = &c.asks
	}
	if !slices.Contains(*list, g) {
		if len(*list) >= maxCallGroups || len(g.calls) >= maxCalls {
			return g
		}
		if !slices.Contains(c.asks, g) && !slices.Contains(c.runs, g) {
			g.calls = append(g.calls, t)
			o.grow(g, callCost+int64(len(t.id)))
		}
		*list = append(*list, g)
	}
	c.dead = c.dead || len(c.asks) > 1
	if len(c.asks) == 1 && len(c.runs) == 1 && c.asks[0] == g && c.runs[0] == g {
		o.forgetCall(t, g) // the usual case: it asked and ran the call itself
		return g
	}
	if c.dead || len(c.asks) == 0 || slices.Contains(c.runs, c.asks[0]) {
		return g
	}
	for len(c.runs) > 0 {
		asker, other := c.asks[0], c.runs[0]
		if asker == other {
			break
		}
		if !mayJoin(asker, other) {
			refuse(asker, other)
			break
		}
		merged := o.merge(asker, other)
		if g.gone {
			g = merged
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
	is := func(x *group) bool { return x == g }
	c.asks, c.runs = slices.DeleteFunc(c.asks, is), slices.DeleteFunc(c.runs, is)
	if len(c.asks)+len(c.runs) == 0 {
		delete(o.calls, t)
	}
}

// moveCall puts one group in the place of another.
func (o *Open) moveCall(t callToken, from, to *group) {
	c := o.calls[t]
	if c == nil {
		return
	}
	for _, list := range [...]*[]*group{&c.asks, &c.runs} {
		if i := slices.Index(*list, from); i >= 0 {
			(*list)[i] = to
			if slices.Index(*list, to) != i || slices.Contains((*list)[i+1:], to) {
				*list = slices.Delete(*list, i, i+1)
			}
		}
	}
}
