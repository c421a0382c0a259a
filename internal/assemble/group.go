package assemble

import (
	"container/heap"
	"maps"
	"slices"
	"unsafe"

	"github.com/steptrail/steptrail/internal/agent"
)

// group is a set of units that may be one run, with their newest steps.
type group struct {
	tenant   string
	explicit string // an explicit run id of it
	several  bool   // it has more than one
	plain    bool   // it has spans that state none
	isPacked bool   // its steps and facts are kept as one string; see pack
	packed   string // that string
	packedN  int    // how many steps it holds
	steps    []*agent.Step
	cold     *cold           // its steps while it was never judged; nil: they are in steps, or packed
	at       map[spanKey]int // index of steps; nil while there are few, or they are cold
	facts    map[agent.Ref]*agent.MessageFacts
	logs     []agent.LogContent
	context  []agent.Ref // of the model call that came last: its facts are here
	tokens   []token
	wants    []token // of groups that it may not be joined with yet
	calls    []callToken
	keys     []string  // keys under which its acts stand in the index
	members  []*member // what stands for it there: of each group that it took in
	verdicts []Verdict
	watch    *watch   // nil: all that comes is judged, or it is packed
	units    int      // how many of the tokens are units
	as       identity // at the last judgement

	bytes    int64
	watched  int64 // of them, those of the watch
	chilled  int64 // of them, those of cold
	pending  int   // what came since the last judgement
	judged   int   // steps at the last judgement
	credit   int   // steps that may be judged again at once
	trimAt   int   // at how many steps the window is cut next; 0: at half a window more than one
	trimmed  bool  // steps before floor were dropped
	floor    int64 // start of the oldest step of the window
	touched  int64 // last arrival
	deadline int64 // when what is pending must be judged
	again    int64 // when the judge wants to look again; 0: it does not
	due      int64 // when Due looks at it
	place    int   // in the heap; -1 if not there

	late    bool // a step came from before the window: no longer judged
	wanted  bool // what is pending must be judged
	hot     bool // at once: what came may complete a finding
	flagged bool // its watch was flagged before it was packed
	shared  bool // a key of it stands on another span: judged with each step
	noted   bool // keys came that stand in the index only since its last judgement
	marked  bool // stands in Open.dirty
	gone    bool // dropped or merged into another

	older, newer *group // neighbours in the order of arrival
}

type spanKey struct {
	trace agent.TraceID
	span  agent.SpanID
}

const (
	few       = 24 // up to how many steps a linear look-up beats a map
	groupCost = 800
	mapCost   = 64
	logCost   = int64(unsafe.Sizeof(agent.LogContent{}))
)

// judgeShare is how many steps each arrival allows to be judged again at once,
// where it may complete a finding. What goes beyond waits for Limits.Delay.
const judgeShare = 2

func (o *Open) newGroup(tenant string) *group {
	g := &group{tenant: tenant, place: -1, credit: 2 * o.limits.Window, tokens: make([]token, 0, 2)}
	o.stats.Groups++
	o.grow(g, groupCost)
	o.loose.push(g)
	if o.watch != nil {
		g.watch = newWatch(o.watch)
		o.weigh(g)
		g.cold = newCold()
		o.weighCold(g)
	}
	return g
}

func (o *Open) grow(g *group, n int64) {
	g.bytes += n
	o.stats.Bytes += n
	if !g.isPacked {
		o.looseBytes += n
	}
}

// size is how many steps are kept.
func (g *group) size() int {
	if g.cold != nil {
		return len(g.cold.spots)
	}
	return len(g.steps) + g.packedN
}

// above is what is asked of a step of a group that is not packed by those that lie
// in it.
func (g *group) above(i int) above {
	if g.cold != nil {
		x := &g.cold.spots[i]
		return above{x.parent, x.op, x.holds}
	}
	s := g.steps[i]
	return above{s.Parent, s.Op, holdsAttempts(s)}
}

type above struct {
	parent agent.SpanID
	op     agent.Op
	holds  bool // calls inside may be its attempts
}

// newest gives the step that came last; nil if there is none, or it is packed.
func (g *group) newest() *agent.Step {
	if g.cold != nil {
		return g.cold.p.newest
	}
	if n := len(g.steps); n > 0 {
		return g.steps[n-1]
	}
	return nil
}

