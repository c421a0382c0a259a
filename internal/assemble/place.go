package assemble

import (
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
)

// token is something that only spans of one group have.
type token struct {
	kind   tokenKind
	tenant string
	text   string // unit or checkpoint, with its service
	trace  agent.TraceID
}

type tokenKind uint8

const (
	tokenUnit tokenKind = iota
	tokenTrace
	tokenCheckpoint
)

const tokenCost = 160

// place finds the group of a step, makes one, or joins those that it shows to
// belong together. last is the group of the step before it in the batch.
func (o *Open) place(s *agent.Step, last *group) *group {
	g := last
	if last == nil || last.gone || !last.has(s) {
		g = o.of(token{kind: tokenTrace, tenant: s.Tenant, trace: s.Trace}, nil, true)
		if !g.has(s) {
			g = o.of(token{kind: tokenUnit, tenant: g.tenant, text: s.Unit}, g, true)
		}
	}
	open := g.several || g.plain
	switch id := s.Explicit(); {
	case id == "" || s.RunID == "" && s.DialectRunWeak:
		g.plain = true
	case id != g.explicit:
		g.setExplicit(id)
	}
	if !open && (g.several || g.plain) {
		g = o.retry(g)
	}
	for _, l := range s.Links {
		if l.Trace != s.Trace && !l.Trace.IsZero() && oneLink(s, l.Trace) {
			g = o.of(token{kind: tokenTrace, tenant: g.tenant, trace: l.Trace}, g, false)
			break
		}
	}
	if s.Checkpoint != "" {
		g = o.of(token{kind: tokenCheckpoint, tenant: g.tenant, text: s.Service + "\x00" + s.Checkpoint}, g, false)
	}
	return g
}

// has reports whether a step stands in the unit and trace of the group's newest
// one, so that it needs no look-up.
func (g *group) has(s *agent.Step) bool {
	x := g.newest()
	return x != nil && x.Trace == s.Trace && x.Unit == s.Unit && g.tenant == s.Tenant
}

// oneLink reports whether all links of a span lead into one other trace.
func oneLink(s *agent.Step, to agent.TraceID) bool {
	for _, l := range s.Links {
		if l.Trace != to && l.Trace != s.Trace && !l.Trace.IsZero() {
			return false
		}
	}
	return true
}

// of gives the group of a token, joined with the group in hand if there is one.
// A unit and a trace are always one group; other tokens join only what may be
// one run.
func (o *Open) of(t token, with *group, always bool) *group {
	g, ok := o.tokens[t]
	switch {
	case ok && (with == nil || with == g):
		return g
	case ok && (always || mayJoin(g, with)):
		return o.merge(g, with)
	case ok:
		refuse(g, with)
		return with
	}
	if t.kind != tokenTrace {
		t.text = own(t.text)
	}
	if with == nil {
		with = o.newGroup(own(t.tenant))
	}
	t.tenant = with.tenant
	o.tokens[t] = with
	with.tokens = append(with.tokens, t)
	if t.kind == tokenUnit {
		with.units++
	}
	o.grow(with, tokenCost+int64(len(t.text)))
	return with
}

// refuse remembers that two groups would be joined, were it not for their ids.
func refuse(x, y *group) {
	for _, p := range [...][2]*group{{x, y}, {y, x}} {
		if t := p[1].tokens[0]; len(p[0].wants) < maxWants && !slices.Contains(p[0].wants, t) {
			p[0].wants = append(p[0].wants, t)
		}
	}
}

// maxWants bounds the refused joins that a group remembers.
const maxWants = 16

// retry takes the joins that were refused, now that a span of the group may
// belong to another run.
func (o *Open) retry(g *group) *group {
	for len(g.wants) > 0 {
		t := g.wants[0]
		g.wants = g.wants[1:]
		if other := o.tokens[t]; other != nil && other != g && mayJoin(g, other) {
			g = o.merge(g, other)
		}
	}
	return g
}

// placeLog adds content that came as a log record to the group of its span.
func (o *Open) placeLog(l *agent.LogContent, facts map[agent.Ref]*agent.MessageFacts, now int64) {
	g := o.of(token{kind: tokenTrace, tenant: l.Tenant, trace: l.Trace}, nil, true)
	o.arrived(g, now)
	o.loosen(g)
	if g.late || slices.ContainsFunc(g.logs, func(x agent.LogContent) bool {
		return x.Trace == l.Trace && x.Span == l.Span && x.Position == l.Position && x.Output == l.Output && x.Message == l.Message
	}) {
		return
	}
	kept := *l
	kept.Tenant, kept.Unit = g.tenant, own(l.Unit)
	g.logs = append(g.logs, kept)
	o.grow(g, logCost)
	o.keepFact(g, l.Message, facts)
	g.pending++
	o.considerLog(g, &kept, now)
	if len(g.logs) > 4*g.limit(o.limits.Window) {
		o.setLate(g)
		return
	}
	o.joinByLog(g, &kept)
}
