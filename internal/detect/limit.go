package detect

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/policy"
)

// limits are those of the run's agent and kind of task.
func (x *scene) limits() policy.Limits {
	if x.Policy == nil {
		return policy.Limits{Attempts: 5}
	}
	return x.Policy.Limits(x.Run.Agent, x.Run.TaskType)
}

// limits raises limit.steps, limit.tool_calls, limit.tokens, limit.wall_time and
// limit.cost: beyond the limit, with the span that breaks it, and by how much.
func limits(x *scene) []agent.Finding {
	lim := x.limits()
	var found []agent.Finding
	if lim.Steps > 0 {
		found = x.limitSteps(lim.Steps, found)
	}
	if lim.ToolCalls > 0 {
		found = x.limitToolCalls(lim.ToolCalls, found)
	}
	if lim.Tokens > 0 {
		found = x.limitUsage("limit.tokens", lim.Tokens, x.Run.AgentUsage.Tokens.Total(), func(a *agent.Attempt) int64 { return a.Tokens.Total() }, tokensText, found)
	}
	if lim.CostNanoUSD > 0 {
		found = x.limitUsage("limit.cost", lim.CostNanoUSD, x.Run.AgentUsage.CostNano, func(a *agent.Attempt) int64 { return a.CostNano }, costText, found)
	}
	if lim.WallTime > 0 {
		found = x.limitWallTime(lim.WallTime, found)
	}
	return found
}

// counts reports whether an attempt is an execution, or a call that was not
// seen.
func counts(a *agent.Attempt) bool { return a.Executed }

// limitSteps counts the steps of all kinds but other that have an attempt that
// counts.
func (x *scene) limitSteps(limit int64, found []agent.Finding) []agent.Finding {
	type begun struct {
		st *agent.RunStep
		at *agent.Attempt
	}
	var steps []begun
	for i := range x.Run.Steps {
		st := &x.Run.Steps[i]
		if st.Kind == agent.KindOther {
			continue
		}
		var first *agent.Attempt
		for j := range st.Attempts {
			if a := &st.Attempts[j]; counts(a) && (first == nil || agent.CompareAttempts(a, first) < 0) {
				first = a
			}
		}
		if first != nil {
			steps = append(steps, begun{st, first})
		}
	}
	n := int64(len(steps))
	if n <= limit {
		return found
	}
	slices.SortStableFunc(steps, func(a, b begun) int { return agent.CompareAttempts(a.at, b.at) })
	broke := steps[limit]
	return append(found, agent.Finding{
		Kind: "limit.steps", Severity: agent.SeverityWarning, Step: broke.st.ID, Tool: broke.at.Tool, Agent: x.Run.Agent, DetectedAt: max(broke.at.End, broke.at.Start),
		Evidence: []agent.Evidence{evidence(broke.at)},
		Message:  "the run has " + strconv.FormatInt(n, 10) + " steps where " + strconv.FormatInt(limit, 10) + " are allowed, " + strconv.FormatInt(n-limit, 10) + " too many; " + attemptOf(broke.st, broke.at) + " broke the limit",
	})
}

// limitToolCalls counts executed attempts, per tool.
func (x *scene) limitToolCalls(limit int64, found []agent.Finding) []agent.Finding {
	type tally struct {
		n     int64
		broke moment
	}
	var tools []string
	byTool := map[string]*tally{}
	for _, m := range x.timeline() {
		switch m.step.Kind {
		case agent.KindRead, agent.KindAct, agent.KindReconcile:
		default:
			continue
		}
		if !counts(m.at) || m.at.Tool == "" {
			continue
		}
		t := byTool[m.at.Tool]
		if t == nil {
			t = &tally{}
			byTool[m.at.Tool] = t
			tools = append(tools, m.at.Tool)
		}
		if t.n++; t.n == limit+1 {
			t.broke = m
		}
	}
	for _, name := range tools {
		t := byTool[name]
		if t.n <= limit {
			continue
		}
		found = append(found, agent.Finding{
			Kind: "limit.tool_calls", Anchor: name, Severity: agent.SeverityWarning, Step: t.broke.step.ID, Tool: name, Agent: t.broke.step.Agent,
			DetectedAt: max(t.broke.at.End, t.broke.at.Start), Evidence: []agent.Evidence{evidence(t.broke.at)},
			Message: show(name) + " was called " + strconv.FormatInt(t.n, 10) + " times where " + strconv.FormatInt(limit, 10) + " are allowed, " + strconv.FormatInt(t.n-limit, 10) + " too many",
		})
	}
	return found
}