// find gives the index of a span; -1 if it is not here.
func (g *group) find(k spanKey) int {
	if g.cold != nil {
		return g.cold.find(k)
	}
	if g.at != nil {
		if i, ok := g.at[k]; ok {
			return i
		}
		return -1
	}
	for i, s := range g.steps {
		if s.Span == k.span && s.Trace == k.trace {
			return i
		}
	}
	return -1
}

// reindex rebuilds the index of steps after they were moved.
func (g *group) reindex() {
	g.at = nil
	if len(g.steps) <= few {
		return
	}
	g.at = make(map[spanKey]int, 2*len(g.steps))
	for i, s := range g.steps {
		g.at[spanKey{s.Trace, s.Span}] = i
	}
}

// insert adds a step to its group, unless it is here already.
func (o *Open) insert(g *group, s *agent.Step, facts map[agent.Ref]*agent.MessageFacts, now int64) {
	o.arrived(g, now)
	if g.late {
		return
	}
	k := spanKey{s.Trace, s.Span}
	other := g.find(k) >= 0
	if other || g.units > maxColdUnits {
		o.loosen(g)
	}
	if other && slices.ContainsFunc(g.steps, func(x *agent.Step) bool { return x.Span == s.Span && x.Trace == s.Trace && sameReception(x, s) }) {
		return
	}
	if g.trimmed && s.Start < g.floor {
		o.setLate(g)
		return
	}
	var kept *agent.Step
	if g.cold != nil {
		kept = o.keepCold(g, s)
	} else {
		kept = o.keep(g, s)
	}
	o.stats.Steps++
	o.keepFacts(g, kept, facts)
	g.pending++
	g.credit = min(g.credit+judgeShare, 2*o.limits.Window)
	o.consider(g, kept, other, now)
	if n := g.size(); g.cold == nil && n > g.cutAt(o.limits.Window) || n > coldWindows*g.limit(o.limits.Window) {
		o.trim(g)
	}
	o.joinByCall(g, kept)
}

// keep adds a step to the steps of a group, as it came.
func (o *Open) keep(g *group, s *agent.Step) *agent.Step {
	kept, size := clone(s, g.newest())
	g.steps = append(g.steps, kept)
	if g.at != nil {
		g.at[spanKey{s.Trace, s.Span}] = len(g.steps) - 1
	} else if len(g.steps) > few {
		g.reindex()
	}
	o.grow(g, size)
	return kept
}

func (o *Open) arrived(g *group, now int64) {
	g.touched = max(g.touched, now)
	if g.isPacked {
		o.loosen(g)
	} else {
		o.loose.renew(g)
	}
	o.touch(g)
}

// want asks for a judgement of a group, at the latest after Limits.Delay.
func (o *Open) want(g *group, now int64) {
	if !g.wanted {
		g.wanted, g.deadline = true, now+int64(o.limits.Delay)
	}
}

// sameReception reports whether a span came again as it was.
func sameReception(x, y *agent.Step) bool {
	return x.Start == y.Start && x.End == y.End && x.Parent == y.Parent && x.Op == y.Op && x.Kind == y.Kind && x.Sign == y.Sign &&
		x.Outcome == y.Outcome && x.StatusCode == y.StatusCode && x.StepID == y.StepID && x.Attempt == y.Attempt && x.RunID == y.RunID &&
		x.DialectRun == y.DialectRun && x.Call.Tool == y.Call.Tool && x.Call.ID == y.Call.ID && x.Call.Key == y.Call.Key &&
		x.Call.Gate == y.Call.Gate && x.Call.Target == y.Call.Target &&
		x.Call.Arguments.Digest == y.Call.Arguments.Digest && x.Call.Result.Digest == y.Call.Result.Digest &&
		x.Model.Input == y.Model.Input && x.Model.Output == y.Model.Output && x.Model.Tokens == y.Model.Tokens &&
		len(x.Model.Context) == len(y.Model.Context) && len(x.Model.Outputs) == len(y.Model.Outputs) && x.Model.CostNano == y.Model.CostNano &&
		x.Facts == y.Facts && x.Call.Arguments.State == y.Call.Arguments.State && x.Call.ArgumentsSent == y.Call.ArgumentsSent && x.Agent == y.Agent &&
		x.HTTP == y.HTTP && x.DialectStep == y.DialectStep && x.Checkpoint == y.Checkpoint && x.HandoffTo == y.HandoffTo && slices.Equal(x.Rules, y.Rules)
}

