package detect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/policy"
)

// Input is what the detectors look at. Nothing in it is changed.
type Input struct {
	Run *agent.Run
	// Under gives the acts of other runs of the tenant under a key, in any
	// order; nil where none can be looked up. Acts of this run are passed over.
	Under func(key string) []agent.Act
	// Policy holds the thresholds. Without one the documented defaults hold, and
	// nothing is known of tools, limits and rules.
	Policy *policy.Policy

	// Now is the time of the judgement in Unix nanoseconds. Zero: late enough for
	// all that rests on absence, and too early for what time alone raises.
	Now int64
	// LastArrival is when the last span of the run came, in Unix nanoseconds.
	LastArrival int64
	// Resolutions are what people said of the run's unknown outcomes.
	Resolutions []agent.Resolution
}

// Verdict is what a judgement came to.
type Verdict struct {
	Findings []agent.Finding
	// Next is when, in Unix nanoseconds, time alone may change the verdict; 0:
	// never.
	Next int64
}

// detector looks at a run and gives what it found, without id. A finding without
// a kind has the detector's first.
type detector struct {
	kinds []string
	find  func(x *scene) []agent.Finding
}

// detectors is every detector, in the order of their findings. None depends on
// another; what several need is worked out once, in scene.
var detectors = [...]detector{
	{[]string{"loop.repeat"}, loopRepeat},
	{[]string{"loop.cycle"}, loopCycle},
	{[]string{"loop.handoff"}, loopHandoff},
	{[]string{"loop.stall"}, loopStall},
	{[]string{"key.duplicate"}, keyDuplicate},
	{[]string{"key.missing"}, keyMissing},
	{[]string{"key.drift"}, keyDrift},
	{[]string{"key.collision"}, keyCollision},
	{[]string{"outcome.unknown"}, outcomeUnknown},
	{[]string{"outcome.unsafe_retry"}, outcomeUnsafeRetry},
	{[]string{"effect.duplicate"}, effectDuplicate},
	{[]string{"retry.storm"}, retryStorm},
	{[]string{"retry.drift"}, retryDrift},
	{[]string{"limit.steps", "limit.tool_calls", "limit.tokens", "limit.wall_time", "limit.cost"}, limits},
	{[]string{"approval.missing", "approval.stale"}, approvals},
	{[]string{"action.forbidden"}, actionForbidden},
	{[]string{"tool.unclassified"}, toolUnclassified},
	{[]string{"context.bloat"}, contextBloat},
	{[]string{"rule"}, rules},
	{[]string{"run.stalled"}, runStalled},
}

// Run runs all detectors over a run. Findings come in the order of the list of
// detectors, then by the time they were complete, then by anchor.
func Run(in Input) []agent.Finding { return Judge(in).Findings }

// Judge runs all detectors over a run and also tells when time alone may change
// the verdict.
func Judge(in Input) Verdict {
	if in.Run == nil {
		return Verdict{}
	}
	x := newScene(in)
	var all []agent.Finding
	for _, d := range &detectors {
		found := d.find(x)
		if len(found) == 0 {
			continue
		}
		for i := range found {
			f := &found[i]
			f.Kind, f.Tenant, f.Run = cmp.Or(f.Kind, d.kinds[0]), in.Run.Tenant, in.Run.ID
			f.ID = agent.NewFindingID(f.Tenant, f.Run, f.Kind, f.Anchor)
			if f.Status == agent.StatusUnset {
				f.Status = agent.StatusOpen
			}
		}
		slices.SortStableFunc(found, func(x, y agent.Finding) int {
			return cmp.Or(cmp.Compare(x.DetectedAt, y.DetectedAt), strings.Compare(x.Kind, y.Kind), strings.Compare(x.Anchor, y.Anchor))
		})
		all = append(all, merge(found)...)
	}
	return Verdict{Findings: all, Next: x.next}
}

// merge makes one finding of those with one id: the first, with the worst
// severity, all evidence and all waste.
func merge(found []agent.Finding) []agent.Finding {
	if len(found) < 2 {
		return found
	}
	at := make(map[agent.FindingID]int, len(found))
	out := found[:0]
	for _, f := range found {
		i, known := at[f.ID]
		if !known {
			at[f.ID] = len(out)
			out = append(out, f)
			continue
		}
		first := &out[i]
		first.Severity = max(first.Severity, f.Severity)
		if f.Status == agent.StatusOpen {
			first.Status = agent.StatusOpen
		}
		for _, e := range f.Evidence {
			if len(first.Evidence) < maxEvidence && !slices.Contains(first.Evidence, e) {
				first.Evidence = append(first.Evidence, e)
			}
		}
		first.Waste.Attempts += f.Waste.Attempts
		first.Waste.Duration += f.Waste.Duration
		first.Waste.Tokens += f.Waste.Tokens
		first.Waste.CostNano += f.Waste.CostNano
	}
	return out
}

// maxEvidence is how many spans are named as evidence of one finding.
const maxEvidence = 100

// KindsUnder gives every kind of finding that can be raised under a policy: those
// of Kinds, and one for each rule of its own. The policy may be nil.
func KindsUnder(p *policy.Policy) []string {
	var kinds []string
	for _, kind := range Kinds() {
		if kind != "rule" {
			kinds = append(kinds, kind)
			continue
		}
		if p != nil {
			for i := range p.Rules {
				kinds = append(kinds, "rule."+p.Rules[i].Name)
			}
		}
	}
	return kinds
}

// Kinds gives the kinds of findings that Run can raise, in its order. The kinds
// of the policy's own rules, rule.<name>, stand there as rule.
func Kinds() []string {
	var kinds []string
	for _, d := range &detectors {
		kinds = append(kinds, d.kinds...)
	}
	return kinds
}
