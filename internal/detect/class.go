package detect

import "github.com/steptrail/steptrail/internal/agent"

// classID numbers the calls of a run: equal calls have one number. Zero is a
// call whose arguments are not known, which is equal to none.
type classID int32

// callName is what makes calls equal: tool, target and arguments, the latter as
// canonical form or as hash of what was sent. A hash is compared with hashes
// only.
type callName struct {
	tool, target string
	arguments    agent.Digest
	sent         bool
}

// classes finds out which calls of a run are equal.
type classes struct {
	ids   map[callName]classID
	named []callName // by id-1, the first name of each
}

func newClasses(n int) *classes { return &classes{ids: make(map[callName]classID, n)} }

// of gives the class of a call.
func (c *classes) of(a *agent.Attempt) classID {
	if a.Tool == "" {
		return 0
	}
	byContent := callName{a.Tool, a.Target, a.Arguments.Digest, false}
	bySent := callName{a.Tool, a.Target, a.Sent, true}
	hasContent := a.Arguments.State == agent.RecordedYes && !a.Arguments.Digest.IsZero()
	hasSent := !a.Sent.IsZero()
	var id classID
	if hasContent {
		id = c.ids[byContent]
	}
	if id == 0 && hasSent {
		id = c.ids[bySent]
	}
	if id == 0 {
		switch {
		case hasContent:
			c.named = append(c.named, byContent)
		case hasSent:
			c.named = append(c.named, bySent)
		default:
			return 0
		}
		id = classID(len(c.named)) // fewer than spans
	}
	if hasContent {
		c.ids[byContent] = id
	}
	if hasSent {
		c.ids[bySent] = id
	}
	return id
}

// anchor names a class in a finding's id.
func (c *classes) anchor(id classID) string {
	n := c.named[id-1]
	if n.sent {
		return n.tool + "\x00" + n.target + "\x00sent:" + n.arguments.String()
	}
	return n.tool + "\x00" + n.target + "\x00" + n.arguments.String()
}

// equalCalls gives the run's classes, filled with all its tool calls in order of
// time, and notes the class of each in the timeline.
func (x *scene) equalCalls() *classes {
	if x.classed {
		return x.classes
	}
	x.classed = true
	line := x.timeline()
	n := 0
	for i := range line {
		if isCall(line[i].step.Kind) {
			n++
		}
	}
	x.classes = newClasses(n)
	for i := range line {
		if isCall(line[i].step.Kind) {
			line[i].class = x.classes.of(line[i].at)
		}
	}
	return x.classes
}

// isCall reports whether steps of a kind are tool calls.
func isCall(k agent.Kind) bool {
	return k == agent.KindRead || k == agent.KindAct || k == agent.KindReconcile
}

// stepAnchor names a step in a finding's id: the identity that its spans state,
// else its call; one whose arguments are not known is equal to no other and goes
// by its place.
func stepAnchor(st *agent.RunStep, a *agent.Attempt) string {
	for i := range st.Attempts {
		for _, s := range st.Attempts[i].Own() {
			if s.StepID != "" {
				return "step\x00" + s.StepID + "\x00" + family(st.Kind)
			}
			if s.DialectStep != "" {
				return "engine\x00" + s.DialectStep + "\x00" + family(st.Kind)
			}
		}
	}
	d := a.Arguments.Digest
	if d.IsZero() {
		d = a.Sent
	}
	if st.Kind == agent.KindThink {
		d = a.Input
	}
	if d.IsZero() {
		return "place\x00" + place(a)
	}
	return "call\x00" + a.Tool + "\x00" + a.Target + "\x00" + d.String()
}

// family is what may share a step id.
func family(k agent.Kind) string {
	switch k {
	case agent.KindThink, agent.KindHuman, agent.KindReconcile:
		return k.String()
	default:
		return "tool"
	}
}
