package detect

import (
	"github.com/steptrail/steptrail/internal/agent"
)

// stallDefault is how long a run without a wall-time limit may be silent, in
// nanoseconds.
const stallDefault = 3600_000_000_000

// runStalled raises run.stalled: no root's end and nothing new for longer than
// the wall-time limit, or an hour where none is set.
func runStalled(x *scene) []agent.Finding {
	r := x.Run
	if x.Now == 0 || x.LastArrival == 0 || r.RootSeen && r.RootEnded || r.Paused || r.Outcome == agent.RunOutcomePaused {
		return nil
	}
	wait := int64(x.limits().WallTime)
	if wait <= 0 {
		wait = stallDefault
	}
	due := x.LastArrival + wait
	if due >= x.Now {
		x.again(due + 1)
		return nil
	}
	last := r.Spans[len(r.Spans)-1]
	return []agent.Finding{{
		Severity: agent.SeverityWarning, Agent: r.Agent, DetectedAt: due, Evidence: []agent.Evidence{spanEvidence(last)},
		Message: "the run has not ended and nothing has come of it for more than " + lapse(wait) + "; its process may be gone",
	}}
}
