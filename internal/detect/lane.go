package detect

import (
	"sort"

	"github.com/steptrail/steptrail/internal/agent"
)

// call is one tool call of a lane, as loops count them: an attempt, or a
// declared step with all its attempts.
type call struct {
	step       *agent.RunStep
	at         *agent.Attempt // the first; names it
	last       *agent.Attempt // its result counts
	start, end int64
	class      classID
	era        int32 // how often a person had spoken before
	attempts   int32
}

// lane is the row of steps in which loops are looked for.
type lane struct {
	calls  []call
	models []moment // its model calls
	others []int64  // starts of tools and hand-offs of kind other
	// Sums over models, up to and without each, for the waste of a stretch.
	tokens, cost []int64
}

// inLanes gives the calls and model calls of each lane in order of time.
func (x *scene) inLanes() []lane {
	if x.calls {
		return x.lanes
	}
	x.calls = true
	x.equalCalls()
	people := x.people()
	era := int32(0)
	var declared map[*agent.RunStep]bool
	x.makeLanes()
	for _, m := range x.timeline() {
		for int(era) < len(people) && people[era] <= m.at.Start {
			era++
		}
		l := &x.lanes[m.step.Lane]
		switch m.step.Kind {
		case agent.KindThink:
			l.models = append(l.models, m)
		case agent.KindRead, agent.KindAct, agent.KindReconcile:
			c := call{step: m.step, at: m.at, last: m.at, start: m.at.Start, end: max(m.at.End, m.at.Start), class: m.class, era: era, attempts: 1}
			if m.step.Declared && len(m.step.Attempts) > 1 {
				if declared[m.step] {
					continue
				}
				if declared == nil {
					declared = map[*agent.RunStep]bool{}
				}
				declared[m.step] = true
				c.whole()
			}
			l.calls = append(l.calls, c)
		case agent.KindOther:
			if m.step.Op == agent.OpTool || m.step.Op == agent.OpHandoff {
				l.others = append(l.others, m.at.Start)
			}
		default:
		}
	}
	return x.lanes
}

// makeLanes makes the lanes, with room for what goes into them.
func (x *scene) makeLanes() {
	n := 1
	for i := range x.Run.Steps {
		n = max(n, x.Run.Steps[i].Lane+1)
	}
	x.lanes = make([]lane, n)
	type size struct{ calls, models int }
	sizes := make([]size, n)
	for i := range x.Run.Steps {
		st := &x.Run.Steps[i]
		switch {
		case st.Kind == agent.KindThink:
			sizes[st.Lane].models += len(st.Attempts)
		case isCall(st.Kind):
			sizes[st.Lane].calls += len(st.Attempts)
		}
	}
	for i := range x.lanes {
		x.lanes[i].calls = make([]call, 0, sizes[i].calls)
		x.lanes[i].models = make([]moment, 0, sizes[i].models)
	}
}

// whole makes a call of all attempts of its step.
func (c *call) whole() {
	all := c.step.Attempts
	c.last, c.attempts = &all[len(all)-1], int32(len(all)) // fewer than spans
	for i := range all {
		c.end = max(c.end, all[i].End, all[i].Start)
	}
}

// result is what a call brought, for comparison.
type result struct {
	kind   resultKind
	digest agent.Digest
	err    string
}

type resultKind uint8

const (
	resultUnseen resultKind = iota
	resultError             // told by the error's type, since other words are no news
	resultBody
)

func resultOf(a *agent.Attempt) result {
	failed := a.Outcome == agent.OutcomeError || a.Outcome == agent.OutcomeUnknown
	switch {
	case failed && a.ErrorType != "":
		return result{kind: resultError, err: a.ErrorType}
	case a.Result.State == agent.RecordedYes:
		return result{kind: resultBody, digest: a.Result.Digest}
	case failed:
		return result{kind: resultError}
	}
	return result{}
}

// differs reports whether two results are recorded and not equal.
func (r result) differs(o result) bool {
	return r.kind != resultUnseen && o.kind != resultUnseen && r != o
}

// seconds5 is how soon after the one before a call must begin to be one of a
// loop that nobody slows down.
const seconds5 = 5_000_000_000

// waste adds up what a stretch of a lane's calls took, from the end of the first
// to the end of the last, with the model calls in between.
func (l *lane) waste(from, to int) agent.Waste {
	first, last := &l.calls[from], &l.calls[to]
	w := agent.Waste{Duration: last.end - first.end}
	for i := from + 1; i <= to; i++ {
		c := &l.calls[i]
		w.Attempts += int64(c.attempts)
		if c.attempts == 1 {
			addUsage(&w, c.at)
		} else {
			for j := range c.step.Attempts {
				addUsage(&w, &c.step.Attempts[j])
			}
		}
		w.Duration = max(w.Duration, c.end-first.end)
	}
	l.addModels(&w, first.end, last.start)
	return w
}

func addUsage(w *agent.Waste, a *agent.Attempt) {
	w.Tokens += a.Tokens.Total()
	w.CostNano += a.CostNano
}

// addModels adds the lane's model calls that began in between.
func (l *lane) addModels(w *agent.Waste, from, to int64) {
	if l.tokens == nil {
		l.tokens, l.cost = make([]int64, len(l.models)+1), make([]int64, len(l.models)+1)
		for i, m := range l.models {
			l.tokens[i+1] = l.tokens[i] + m.at.Tokens.Total()
			l.cost[i+1] = l.cost[i] + m.at.CostNano
		}
	}
	i := sort.Search(len(l.models), func(i int) bool { return l.models[i].at.Start >= from })
	j := sort.Search(len(l.models), func(i int) bool { return l.models[i].at.Start >= to })
	if j > i {
		w.Attempts += int64(j - i)
		w.Tokens += l.tokens[j] - l.tokens[i]
		w.CostNano += l.cost[j] - l.cost[i]
	}
}
