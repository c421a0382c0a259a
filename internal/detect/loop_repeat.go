package detect

import (
	"strconv"

	"github.com/steptrail/steptrail/internal/agent"
)

// loopRepeat raises loop.repeat: equal calls, model outputs or model errors in a
// row in one lane with nothing new between, and, for tools whose policy asks for
// it, calls in a row whose arguments were not recorded.
func loopRepeat(x *scene) []agent.Finding {
	var found []agent.Finding
	lanes := x.inLanes()
	for i := range lanes {
		found = x.repeatedCalls(&lanes[i], found)
		found = x.repeatedUnseen(&lanes[i], found)
		found = x.repeatedOutputs(&lanes[i], found)
		found = x.repeatedErrors(&lanes[i], found)
	}
	return found
}

// row is a run of equal calls.
type row struct {
	from, to int    // in the lane's calls
	hits     []int  // the calls that count
	result   result // the first that was recorded
	end      int64  // of the last that counts
	quick    int    // calls that began soon after the one before
}

// add takes the call at i into the row, or reports that it does not belong to
// it. A call that runs beside the last one is passed over.
func (r *row) add(c *call, i int) bool {
	if len(r.hits) > 0 && c.start < r.end {
		r.to = i
		return true
	}
	got := resultOf(c.last)
	if len(r.hits) > 0 {
		if r.result.differs(got) {
			return false
		}
		if c.start-r.end <= seconds5 {
			r.quick++
		}
	}
	if r.result.kind == resultUnseen {
		r.result = got
	}
	r.hits, r.end, r.to = append(r.hits, i), c.end, i
	return true
}

func (r *row) start(c *call, i int) {
	*r = row{from: i, hits: r.hits[:0]}
	r.add(c, i)
}

// severity is critical from five times the threshold on, where at least half of
// the calls came quickly.
func (r *row) severity(n int) agent.Severity {
	if len(r.hits) >= 5*n && 2*r.quick >= len(r.hits) {
		return agent.SeverityCritical
	}
	return agent.SeverityWarning
}

// repeatedCalls finds rows of equal calls. Any other call of the lane ends a
// row, and so does a person; what follows does not undo it.
func (x *scene) repeatedCalls(l *lane, found []agent.Finding) []agent.Finding {
	var r row
	for i := range l.calls {
		c := &l.calls[i]
		if i > 0 && c.class != 0 {
			before := &l.calls[i-1]
			if before.class == c.class && before.era == c.era && r.add(c, i) {
				continue
			}
		}
		found = x.closeRow(l, &r, found)
		r.start(c, i)
	}
	return x.closeRow(l, &r, found)
}

func (x *scene) closeRow(l *lane, r *row, found []agent.Finding) []agent.Finding {
	if len(r.hits) < 2 {
		return found
	}
	first := &l.calls[r.from]
	n := x.tool(first.at.Tool).RepeatOr(x.detection.Repeat)
	if n <= 0 || len(r.hits) < n || first.class == 0 {
		return found
	}
	times := len(r.hits)
	f := x.rowFinding(l, r, n)
	f.Anchor = "call\x00" + x.equalCalls().anchor(first.class)
	f.Severity = onTool(r.severity(n), first.step)
	last := &l.calls[r.hits[times-1]]
	f.Message = what(first.at.Tool, first.at.Target) + " was called " + strconv.Itoa(times) + " times in a row with equal arguments and nothing new came back (" +
		brought(r.result) + "), over " + lapse(last.end-first.start) + "; stop it, or give the agent another way forward"
	return append(found, f)
}

func (x *scene) rowFinding(l *lane, r *row, n int) agent.Finding {
	first := &l.calls[r.from]
	f := agent.Finding{
		Step: first.step.ID, Tool: first.at.Tool, Agent: first.step.Agent, Waste: l.waste(r.from, r.to),
		DetectedAt: l.calls[r.hits[n-1]].end,
	}
	for _, i := range r.hits[:min(len(r.hits), maxEvidence)] {
		f.Evidence = append(f.Evidence, evidence(l.calls[i].at))
	}
	return f
}

func brought(r result) string {
	switch r.kind {
	case resultError:
		if r.err != "" {
			return "error " + show(r.err) + " each time"
		}
		return "an error each time"
	case resultBody:
		return "the same result each time"
	default:
		return "results were not recorded"
	}
}

// repeatedUnseen finds calls in a row whose arguments were not recorded, for the
// tools that the policy gives repeat_unseen.
func (x *scene) repeatedUnseen(l *lane, found []agent.Finding) []agent.Finding {
	if x.Policy == nil {
		return found
	}
	var r row
	for i := range l.calls {
		c := &l.calls[i]
		if i > 0 && c.class == 0 {
			before := &l.calls[i-1]
			if before.class == 0 && before.at.Tool == c.at.Tool && before.era == c.era && r.add(c, i) {
				continue
			}
		}
		found = x.closeUnseen(l, &r, found)
		r.start(c, i)
	}
	return x.closeUnseen(l, &r, found)
}

func (x *scene) closeUnseen(l *lane, r *row, found []agent.Finding) []agent.Finding {
	if len(r.hits) < 2 {
		return found
	}
	first := &l.calls[r.from]
	tool := x.tool(first.at.Tool)
	if tool == nil || tool.RepeatUnseen <= 0 || len(r.hits) < tool.RepeatUnseen || first.class != 0 {
		return found
	}
	f := x.rowFinding(l, r, tool.RepeatUnseen)
	f.Anchor = "tool\x00" + first.at.Tool
	f.Severity = agent.SeverityInfo
	f.Message = show(first.at.Tool) + " was called " + strconv.Itoa(len(r.hits)) + " times in a row; arguments were not seen, so the calls may have differed; record them to know"
	return append(found, f)
}
