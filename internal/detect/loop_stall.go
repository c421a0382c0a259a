package detect

import (
	"strconv"

	"github.com/steptrail/steptrail/internal/agent"
)

// loopStall raises loop.stall: a number of tool steps of a lane, one after the
// other, none of which brought news. One finding per run.
func loopStall(x *scene) []agent.Finding {
	window := x.detection.StallWindow
	if window <= 0 {
		return nil
	}
	var found []agent.Finding
	lanes := x.inLanes()
	for i := range lanes {
		if len(lanes[i].calls) >= window {
			found = x.stalls(&lanes[i], window, found)
		}
	}
	return found
}

// news is what a tool step brought.
type news uint8

const (
	newsYes    news = iota
	newsNo          // nothing
	newsHidden      // the record does not tell
)

// memory is what a lane has seen.
type memory struct {
	calls   []bool // by class
	results map[agent.Digest]bool
	errors  map[string]bool
	said    map[agent.Digest]bool
}

// stretch is a row of steps without news.
type stretch struct {
	from, to, n int
	closing     int  // the call with which the row was long enough
	allNew      bool // every step of it had new arguments
}

func (x *scene) stalls(l *lane, window int, found []agent.Finding) []agent.Finding {
	mem := memory{calls: make([]bool, len(x.equalCalls().named)+1), results: make(map[agent.Digest]bool, len(l.calls)), errors: map[string]bool{}}
	var s stretch
	model := 0
	for i := range l.calls {
		c := &l.calls[i]
		fresh := i > 0 && l.calls[i-1].era != c.era
		for ; model < len(l.models) && l.models[model].at.Start <= c.start; model++ {
			fresh = x.saysNew(l.models[model].at, &mem) || fresh
		}
		if fresh {
			found = x.closeStretch(l, s, window, found)
			s = stretch{}
		}
		if t := x.tool(c.at.Tool); t != nil && t.Repeat != nil {
			continue
		}
		got, newArguments := c.news(&mem)
		switch got {
		case newsHidden:
		case newsYes:
			found = x.closeStretch(l, s, window, found)
			s = stretch{}
		case newsNo:
			if s.n == 0 {
				s = stretch{from: i, allNew: true}
			}
			s.n++
			s.to, s.allNew = i, s.allNew && newArguments
			if s.n == window {
				s.closing = i
			}
		}
	}
	return x.closeStretch(l, s, window, found)
}

// saysNew reports whether a model call said a text that the lane has not had.
func (x *scene) saysNew(a *agent.Attempt, mem *memory) bool {
	fresh := false
	for _, ref := range a.Outputs {
		f := x.Run.Facts[ref]
		if f == nil || f.Text.IsZero() || mem.said[f.Text] {
			continue
		}
		if mem.said == nil {
			mem.said = map[agent.Digest]bool{}
		}
		mem.said[f.Text], fresh = true, true
	}
	return fresh
}

// news tells what a call brought, and remembers it.
func (c *call) news(mem *memory) (got news, newArguments bool) {
	a := c.last
	newArguments = c.class != 0 && !mem.calls[c.class]
	if c.class != 0 {
		mem.calls[c.class] = true
	}
	failed := a.Outcome == agent.OutcomeError || a.Outcome == agent.OutcomeUnknown
	switch {
	case a.Outcome == agent.OutcomeDeferred:
		return newsHidden, newArguments
	case c.step.Kind == agent.KindAct:
		switch {
		case failed, a.Outcome == agent.OutcomeRefused:
			return newsNo, newArguments
		case c.class == 0:
			return newsHidden, newArguments
		case newArguments:
			return newsYes, true
		}
		return newsNo, false
	case failed:
		kind := errorName(a)
		if mem.errors[kind] {
			return newsNo, newArguments
		}
		mem.errors[kind] = true
		return newsYes, newArguments
	case a.Outcome == agent.OutcomeRefused:
		return newsNo, newArguments
	}
	return c.readNews(mem, newArguments), newArguments
}

// readNews: a read that ended ok.
func (c *call) readNews(mem *memory, newArguments bool) news {
	res := c.last.Result
	if res.State != agent.RecordedYes {
		return newsHidden
	}
	if !mem.results[res.Digest] {
		mem.results[res.Digest] = true
		return newsYes
	}
	if form := c.last.Facts().Form; form == agent.ResultFormEmpty || form == agent.ResultFormPage {
		return newsNo // nothing, or one page behind many addresses
	}
	switch {
	case newArguments:
		return newsYes
	case c.class == 0:
		return newsHidden
	}
	return newsNo
}

func (x *scene) closeStretch(l *lane, s stretch, window int, found []agent.Finding) []agent.Finding {
	if s.n < window {
		return found
	}
	first, closing := &l.calls[s.from], &l.calls[s.closing]
	f := agent.Finding{
		Severity: agent.SeverityWarning, Step: first.step.ID, Agent: first.step.Agent, DetectedAt: closing.end, Waste: l.waste(s.from, s.to),
		Message: strconv.Itoa(s.n) + " tool steps in a row brought nothing new, over " + lapse(l.calls[s.to].end-first.start) + "; the last was " +
			what(l.calls[s.to].at.Tool, l.calls[s.to].at.Target),
	}
	if s.allNew {
		f.Severity = agent.SeverityInfo
		f.Message += "; each was asked in a new way, so it may be a search that finds nothing"
	}
	for i := s.from; i <= s.to && len(f.Evidence) < maxEvidence; i++ {
		f.Evidence = append(f.Evidence, evidence(l.calls[i].at))
	}
	return append(found, f)
}
