package assemble

import (
	"unsafe"

	"github.com/steptrail/steptrail/internal/agent"
)

// consider decides whether a group must be judged because of a step that is new
// to it. other: the span was here in another form.
func (o *Open) consider(g *group, s *agent.Step, other bool, now int64) {
	shared := o.noticeKey(g, s, s.Call.Key, now)
	shared = o.noticeKey(g, s, s.HTTP.Key, now) || shared
	if o.watch == nil {
		o.want(g, now)
		g.hot = g.hot || shared && o.hasCredit(g)
		return
	}
	hot := g.watch.see(g, s)
	if shared || other {
		g.watch.flag()
		hot = true
	}
	o.heed(g, hot, now)
}

// considerLog is consider for a message that came as a log record.
func (o *Open) considerLog(g *group, l *agent.LogContent, now int64) {
	if o.watch == nil {
		o.want(g, now)
		return
	}
	o.heed(g, g.watch.log(l, g.facts[l.Message], now), now)
}

// hasCredit reports whether a group may be judged at once. What a cold group holds
// beyond its window is cut first.
func (o *Open) hasCredit(g *group) bool { return g.credit >= min(g.size(), g.cutAt(o.limits.Window)) }

// heed does what the watch of a group says.
func (o *Open) heed(g *group, hot bool, now int64) {
	w := g.watch
	if g.hasFindings() {
		hot = hot || g.as != g.identity()
		if g.maySplit() {
			o.want(g, now)
		}
	}
	if w.isRun && (hot || w.flagged || w.isOpen()) {
		o.want(g, now)
		g.hot = g.hot || hot && o.hasCredit(g)
	}
	g.again, w.due = earlier(g.again, w.due), 0
	if !g.wanted && g.hasFindings() { // their last state
		g.again = earlier(g.again, now+w.rules.quiet)
	}
	if silence := int64(w.silence()); silence > 0 && g.again == 0 && silence < int64(o.limits.Keep) {
		g.again = now + silence + 1
	}
	o.weigh(g)
}

// noticeKey notes an idempotency key, and reports whether another span has it.
// Then the group of the first one is judged too, so that its act is in the index.
func (o *Open) noticeKey(g *group, s *agent.Step, key string, now int64) bool {
	if key == "" {
		return false
	}
	g.noted = true
	again, first := o.keys.notice(g, key, s)
	if !again {
		return false
	}
	g.shared = true
	if first != g && first != nil && !first.late && first.noted {
		first.shared, first.hot = true, true
		if first.watch != nil {
			first.watch.flagged = true
		}
		first.flagged = true
		o.want(first, now)
		o.touch(first)
	}
	return true
}

// isFlagged reports whether all that comes to a group is judged.
func (g *group) isFlagged() bool { return g.flagged || g.watch != nil && g.watch.flagged }

// rewatch makes the watch of a group anew from its steps, and reports whether any
// of them may complete a finding, now that all are together.
func (o *Open) rewatch(g *group, flagged bool) (hot bool) {
	w := newWatch(o.watch)
	w.flagged = flagged
	g.watch = w
	w.as = g.identity()
	w.noteFound(g)
	if g.cold != nil {
		g.cold.each(func(s *agent.Step) { hot = w.see(g, s) || hot })
	}
	for _, s := range g.steps {
		hot = w.see(g, s) || hot
	}
	for i := range g.logs {
		hot = w.log(&g.logs[i], g.facts[g.logs[i].Message], g.touched) || hot
	}
	o.weigh(g)
	return hot
}

// joined: two groups became one. What neither had alone may be a finding now, and
// what they had may move to another run.
func (o *Open) joined(g *group) {
	if o.watch == nil {
		o.want(g, g.touched)
		g.hot = true
		return
	}
	hot := o.rewatch(g, g.flagged)
	g.again, g.watch.due = earlier(g.again, g.watch.due), 0
	if hot || g.hasFindings() || g.watch.flagged {
		o.want(g, g.touched)
		g.hot = true
	}
}

// identity is what the ids of a group's runs depend on.
type identity struct {
	tokens         int
	explicit       string
	several, plain bool
}

func (g *group) identity() identity { return identity{len(g.tokens), g.explicit, g.several, g.plain} }

// maySplit reports whether a span can move others of the group to another run.
func (g *group) maySplit() bool {
	return g.several || len(g.verdicts) > 1 || g.units > 1 && len(g.tokens)-g.units > 1
}

func (g *group) hasFindings() bool {
	for i := range g.verdicts {
		if len(g.verdicts[i].Findings) > 0 {
			return true
		}
	}
	return false
}

// weigh accounts for the memory of a watch.
func (o *Open) weigh(g *group) {
	n := g.watch.bytes()
	o.grow(g, n-g.watched)
	g.watched = n
}

func (w *watch) bytes() int64 {
	n := 16*int64(cap(w.met)) + int64(unsafe.Sizeof(*w)) + w.seen.bytes() + int64(cap(w.tools))*int64(unsafe.Sizeof(toolSeen{})) + int64(cap(w.open))*int64(unsafe.Sizeof(openCall{}))
	return n + 8*int64(cap(w.found))
}
