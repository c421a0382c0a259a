package detect

import (
	"slices"
	"sort"

	"github.com/steptrail/steptrail/internal/agent"
)

// consent is a person's answer to the question whether an act may run.
type consent struct {
	at       *agent.Attempt
	end      int64
	approves bool
	edited   bool
	callID   string // of another span
	target   string
	tool     string
	around   *agent.Step // the tool span that it lies under
	entries  []agent.Mark
	sent     agent.Digest // the hash of the approved arguments, as stated
	approved agent.Digest // of the call that it names
}

// differs reports whether an act has arguments other than those approved. One
// that shows none covers any.
func (c *consent) differs(a *agent.Attempt) bool {
	if c.edited {
		return false
	}
	if !c.sent.IsZero() && !a.Sent.IsZero() {
		return c.sent != a.Sent
	}
	return !c.approved.IsZero() && !a.Arguments.Digest.IsZero() && c.approved != a.Arguments.Digest
}

// consents are the answers of people in a run, and what each covers.
type consents struct {
	x       *scene
	all     []*consent // by end
	acts    []moment   // executed acts, in order
	covered map[*agent.Attempt]*consent
	byTool  map[string][]int // into acts
	byID    map[string][]int // by call id
	byPlace map[string][]int // by target
	byClass map[classID][]int
}

// consents works out once which acts of the run a person approved.
func (x *scene) consents() *consents {
	if x.agreed != nil {
		return x.agreed
	}
	c := &consents{x: x, covered: map[*agent.Attempt]*consent{}}
	x.agreed = c
	for i := range x.Run.Steps {
		st := &x.Run.Steps[i]
		if st.Kind != agent.KindHuman {
			continue
		}
		for j := range st.Attempts {
			if a, ok := x.consent(&st.Attempts[j]); ok {
				c.all = append(c.all, a)
			}
		}
	}
	if len(c.all) == 0 {
		return c
	}
	slices.SortStableFunc(c.all, func(a, b *consent) int {
		if a.end != b.end {
			if a.end < b.end {
				return -1
			}
			return 1
		}
		return agent.CompareAttempts(a.at, b.at)
	})
	c.index()
	for _, a := range c.all {
		if a.approves {
			c.cover(a)
		}
	}
	return c
}

// consent reads a person's answer; not ok where the step holds none.
func (x *scene) consent(a *agent.Attempt) (*consent, bool) {
	f := a.Facts()
	d := agent.DecisionUnset
	for _, s := range a.Spans {
		if d == agent.DecisionUnset {
			d = s.Decision
		}
	}
	if d == agent.DecisionUnset {
		d = f.Decision
	}
	switch d {
	case agent.DecisionApproved, agent.DecisionEdited, agent.DecisionRejected, agent.DecisionExpired:
	default:
		return nil, false
	}
	c := &consent{
		at: a, end: max(a.End, a.Start), approves: d == agent.DecisionApproved || d == agent.DecisionEdited, edited: d == agent.DecisionEdited,
		callID: a.CallID, target: a.Target, tool: f.Tool, entries: f.Entries,
	}
	if f.HashStated {
		c.sent = a.Sent
	}
	if c.around = x.toolAround(a.Step()); c.tool == "" && c.around != nil {
		c.tool = c.around.Call.Tool
	}
	return c, true
}

// toolAround is the tool span that a span lies under; nil if there is none.
func (x *scene) toolAround(s *agent.Step) *agent.Step {
	if s.Parent.IsZero() {
		return nil
	}
	if x.parents == nil {
		x.parents = make(map[agent.Link]*agent.Step, len(x.Run.Spans))
		for _, p := range x.Run.Spans {
			x.parents[agent.Link{Trace: p.Trace, Span: p.Span}] = p
		}
	}
	const maxDepth = 64
	for range maxDepth {
		p := x.parents[agent.Link{Trace: s.Trace, Span: s.Parent}]
		switch {
		case p == nil || p.Op == agent.OpAgent:
			return nil
		case p.Op == agent.OpTool:
			return p
		}
		s = p
	}
	return nil
}

func (c *consents) index() {
	c.byTool, c.byID, c.byPlace, c.byClass = map[string][]int{}, map[string][]int{}, map[string][]int{}, map[classID][]int{}
	c.x.equalCalls()
	for _, m := range c.x.timeline() {
		if m.step.Kind != agent.KindAct || !m.at.Executed {
			continue
		}
		n := len(c.acts)
		c.acts = append(c.acts, m)
		c.byTool[m.at.Tool] = append(c.byTool[m.at.Tool], n)
		if m.at.CallID != "" {
			c.byID[m.at.CallID] = append(c.byID[m.at.CallID], n)
		}
		if m.at.Target != "" {
			c.byPlace[m.at.Target] = append(c.byPlace[m.at.Target], n)
		}
		if m.class != 0 {
			c.byClass[m.class] = append(c.byClass[m.class], n)
		}
	}
	for _, a := range c.all {
		if a.callID == "" {
			continue
		}
		if len(c.byID[a.callID]) == 0 {
			a.callID = "" // its own id, which names no other span
			continue
		}
		a.approved = c.argumentsOf(a)
	}
}

