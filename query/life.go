package query

import (
	"context"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/query/api"
)

// life is the unknown outcomes of a run as they stand now, with what people said
// of them.
type life struct {
	server *Server
	run    *agent.Run
	all    []agent.Unknown
	said   []agent.ResolutionRecord // in the order in which it counts
	now    time.Time
}

// life reads what people said of the run, and derives what is still open.
func (s *Server) life(ctx context.Context, r UnknownReader, run *agent.Run, now time.Time) (*life, error) {
	if l := s.lifeOf(run, nil, now); len(l.all) == 0 {
		return l, nil
	}
	said, err := r.Resolutions(ctx, run.Units)
	if err != nil {
		return nil, err
	}
	return s.lifeOf(run, said, now), nil
}

func (s *Server) lifeOf(run *agent.Run, said []agent.ResolutionRecord, now time.Time) *life {
	l := &life{server: s, run: run, said: said, now: now}
	rules := agent.UnknownRules{}
	for i := range said {
		rules.Resolutions = append(rules.Resolutions, said[i].Resolution)
	}
	if p := s.opts.Policy; p != nil {
		rules.IsReconciledBy = func(act, look string) bool { return p.Tool(act).IsReconciledBy(look) }
	}
	l.all = agent.Unknowns(run, rules)
	return l
}

func (l *life) attempt(i int) *agent.Attempt {
	u := &l.all[i]
	return &l.run.Steps[u.Step].Attempts[u.Attempt]
}

// settle marks findings about outcomes that are settled by now as resolved: the
// sweep, which writes that down, may not have seen it yet.
func (l *life) settle(found []agent.Finding) {
	for i := range l.all {
		if l.all[i].Open() {
			continue
		}
		if f := findingAbout(found, &l.run.Steps[l.all[i].Step], l.attempt(i)); f != nil {
			asSettled(f)
		}
	}
}

// asSettled makes a finding what it is once its outcome is settled.
func asSettled(f *agent.Finding) {
	if f.Status == agent.StatusOpen {
		f.Status, f.Severity = agent.StatusResolved, min(f.Severity, agent.SeverityWarning)
	}
}

// find gives the unknown outcome that a finding is about, -1 if it is none of
// this run's.
func (l *life) find(f *agent.Finding) int {
	if len(f.Evidence) == 0 {
		return -1
	}
	first := f.Evidence[0] // the attempt itself
	for i := range l.all {
		a := l.attempt(i)
		if a.Trace == first.Trace && a.Span == first.Span && (f.Step == "" || f.Step == l.run.Steps[l.all[i].Step].ID) &&
			(first.Attempt == 0 || first.Attempt == a.Number) {
			return i
		}
	}
	return -1
}

// object gives an unknown outcome as the API has it.
func (l *life) object(i int, found []agent.Finding) api.Unknown {
	u, a := &l.all[i], l.attempt(i)
	st := &l.run.Steps[u.Step]
	f := findingAbout(found, st, a)
	open := u.Open() && (f == nil || f.Status != agent.StatusResolved)
	out := api.Unknown{
		RunID: l.run.ID, StepID: st.ID, Attempt: int(a.Number), Tool: or(a.Tool, st.Tool), Target: or(a.Target, st.Target), Key: a.Key,
		Agent: st.Agent, TraceID: a.Trace.String(), SpanID: a.Span.String(), Part: int(a.Part), Since: api.Timestamp(max(a.End, a.Start)),
		Status: api.UnknownStatusResolved,
	}
	if f != nil {
		out.ID = f.ID.String()
	}
	if !open {
		out.Settled = l.settled(u, a)
		return out
	}
	out.Status, out.Next = api.UnknownStatusOpen, l.next(a)
	if due, ever := l.due(a); ever {
		at := api.Timestamp(due)
		out.DueAt, out.Overdue = &at, due < l.now.UnixNano()
	}
	return out
}

// due is when an open outcome is overdue, if ever.
func (l *life) due(a *agent.Attempt) (at int64, ever bool) {
	p := l.server.opts.Policy
	if p == nil || p.Detection.UnknownSLA <= 0 {
		return 0, false
	}
	for _, s := range a.Own() {
		if s.Call.Repeatable {
			return 0, false
		}
	}
	if t := p.Tool(a.Tool); a.NoSpan && t != nil && t.Repeatable {
		return 0, false
	}
	return max(a.End, a.Start) + int64(p.Detection.UnknownSLA), true
}

// next is what the policy asks for. A span carries what it asked for when the
// span came; a call without one is looked up.
func (l *life) next(a *agent.Attempt) *api.UnknownNext {
	answer, looks := agent.OnUnknownUnset, []string(nil)
	switch {
	case !a.NoSpan:
		c := &a.Step().Call
		answer, looks = c.OnUnknown, c.ReconcileWith
	case l.server.opts.Policy != nil:
		if t := l.server.opts.Policy.Tool(a.Tool); t != nil {
			answer, _ = agent.ParseOnUnknown(t.OnUnknown.String())
			looks = t.ReconcileWith
		}
	}
	out := &api.UnknownNext{Action: api.UnknownNextActionReconcile, ReconcileWith: list(looks)}
	switch {
	case answer == agent.OnUnknownReplay && a.Key != "":
		out.Action = api.UnknownNextActionReplay
	case answer == agent.OnUnknownEscalate:
		out.Action = api.UnknownNextActionEscalate
	}
	return out
}

var settledBy = map[agent.SettledBy]api.SettledBy{
	agent.SettledByReconcile:  api.SettledByReconcile,
	agent.SettledByReplay:     api.SettledByReplay,
	agent.SettledByPerson:     api.SettledByPerson,
	agent.SettledByGate:       api.SettledByGate,
	agent.SettledByResolution: api.SettledByResolution,
}

// settled says how; nil where only the finding says that it was.
func (l *life) settled(u *agent.Unknown, a *agent.Attempt) *api.Settled {
	if u.Open() {
		return nil
	}
	out := &api.Settled{By: settledBy[u.By], Result: api.SettledResult(u.Way.String()), At: api.Timestamp(u.At)}
	if u.Settler != nil {
		out.TraceID, out.SpanID = u.Settler.Trace.String(), u.Settler.Span.String()
	}
	if u.By == agent.SettledByResolution {
		if rec := l.record(a); rec != nil {
			out.Actor, out.Note = rec.Actor, rec.Note
		}
	}
	return out
}

// record is the word of a person that counts for an attempt: the first.
func (l *life) record(a *agent.Attempt) *agent.ResolutionRecord {
	for i := range l.said {
		rec := &l.said[i]
		if rec.Part != a.Part {
			continue
		}
		for _, s := range a.Spans {
			if s.Trace == rec.Trace && s.Span == rec.Span {
				return rec
			}
		}
	}
	return nil
}
