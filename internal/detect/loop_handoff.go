package detect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/steptrail/steptrail/internal/agent"
)

// loopHandoff raises loop.handoff: a run is passed round in circles between
// agents, over all lanes, while no act ended ok, no read brought a result that
// none of the run had before, and no person spoke.
func loopHandoff(x *scene) []agent.Finding {
	rounds := x.detection.CycleRounds
	if rounds <= 0 || !hasHandoff(x.Run) {
		return nil
	}
	var found []agent.Finding
	var passed []moment // hand-offs since the last news
	var known map[agent.Digest]bool
	people := x.people()
	done := func() {
		found = circles(passed, rounds, found)
		passed = passed[:0]
	}
	for _, m := range x.timeline() {
		for len(people) > 0 && people[0] <= m.at.Start {
			people = people[1:]
			done()
		}
		switch {
		case m.step.Op == agent.OpHandoff:
			if m.step.HandoffTo != "" && m.at.Outcome != agent.OutcomeRefused {
				passed = append(passed, m)
			}
		case m.step.Kind == agent.KindAct:
			if m.at.Executed && m.at.Outcome == agent.OutcomeOK {
				done()
			}
		case m.step.Kind == agent.KindRead:
			if d := m.at.Result.Digest; m.at.Outcome == agent.OutcomeOK && !d.IsZero() && !known[d] {
				if known == nil {
					known = map[agent.Digest]bool{}
				}
				known[d] = true
				done()
			}
		}
	}
	done()
	return found
}

func hasHandoff(r *agent.Run) bool {
	for i := range r.Steps {
		if r.Steps[i].Op == agent.OpHandoff {
			return true
		}
	}
	return false
}

// circles finds the stretches in which each hand-off goes where the one a period
// before went.
func circles(passed []moment, rounds int, found []agent.Finding) []agent.Finding {
	for p := minPeriod; p <= maxPeriod; p++ {
		for from := 0; from+p < len(passed); {
			to := from + p
			for to < len(passed) && passed[to].step.HandoffTo == passed[to-p].step.HandoffTo {
				to++
			}
			if to-from >= p*rounds && isCircle(passed[from:from+p]) {
				found = append(found, circle(passed[from:to], p, rounds))
			}
			from = to - p + 1
		}
	}
	return found
}

// isCircle: no repetition of a shorter pattern, so at least two agents.
func isCircle(passed []moment) bool {
	for p := 1; p < len(passed); p++ {
		if len(passed)%p != 0 {
			continue
		}
		shorter := true
		for i := p; i < len(passed); i++ {
			if passed[i].step.HandoffTo != passed[i-p].step.HandoffTo {
				shorter = false
				break
			}
		}
		if shorter {
			return false
		}
	}
	return true
}

func circle(passed []moment, period, rounds int) agent.Finding {
	agents, shown := make([]string, period), make([]string, period)
	for i, m := range passed[:period] {
		agents[i], shown[i] = m.step.HandoffTo, show(m.step.HandoffTo)
	}
	slices.Sort(agents)
	agents = slices.Compact(agents)
	first, last := passed[0], passed[len(passed)-1]
	f := agent.Finding{
		Anchor: strings.Join(agents, "\x00"), Severity: agent.SeverityWarning, Step: first.step.ID, Tool: first.at.Tool, Agent: first.step.Agent,
		DetectedAt: max(passed[period*rounds-1].at.End, passed[period*rounds-1].at.Start),
		Waste:      agent.Waste{Attempts: int64(len(passed) - period), Duration: max(0, last.at.End-passed[period-1].at.End)},
		Message: "the run was handed over " + strconv.Itoa(len(passed)) + " times in a circle (" + strings.Join(shown, ", ") + ") and nobody did anything or learned anything; " +
			"let one of them finish it, or ask a person",
	}
	for _, m := range passed[:min(len(passed), maxEvidence)] {
		f.Evidence = append(f.Evidence, evidence(m.at))
	}
	return f
}
