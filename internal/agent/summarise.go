package agent

import "slices"

// SummaryTime is what Summarise must be told of time, as it has no clock.
type SummaryTime struct {
	Now         int64 // Unix nanoseconds
	LastArrival int64 // Unix nanoseconds, when the last span of the run came
	Quiet       int64 // nanoseconds without an arrival after which a run is quiet (detection.quiet)
	StallAfter  int64 // nanoseconds without an arrival after which a run without its root's end is stalled; 0: one hour
}

// defaultStall is after how long a run without wall-time limit counts as
// stalled, in nanoseconds.
const defaultStall = 3600e9

// Summarise gives the run in short. Findings are all that the run has, of any
// status.
func Summarise(r *Run, findings []Finding, at SummaryTime) Summary {
	s := Summary{
		Tenant: r.Tenant, RunID: r.ID, IDSource: r.IDSource, Parent: r.Parent, Session: r.Session, Agent: r.Agent,
		TaskType: r.TaskType, User: r.User, Scenario: r.Scenario,
		Status: StatusOf(r, at), Outcome: r.Outcome, Stated: r.Stated, Escalation: r.Escalation, Started: r.Started, Ended: r.Ended,
		Counts: CountsOf(r), Models: r.Models, PromptVersions: r.PromptVersions, Traces: r.Traces,
		Findings: map[string]int64{}, PolicyHash: r.PolicyHash, RootSeen: r.RootSeen, DroppedAttributes: r.DroppedAttributes,
		CallsNotSeen: int64(r.CallsNotSeen), AttemptsVisible: r.AttemptsVisible, ArgumentsRecorded: r.ArgumentsRecorded,
		Spans: int64(len(r.Spans)), Units: r.Units,
	}
	s.PerOperation, s.PerAttempt = UsageOf(r)
	for i := range findings {
		f := &findings[i]
		if f.Status == StatusWithdrawn {
			continue
		}
		s.Findings[f.Kind]++
		if f.Kind == "outcome.unknown" && f.Status == StatusOpen {
			s.UnknownOpen++
		}
	}
	s.Tools, s.Targets = toolsAndTargets(r)
	s.ContentFirst, s.ContentLast = contentExpiry(r)
	return s
}

// StatusOf tells where a run stands: paused if a deferral or an interrupt came
// last, ended if its root did and it is quiet, stalled if its root did not and
// nothing came for long.
func StatusOf(r *Run, at SummaryTime) RunStatus {
	silent := at.Now - at.LastArrival
	stall := at.StallAfter
	if stall <= 0 {
		stall = defaultStall
	}
	switch {
	case silent < at.Quiet:
		return RunStatusRunning
	case r.Paused || r.Outcome == RunOutcomePaused:
		return RunStatusPaused
	case r.RootSeen && r.RootEnded:
		return RunStatusEnded
	case silent > stall:
		return RunStatusStalled
	}
	return RunStatusRunning
}

// toolsAndTargets are the distinct tools and targets of the run's steps, sorted.
func toolsAndTargets(r *Run) (tools, targets []string) {
	for i := range r.Steps {
		st := &r.Steps[i]
		if st.Tool != "" {
			tools = append(tools, st.Tool)
		}
		if st.Target != "" {
			targets = append(targets, st.Target)
		}
	}
	slices.Sort(tools)
	slices.Sort(targets)
	return slices.Compact(tools), slices.Compact(targets)
}

// contentExpiry is when the first and the last body that the run's spans refer
// to expire; both 0 where they refer to none.
func contentExpiry(r *Run) (first, last int64) {
	for _, s := range r.Spans {
		if len(s.Model.Context) == 0 && len(s.Model.Outputs) == 0 && s.Call.Arguments.Ref.IsZero() && s.Call.Result.Ref.IsZero() {
			continue
		}
		if first == 0 || s.ContentExpires < first {
			first = s.ContentExpires
		}
		last = max(last, s.ContentExpires)
	}
	return first, last
}