// limitUsage adds up what attempts took, in the order in which they ended.
func (x *scene) limitUsage(kind string, limit, frames int64, of func(*agent.Attempt) int64, text func(int64) string, found []agent.Finding) []agent.Finding {
	total := frames
	for i := range x.Run.Steps {
		for j := range x.Run.Steps[i].Attempts {
			total = addUp(total, of(&x.Run.Steps[i].Attempts[j]))
		}
	}
	if total <= limit {
		return found
	}
	f := agent.Finding{Kind: kind, Severity: agent.SeverityWarning, Agent: x.Run.Agent, DetectedAt: x.Run.Ended}
	byEnd := slices.Clone(x.timeline())
	slices.SortStableFunc(byEnd, func(a, b moment) int { return cmp.Compare(max(a.at.End, a.at.Start), max(b.at.End, b.at.Start)) })
	sum := int64(0)
	for _, m := range byEnd {
		if sum = addUp(sum, of(m.at)); sum > limit {
			f.Step, f.Tool, f.DetectedAt = m.step.ID, m.at.Tool, max(m.at.End, m.at.Start)
			f.Evidence = []agent.Evidence{evidence(m.at)}
			break
		}
	}
	if f.Evidence == nil {
		f.Evidence = []agent.Evidence{spanEvidence(x.Run.Spans[0])}
	}
	f.Message = "the run took " + text(total) + " where " + text(limit) + " are allowed, " + text(total-limit) + " too much"
	return append(found, f)
}

// addUp adds without running over; a negative amount counts as nothing.
func addUp(x, y int64) int64 {
	if y <= 0 {
		return x
	}
	if x > math.MaxInt64-y {
		return math.MaxInt64
	}
	return x + y
}

func tokensText(n int64) string { return strconv.FormatInt(n, 10) + " tokens" }

// costText gives an amount in 1e-9 USD as a person says it.
func costText(nano int64) string {
	s := strconv.FormatInt(nano/1e9, 10)
	frac := strconv.FormatInt(nano%1e9, 10)
	frac = strings.TrimRight(strings.Repeat("0", 9-len(frac))+frac, "0")
	if len(frac) < 2 {
		frac += strings.Repeat("0", 2-len(frac))
	}
	return s + "." + frac + " USD"
}

// limitWallTime measures from the first start to the last end of all spans.
func (x *scene) limitWallTime(limit time.Duration, found []agent.Finding) []agent.Finding {
	r := x.Run
	took := r.Ended - r.Started
	if took <= int64(limit) {
		return found
	}
	var broke *agent.Step // the first span that ends beyond the limit
	for _, s := range r.Spans {
		if end := max(s.End, s.Start); end-r.Started > int64(limit) && (broke == nil || end < max(broke.End, broke.Start)) {
			broke = s
		}
	}
	return append(found, agent.Finding{
		Kind: "limit.wall_time", Severity: agent.SeverityWarning, Tool: broke.Call.Tool, Agent: r.Agent, DetectedAt: max(broke.End, broke.Start),
		Evidence: []agent.Evidence{spanEvidence(broke)},
		Message:  "the run took " + lapse(took) + " where " + lapse(int64(limit)) + " are allowed, " + lapse(took-int64(limit)) + " too long",
	})
}

func spanEvidence(s *agent.Step) agent.Evidence {
	return agent.Evidence{Unit: s.Unit, Trace: s.Trace, Span: s.Span}
}
