package assemble

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
)

// measure counts what limits are about, over all spans of the group.
func (w *watch) measure(g *group, s *agent.Step) {
	if w.first == 0 && w.last == 0 || s.Start < w.first {
		w.first = s.Start
	}
	w.last = max(w.last, s.End, s.Start)
	w.tokens += max(0, s.Model.Tokens.Total())
	w.cost += max(0, s.Model.CostNano)
	if (s.Op == agent.OpModel || s.IsStep()) && s.Kind != agent.KindOther {
		w.steps++
	}
	switch {
	case s.Op == agent.OpAgent:
		w.agents = true
		w.waits = w.waits || s.End == 0
	case s.Parent.IsZero():
		w.rooted = true
		w.waits = w.waits || s.End == 0
	}
	w.name(s)
	w.strict()
	if as := g.identity(); w.as != as { // its runs may have other ids
		w.found, w.as = w.found[:0], as
	}
	l := &w.limits
	w.exceed("limit.steps", l.Steps > 0 && w.steps > l.Steps)
	w.exceed("limit.tokens", l.Tokens > 0 && w.tokens > l.Tokens)
	w.exceed("limit.cost", l.CostNanoUSD > 0 && w.cost > l.CostNanoUSD)
	w.exceed("limit.wall_time", l.WallTime > 0 && w.last-w.first > int64(l.WallTime))
}

// exceed: a limit may be broken, and that was not found before.
func (w *watch) exceed(kind string, beyond bool) {
	if beyond && !w.wasFound(kind, "") {
		w.hot, w.over = true, true
	}
}

// name takes in the names that limits are chosen by.
func (w *watch) name(s *agent.Step) {
	if w.named < 0 {
		return
	}
	w.addName(name{s.Service, s.TaskType})
	if s.Agent != "" && w.named >= 0 {
		w.addName(name{s.Agent, s.TaskType})
	}
}

func (w *watch) addName(n name) {
	for i := range w.named {
		if w.names[i] == n {
			return
		}
	}
	if w.named == maxNames {
		w.named = -1 // as if every agent and task were in it
		w.limits = w.rules.policy.LeastLimits()
		return
	}
	w.names[w.named] = name{own(n.agent), own(n.task)}
	w.named++
	w.chooseLimits()
}

// chooseLimits takes the least of the limits of each agent with each kind of task,
// and with none.
func (w *watch) chooseLimits() {
	for i := range w.named {
		for k := range w.named {
			for _, task := range [...]string{"", w.names[k].task} {
				l := w.rules.policy.Limits(w.names[i].agent, task)
				if i+k == 0 && task == "" {
					w.limits = l
					continue
				}
				w.limits = w.limits.Least(l)
			}
		}
	}
}

// silence is how long after its last span a group must be judged because its run
// may be stalled; 0 where it has ended.
func (w *watch) silence() time.Duration {
	if !w.waits && (w.agents || w.rooted) {
		return 0
	}
	return cmp.Or(w.limits.WallTime, stallDefault)
}

// wasFound reports whether a finding that needs no flag was found before.
func (w *watch) wasFound(kind, anchor string) bool {
	if len(w.found) == 0 {
		return false
	}
	h := traitFinding.text(kind, anchor)
	return slices.Contains(w.found, h)
}

// judged takes in what a judgement came to.
func (w *watch) judged(g *group, runs []*agent.Run) {
	w.as = g.identity()
	w.noteFound(g)
	if w.over && len(runs) == 1 {
		w.over = false
		w.recount(runs[0])
	}
}

// isOpen reports whether something was seen that a later step makes a finding
// of: a rule that was met in no run yet, an input that grew.
func (w *watch) isOpen() bool { return len(w.met) > 0 || w.grows() }

// noteFound remembers the findings that need no flag. Where a group has several
// runs, each of them may have its own.
func (w *watch) noteFound(g *group) {
	w.found = w.found[:0]
	if len(g.verdicts) != 1 {
		return
	}
	for i := range g.verdicts[0].Findings {
		if f := &g.verdicts[0].Findings[i]; needsNoFlag(f.Kind) && len(w.found) < maxFound {
			w.found = append(w.found, traitFinding.text(f.Kind, f.Anchor))
		}
	}
	w.met = slices.DeleteFunc(w.met, func(rule string) bool { return w.wasFound("rule."+rule, rule) })
}

func needsNoFlag(kind string) bool {
	switch kind {
	case "limit.steps", "limit.tool_calls", "limit.tokens", "limit.wall_time", "limit.cost", "key.missing", "tool.unclassified", "context.bloat":
		return true
	}
	return strings.HasPrefix(kind, "rule.")
}

// recount puts what a run really has in the place of what was counted, where
// several spans are one attempt.
func (w *watch) recount(r *agent.Run) {
	w.steps, w.tokens, w.cost = 0, max(0, r.AgentUsage.Tokens.Total()), max(0, r.AgentUsage.CostNano)
	for i := range w.tools {
		w.tools[i].calls = 0
	}
	for i := range r.Steps {
		st := &r.Steps[i]
		ran := false
		for k := range st.Attempts {
			a := &st.Attempts[k]
			w.tokens += max(0, a.Tokens.Total())
			w.cost += max(0, a.CostNano)
			if !a.Executed {
				continue
			}
			ran = true
			if st.Kind == agent.KindRead || st.Kind == agent.KindAct || st.Kind == agent.KindReconcile {
				if t := w.tool(a.Tool); t != nil {
					t.calls++
				}
			}
		}
		if ran && st.Kind != agent.KindOther {
			w.steps++
		}
	}
}