// argumentsOf are the arguments of the call that an approval names, as it stood
// when the person saw it.
func (c *consents) argumentsOf(a *consent) agent.Digest {
	st := c.acts[c.byID[a.callID][0]].step
	for j := range st.Attempts {
		if d := &st.Attempts[j]; d.CallID == a.callID && d.Start <= a.end && !d.Arguments.Digest.IsZero() {
			return d.Arguments.Digest
		}
	}
	return agent.Digest{}
}

// cover gives an approval to what it was given for: one step with all its
// attempts, or one for each entry of its list, and calls equal to it as long as
// none ended ok.
func (c *consents) cover(a *consent) {
	if n := c.asking(a); n >= 0 {
		c.covered[c.acts[n].at] = a
		return
	}
	if a.callID == "" && len(a.entries) > 0 {
		named := false
		for _, entry := range a.entries {
			n := c.first(a, c.from(a), func(m moment) bool { return (a.tool == "" || a.tool == m.at.Tool) && isNamed(m.at, entry) })
			if n >= 0 {
				named = true
				c.give(a, n)
			}
		}
		if named {
			return
		}
	}
	n := -1
	switch {
	case a.callID != "":
		n = c.first(a, c.byID[a.callID], nil)
	case a.target != "":
		n = c.first(a, c.byPlace[a.target], nil)
		if a.tool != "" {
			other := c.first(a, c.byTool[a.tool], func(m moment) bool { return m.at.Target == "" })
			if n < 0 || other >= 0 && other < n {
				n = other
			}
		}
	case a.tool != "":
		n = c.first(a, c.byTool[a.tool], nil)
	}
	if n >= 0 {
		c.give(a, n)
	}
}

// asking is the act that asked for the approval itself, before it went on: the
// approval lies in its span. -1 if there is none.
func (c *consents) asking(a *consent) int {
	if a.around == nil {
		return noAct
	}
	list := c.byTool[a.around.Call.Tool]
	i := sort.Search(len(list), func(i int) bool { return c.acts[list[i]].at.Start > a.end })
	for _, n := range slices.Backward(list[max(0, i-maxUnderKey):i]) {
		if m := c.acts[n].at; m.End >= a.end && c.covered[m] == nil && slices.Contains(m.Spans, a.around) {
			return n
		}
	}
	return noAct
}

const noAct = -1

// from gives the acts among which an entry's is looked for.
func (c *consents) from(a *consent) []int {
	if a.tool != "" {
		return c.byTool[a.tool]
	}
	if c.x.allActs == nil {
		for n := range c.acts {
			c.x.allActs = append(c.x.allActs, n)
		}
	}
	return c.x.allActs
}

// first is the act that began first after the approval, is not covered yet and
// fits; -1 if none does.
func (c *consents) first(a *consent, list []int, fits func(moment) bool) int {
	i := sort.Search(len(list), func(i int) bool { return c.acts[list[i]].at.Start >= a.end })
	for _, n := range list[i:min(len(list), i+maxUnderKey)] {
		m := c.acts[n]
		if c.covered[m.at] == nil && (fits == nil || fits(m)) {
			return n
		}
	}
	return -1
}

// give covers a step and the calls equal to it, until one of them has ended ok.
func (c *consents) give(a *consent, n int) {
	m := c.acts[n]
	c.giveStep(a, m.step)
	if m.class == 0 {
		return
	}
	list := c.byClass[m.class]
	var done int64 // when the first of them ended ok; 0: none has
	i := sort.Search(len(list), func(i int) bool { return c.acts[list[i]].at.Start >= a.end })
	for _, k := range list[i:min(len(list), i+maxUnderKey)] {
		e := c.acts[k]
		if done != 0 && e.at.Start >= done {
			return
		}
		if c.covered[e.at] == nil {
			c.giveStep(a, e.step)
		}
		if e.at.Outcome == agent.OutcomeOK && (done == 0 || e.at.End < done) {
			done = max(e.at.End, e.at.Start)
		}
	}
}

func (c *consents) giveStep(a *consent, st *agent.RunStep) {
	for j := range st.Attempts {
		if at := &st.Attempts[j]; at.Start >= a.end && c.covered[at] == nil {
			c.covered[at] = a
		}
	}
}

// isNamed reports whether an entry of a list names a call: by its id, its step
// id, its target or the last part of that, or a value of its arguments.
func isNamed(a *agent.Attempt, entry agent.Mark) bool {
	f := a.Facts()
	return slices.Contains(f.Names, entry) || slices.ContainsFunc(f.Values, func(v agent.Value) bool { return v.Mark == entry })
}

// refusal is the last refusal that a person gave for an act before it began; nil
// if there is none.
func (c *consents) refusal(a *agent.Attempt) *consent {
	for i := len(c.all) - 1; i >= 0; i-- {
		no := c.all[i]
		if no.approves || no.end > a.Start {
			continue
		}
		switch {
		case no.callID != "":
			if no.callID == a.CallID {
				return no
			}
		case no.target != "" && a.Target != "":
			if no.target == a.Target {
				return no
			}
		case no.tool != "" && no.tool == a.Tool:
			return no
		}
	}
	return nil
}

// approvedBetween reports whether a person approved an execution after a time.
func (x *scene) approvedBetween(m moment, from int64) bool {
	by := x.consents().covered[m.at]
	return by != nil && by.end >= from
}
