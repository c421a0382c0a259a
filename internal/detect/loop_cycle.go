package detect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/steptrail/steptrail/internal/agent"
)

const (
	minPeriod = 2
	maxPeriod = 8
)

// loopCycle raises loop.cycle: rounds of a pattern of 2 to 8 calls in one lane,
// with equal calls and results, each round begun after the one before it ended.
// One finding per set of calls.
func loopCycle(x *scene) []agent.Finding {
	rounds := x.detection.CycleRounds
	if rounds <= 0 {
		return nil
	}
	var found []agent.Finding
	lanes := x.inLanes()
	for i := range lanes {
		l := &lanes[i]
		if len(l.calls) < minPeriod*rounds {
			continue
		}
		seq := make([]int, 0, len(l.calls)) // calls that may be part of a cycle
		for n := range l.calls {
			if t := x.tool(l.calls[n].at.Tool); t == nil || t.Repeat == nil || *t.Repeat != 0 {
				seq = append(seq, n)
			}
		}
		for p := minPeriod; p <= maxPeriod; p++ {
			found = x.cycles(l, seq, p, rounds, found)
		}
	}
	return found
}

// cycles finds the stretches in which each call equals the one a period before.
func (x *scene) cycles(l *lane, seq []int, period, rounds int, found []agent.Finding) []agent.Finding {
	for from := 0; from+period < len(seq); {
		to := from + period
		for to < len(seq) && l.echoes(seq[to-period], seq[to]) {
			to++
		}
		if to-from >= period*rounds {
			if f, ok := x.cycle(l, seq[from:to], period, rounds); ok {
				found = append(found, f)
			}
		}
		from = to - period + 1
	}
	return found
}

// echoes reports whether a call and its result equal an earlier one, with no
// person between.
func (l *lane) echoes(i, j int) bool {
	a, b := &l.calls[i], &l.calls[j]
	return a.class != 0 && a.class == b.class && a.era == b.era && !resultOf(a.last).differs(resultOf(b.last))
}

// cycle looks for enough rounds in a stretch that each begin after the one
// before ended, and follows them as far as they go.
func (x *scene) cycle(l *lane, seq []int, period, rounds int) (agent.Finding, bool) {
	if !isPattern(l, seq[:period]) {
		return agent.Finding{}, false
	}
	for from := 0; from+period*rounds <= len(seq); from++ {
		n := l.roundsFrom(seq[from:], period)
		if n < rounds {
			continue
		}
		return x.cycleFinding(l, seq[from:from+n*period], period, rounds, n), true
	}
	return agent.Finding{}, false
}

// isPattern: at least two different calls, and no repetition of a shorter
// pattern.
func isPattern(l *lane, seq []int) bool {
	for p := 1; p < len(seq); p++ {
		if len(seq)%p != 0 {
			continue
		}
		shorter := true
		for i := p; i < len(seq); i++ {
			if l.calls[seq[i]].class != l.calls[seq[i-p]].class {
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

// roundsFrom counts the rounds from the first call on that each begin after the
// one before ended.
func (l *lane) roundsFrom(seq []int, period int) int {
	n := 0
	var end int64
	for ; (n+1)*period <= len(seq); n++ {
		round := seq[n*period : (n+1)*period]
		if n > 0 && l.calls[round[0]].start < end {
			break
		}
		for _, i := range round {
			end = max(end, l.calls[i].end)
		}
	}
	return n
}

func (x *scene) cycleFinding(l *lane, seq []int, period, rounds, n int) agent.Finding {
	first, last := &l.calls[seq[0]], &l.calls[seq[len(seq)-1]]
	anchors := make([]string, period)
	tools := make([]string, period)
	for i, at := range seq[:period] {
		c := &l.calls[at]
		anchors[i], tools[i] = x.equalCalls().anchor(c.class), show(c.at.Tool)
	}
	slices.Sort(anchors)
	f := agent.Finding{
		Anchor: strings.Join(slices.Compact(anchors), "\x01"), Severity: onTool(agent.SeverityWarning, first.step),
		Step: first.step.ID, Tool: first.at.Tool, Agent: first.step.Agent, Waste: l.waste(seq[period-1], seq[len(seq)-1]),
	}
	for i, at := range seq {
		c := &l.calls[at]
		if i < period*rounds {
			f.DetectedAt = max(f.DetectedAt, c.end)
		}
		if i < maxEvidence {
			f.Evidence = append(f.Evidence, evidence(c.at))
		}
	}
	f.Message = "the same " + count(period, "call") + " (" + strings.Join(tools, ", ") + ") with the same results went round " + strconv.Itoa(n) + " times over " +
		lapse(last.end-first.start) + "; nothing new can come of it"
	return f
}
