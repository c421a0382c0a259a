package query

import (
	"math"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/query/api"
)

// The functions here turn the model into the API's objects. Where the model
// knows nothing (an enum's zero value) they give the value that the conventions
// have for it, so that every answer keeps to openapi.yaml.

func runOf(s *agent.Summary, now time.Time) api.Run {
	return api.Run{
		RunID: s.RunID, IDSource: api.RunIDSource(or(s.IDSource.String(), "inferred")), ParentRunID: s.Parent,
		SessionID: s.Session, Agent: s.Agent, TaskType: s.TaskType, User: s.User, Scenario: s.Scenario,
		Status: api.RunStatus(or(s.Status.String(), "running")), Outcome: api.RunOutcome(or(s.Outcome.String(), "unstated")),
		EscalationReason: s.Escalation,
		StartedAt:        api.Timestamp(s.Started), EndedAt: api.Timestamp(s.Ended), DurationMs: millis(s.Started, s.Ended),
		Counts: countsOf(s), Tokens: api.RunTokens{PerOperation: tokensOf(s.PerOperation.Tokens), PerAttempt: tokensOf(s.PerAttempt.Tokens)},
		CostUSD: costOf(s), Models: list(s.Models), PromptVersions: list(s.PromptVersions), Tools: list(s.Tools), Targets: list(s.Targets),
		Traces: texts(s.Traces), Findings: numbers(s.Findings), UnknownOpen: s.UnknownOpen, PolicyHash: s.PolicyHash, Spans: s.Spans,
		Completeness: api.Completeness{
			RootSeen: s.RootSeen, DroppedAttributes: s.DroppedAttributes, CallsNotSeen: int64(s.CallsNotSeen),
			AttemptsVisible: visibility(s.AttemptsVisible), ArgumentsRecorded: share(s.ArgumentsRecorded), Content: contentState(s, now),
		},
	}
}

func countsOf(s *agent.Summary) api.Counts {
	of := func(k agent.Kind) api.KindCount {
		c := s.Counts[k]
		return api.KindCount{Steps: c.Steps, Attempts: c.Attempts, Errors: c.Errors}
	}
	return api.Counts{
		Think: of(agent.KindThink), Read: of(agent.KindRead), Act: of(agent.KindAct), Human: of(agent.KindHuman),
		Reconcile: of(agent.KindReconcile), Other: of(agent.KindOther),
	}
}

// tokensOf gives nil where no usage was reported.
func tokensOf(t agent.Tokens) *api.Tokens {
	if !t.Known {
		return nil
	}
	return &api.Tokens{Input: t.Input, Output: t.Output, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite, Reasoning: t.Reasoning, Total: t.Total()}
}

// moneyOf gives nil where no cost is known.
func moneyOf(nano int64, source agent.CostSource) *api.Money {
	if source == agent.CostSourceUnset {
		return nil
	}
	m := api.Money(nano)
	return &m
}

func costOf(s *agent.Summary) api.RunCost {
	return api.RunCost{
		PerOperation: moneyOf(s.PerOperation.CostNano, s.PerOperation.CostSource),
		PerAttempt:   moneyOf(s.PerAttempt.CostNano, s.PerAttempt.CostSource),
		Source:       api.CostSource(s.PerAttempt.CostSource.String()),
	}
}

func visibility(v agent.Visibility) api.CompletenessAttemptsVisible {
	switch v {
	case agent.VisibleAll:
		return api.CompletenessAttemptsVisibleAll
	case agent.VisibleSome:
		return api.CompletenessAttemptsVisibleSome
	default:
		return api.CompletenessAttemptsVisibleNone
	}
}

// contentState says how much of the content that the run refers to is still
// kept, by the times when the first and the last of it expire.
func contentState(s *agent.Summary, now time.Time) api.CompletenessContent {
	switch at := now.Unix(); {
	case s.ContentLast == 0:
		return api.CompletenessContentOff
	case at >= s.ContentLast:
		return api.CompletenessContentExpired
	case at >= s.ContentFirst:
		return api.CompletenessContentSampled
	default:
		return api.CompletenessContentFull
	}
}

// findingOf gives a finding, with what it took as parts of the whole run where
// that is known.
func findingOf(f *agent.Finding, whole *agent.Summary) api.Finding {
	out := api.Finding{
		ID: f.ID.String(), Kind: f.Kind, Severity: api.FindingSeverity(or(f.Severity.String(), "info")),
		Status: api.FindingStatus(or(f.Status.String(), "open")), RunID: f.Run, StepID: f.Step, Tool: f.Tool, Agent: f.Agent,
		DetectedAt: api.Timestamp(f.DetectedAt), Message: f.Message, Evidence: make([]api.Evidence, 0, len(f.Evidence)),
		Waste: wasteOf(f.Waste, whole),
	}
	if f.MergedInto != (agent.FindingID{}) {
		out.MergedInto = f.MergedInto.String()
	}
	for _, e := range f.Evidence {
		out.Evidence = append(out.Evidence, api.Evidence{TraceID: e.Trace.String(), SpanID: e.Span.String(), Attempt: int(e.Attempt)})
	}
	return out
}

func wasteOf(w agent.Waste, whole *agent.Summary) api.Waste {
	out := api.Waste{Attempts: w.Attempts, DurationMs: max(0, float64(w.Duration)/1e6), Tokens: w.Tokens, CostUSD: api.Money(w.CostNano)}
	if whole == nil || w == (agent.Waste{}) {
		return out
	}
	attempts := int64(0)
	for i := range whole.Counts {
		attempts += whole.Counts[i].Attempts
	}
	out.Share = api.Share{
		Attempts: part(w.Attempts, attempts), Duration: part(w.Duration, whole.Ended-whole.Started),
		Tokens: part(w.Tokens, whole.PerAttempt.Tokens.Total()), Cost: part(w.CostNano, whole.PerAttempt.CostNano),
	}
	return out
}

// part is a part of a whole from 0 to 1, 0 where the whole is none.
func part(n, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return min(max(float64(n)/float64(whole), 0), 1)
}

// or gives the fallback for an empty name.
func or(name, fallback string) string {
	if name == "" {
		return fallback
	}
	return name
}

// millis is the time between two moments, 0 where the second lies before the
// first or is not known.
func millis(start, end int64) float64 {
	if end <= start {
		return 0
	}
	return float64(uint64(end)-uint64(start)) / 1e6 // the difference of any two moments fits
}

// share keeps a share between 0 and 1; what is no number is 0.
func share(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(1, max(0, v))
}

// finite gives nil for what JSON cannot say.
func finite(v *float64) *float64 {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	return v
}

// list and numbers give an empty JSON array or object instead of null.
func list(v []string) []string {
	if v == nil {
		return []string{}
	}
	return v
}

func numbers(v map[string]int64) map[string]int64 {
	if v == nil {
		return map[string]int64{}
	}
	return v
}

func texts[T interface{ String() string }](v []T) []string {
	out := make([]string, 0, len(v))
	for _, t := range v {
		out = append(out, t.String())
	}
	return out
}