// setLate ends the judging of a group: the sweep decides. Its verdicts so far
// stay.
func (o *Open) setLate(g *group) {
	o.stats.Late++
	o.stats.Steps -= g.size()
	g.late, g.pending, g.wanted, g.hot = true, 0, false, false
	o.grow(g, groupCost-g.bytes)
	g.watch, g.watched = nil, 0
	g.cold, g.chilled = nil, 0
	g.steps, g.at, g.facts, g.logs, g.context = nil, nil, nil, nil, nil
	for i := range g.verdicts {
		g.verdicts[i].Late = true
	}
}

// drop forgets a group. Its acts stay under their keys as long as these do.
func (o *Open) drop(g *group) {
	g.gone = true
	for _, t := range g.tokens {
		if o.tokens[t] == g {
			delete(o.tokens, t)
		}
	}
	for _, t := range g.calls {
		o.dropCall(t, g)
	}
	g.pass(nil)
	if g.isPacked {
		o.packed.remove(g)
	} else {
		o.loose.remove(g)
	}
	if g.place >= 0 {
		heap.Remove(&o.due, g.place)
	}
	o.stats.Groups--
	o.stats.Steps -= g.size()
	o.grow(g, -g.bytes)
	g.watch, g.watched = nil, 0
	g.cold, g.chilled = nil, 0
	g.steps, g.at, g.facts, g.logs, g.packed, g.packedN = nil, nil, nil, nil, "", 0
}

// let drops a group that is over. Acts under keys that were not judged yet are
// written into the index first, for the runs to come.
func (o *Open) let(g *group) {
	if g.noted && !g.late && g.size() > 0 {
		o.loosen(g)
		o.recordActs(g, agent.Runs(agent.Input{Steps: g.steps, Facts: g.facts, Logs: g.logs}))
	}
	o.drop(g)
}

// mayJoin reports whether a link, a call or a checkpoint can make one run of two
// groups: not where all spans of each state an id, and another one.
func mayJoin(x, y *group) bool {
	return x.tenant == y.tenant && (x.several || y.several || x.plain || y.plain || x.explicit == y.explicit)
}

func (g *group) setExplicit(id string) {
	switch {
	case g.explicit == "":
		g.explicit = own(id)
	case g.explicit != id:
		g.several = true
	}
}

// merge makes one group of two. The larger one takes the smaller one in.
func (o *Open) merge(x, y *group) *group {
	if x == y {
		return x
	}
	o.loosen(x)
	o.loosen(y)
	if len(x.steps) < len(y.steps) || len(x.steps) == len(y.steps) && x.late {
		x, y = y, x
	}
	o.grow(y, -y.watched)
	x.flagged = x.isFlagged() || y.isFlagged()
	y.watch, y.watched = nil, 0
	came := len(y.steps)+len(y.logs) > 0
	for _, t := range y.tokens {
		o.tokens[t] = x
	}
	x.units += y.units
	x.tokens = append(x.tokens, y.tokens...)
	x.wants = append(x.wants, y.wants...)
	for _, t := range y.calls {
		o.moveCall(t, y, x)
	}
	x.calls = append(x.calls, y.calls...)
	x.keys = append(x.keys, y.keys...)
	y.pass(x)
	x.steps = append(x.steps, y.steps...)
	x.logs = append(x.logs, y.logs...)
	if x.facts == nil {
		x.facts = y.facts
	} else {
		maps.Copy(x.facts, y.facts)
	}
	if y.explicit != "" {
		x.setExplicit(y.explicit)
	}
	x.several, x.plain = x.several || y.several, x.plain || y.plain
	x.verdicts = append(x.verdicts, y.verdicts...)
	x.trimmed, x.floor = x.trimmed || y.trimmed, max(x.floor, y.floor)
	x.touched = max(x.touched, y.touched)
	x.again = earlier(x.again, y.again)
	x.shared, x.noted = x.shared || y.shared, x.noted || y.noted
	x.pending += y.pending
	late := x.late || y.late
	bytes := y.bytes
	y.tokens, y.calls, y.steps = nil, nil, nil
	o.drop(y)
	o.grow(x, bytes-groupCost)
	if came {
		x.reindex()
		o.joined(x)
	}
	if late && !x.late {
		o.setLate(x)
	}
	o.arrived(x, x.touched)
	return x
}
