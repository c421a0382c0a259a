package agent

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// mergeSteps joins two receptions of one span (same tenant, trace and span id).
// Each field, or group of fields that belong together, takes the greater of its
// two values, where unset is the least. That makes the join commutative,
// associative and idempotent: any order and any repetition of the receptions
// gives the same step. The usual case, equal copies, gives that step.
func mergeSteps(a, b *Step) *Step {
	if a == b {
		return a
	}
	m := *a
	mergeIdentity(&m, b)
	mergeStatement(&m, b)
	mergeVerdict(&m, b)
	mergeCall(&m.Call, &b.Call)
	mergeModel(&m.Model, &b.Model)
	mergeRest(&m, b)
	return &m
}

func mergeIdentity(m, b *Step) {
	most(&m.Tenant, b.Tenant)
	most(&m.Unit, b.Unit)
	if b.Parent.Compare(m.Parent) > 0 {
		m.Parent = b.Parent
	}
	most(&m.Name, b.Name)
	most(&m.SpanKind, b.SpanKind)
	most(&m.Scope, b.Scope)
	most(&m.Dialect, b.Dialect)
	most(&m.Service, b.Service)
	most(&m.Instance, b.Instance)
	least(&m.Start, b.Start)
	least(&m.Received, b.Received)
	most(&m.Expires, b.Expires)
	most(&m.ContentExpires, b.ContentExpires)
}

func mergeStatement(m, b *Step) {
	most(&m.RunID, b.RunID)
	switch strings.Compare(b.DialectRun, m.DialectRun) {
	case 1:
		m.DialectRun, m.DialectRunWeak = b.DialectRun, b.DialectRunWeak
	case 0:
		m.DialectRunWeak = m.DialectRunWeak && b.DialectRunWeak
	}
	most(&m.ParentRun, b.ParentRun)
	most(&m.Session, b.Session)
	most(&m.User, b.User)
	most(&m.TaskType, b.TaskType)
	most(&m.Scenario, b.Scenario)
	most(&m.RunOutcome, b.RunOutcome)
	most(&m.Escalation, b.Escalation)
	most(&m.Agent, b.Agent)
	most(&m.AgentID, b.AgentID)
	most(&m.AgentVersion, b.AgentVersion)
	most(&m.Op, b.Op)
	mergeKind(&m.Kind, &m.KindSource, b.Kind, b.KindSource)
	most(&m.StepID, b.StepID)
	most(&m.DialectStep, b.DialectStep)
	most(&m.Checkpoint, b.Checkpoint)
	most(&m.Index, b.Index)
	most(&m.Attempt, b.Attempt)
	most(&m.Reconciles, b.Reconciles)
	most(&m.ReconcileResult, b.ReconcileResult)
	most(&m.Decision, b.Decision)
	most(&m.Actor, b.Actor)
	most(&m.Reason, b.Reason)
	most(&m.HandoffTo, b.HandoffTo)
	most(&m.HTTP.Method, b.HTTP.Method)
	most(&m.HTTP.URL, b.HTTP.URL)
	most(&m.HTTP.Key, b.HTTP.Key)
}

// mergeKind keeps the stronger source, which is the smaller one but unset.
func mergeKind(k *Kind, src *KindSource, bk Kind, bsrc KindSource) {
	strength := func(s KindSource) KindSource {
		if s == KindSourceUnset {
			return KindSourceUnset
		}
		return KindSourceDefault + 1 - s
	}
	if c := cmp.Or(cmp.Compare(strength(bsrc), strength(*src)), cmp.Compare(bk, *k)); c > 0 {
		*k, *src = bk, bsrc
	}
}

// mergeVerdict takes end, outcome, sign and error from the reception that ended
// later: an unfinished span that is sent again when it has ended.
func mergeVerdict(m, b *Step) {
	c := cmp.Or(
		cmp.Compare(b.End, m.End), cmp.Compare(b.Outcome, m.Outcome), cmp.Compare(b.Sign, m.Sign),
		cmp.Compare(b.StatusCode, m.StatusCode), strings.Compare(b.ErrorType, m.ErrorType), strings.Compare(b.ErrorText, m.ErrorText))
	if c > 0 {
		m.End, m.Outcome, m.Sign = b.End, b.Outcome, b.Sign
		m.StatusCode, m.ErrorType, m.ErrorText = b.StatusCode, b.ErrorType, b.ErrorText
	}
}

func mergeCall(m, b *Call) {
	most(&m.Tool, b.Tool)
	most(&m.ID, b.ID)
	most(&m.ToolType, b.ToolType)
	most(&m.Effect, b.Effect)
	most(&m.Target, b.Target)
	most(&m.Key, b.Key)
	most(&m.Gate, b.Gate)
	mergeContent(&m.Arguments, b.Arguments)
	mergeContent(&m.Result, b.Result)
	mostBytes(m.ArgumentsSent[:], b.ArgumentsSent[:])
	mostBytes(m.ResultSent[:], b.ResultSent[:])
	m.OutputFunction = m.OutputFunction || b.OutputFunction
	most(&m.OnUnknown, b.OnUnknown)
	mostList(&m.ReconcileWith, b.ReconcileWith, strings.Compare)
	m.Repeatable = m.Repeatable || b.Repeatable
	m.Approval = m.Approval || b.Approval
	m.Forbidden = m.Forbidden || b.Forbidden
}

func mergeContent(m *Content, b Content) {
	c := cmp.Or(cmp.Compare(b.State, m.State), cmp.Compare(b.Size, m.Size),
		slices.Compare(b.Digest[:], m.Digest[:]), slices.Compare(b.Ref[:], m.Ref[:]))
	if c > 0 {
		*m = b
	}
}

func mergeModel(m, b *Model) {
	most(&m.Provider, b.Provider)
	most(&m.Requested, b.Requested)
	most(&m.Served, b.Served)
	most(&m.ResponseID, b.ResponseID)
	most(&m.PromptName, b.PromptName)
	most(&m.PromptVersion, b.PromptVersion)
	most(&m.FinishReason, b.FinishReason)
	mostPointer(&m.Params.Temperature, b.Params.Temperature)
	mostPointer(&m.Params.TopP, b.Params.TopP)
	mostPointer(&m.Params.MaxTokens, b.Params.MaxTokens)
	mostPointer(&m.Params.Seed, b.Params.Seed)
	if compareTokens(b.Tokens, m.Tokens) > 0 {
		m.Tokens = b.Tokens
	}
	if cmp.Or(-cmp.Compare(rankCost(b.CostSource), rankCost(m.CostSource)), cmp.Compare(b.CostNano, m.CostNano)) > 0 {
		m.CostNano, m.CostSource = b.CostNano, b.CostSource
	}
	mostList(&m.Context, b.Context, compareRefs)
	mostBytes(m.ContextHash[:], b.ContextHash[:])
	most(&m.ContextURI, b.ContextURI)
	mostBytes(m.Input[:], b.Input[:])
	mostBytes(m.Output[:], b.Output[:])
	mostList(&m.Outputs, b.Outputs, compareRefs)
}

// rankCost: a reported cost goes before a computed one, any before none.
func rankCost(s CostSource) int {
	if s == CostSourceUnset {
		return math.MaxInt
	}
	return int(s)
}

func compareTokens(a, b Tokens) int {
	known := 0
	if a.Known != b.Known {
		if known = -1; a.Known {
			known = 1
		}
	}
	return cmp.Or(known, cmp.Compare(a.Total(), b.Total()), cmp.Compare(a.Input, b.Input), cmp.Compare(a.CacheRead, b.CacheRead),
		cmp.Compare(a.CacheWrite, b.CacheWrite), cmp.Compare(a.Reasoning, b.Reasoning))
}

func mergeRest(m, b *Step) {
	mostList(&m.Links, b.Links, func(x, y Link) int { return cmp.Or(x.Trace.Compare(y.Trace), x.Span.Compare(y.Span)) })
	mostList(&m.Rules, b.Rules, strings.Compare)
	most(&m.Facts, b.Facts)
	m.Erased = m.Erased || b.Erased
	most(&m.PolicyHash, b.PolicyHash)
	most(&m.Redacted, b.Redacted)
	most(&m.Dropped, b.Dropped)
	mostList(&m.Attributes, b.Attributes, compareAttrs)
	mostList(&m.Resource, b.Resource, compareAttrs)
	mostList(&m.Events, b.Events, compareEvents)
}

func compareAttrs(x, y Attr) int {
	if c := cmp.Or(strings.Compare(x.Key, y.Key), strings.Compare(x.Value, y.Value)); c != 0 || x.JSON == y.JSON {
		return c
	}
	if x.JSON {
		return 1
	}
	return -1
}

func compareEvents(x, y Event) int {
	return cmp.Or(cmp.Compare(x.Time, y.Time), strings.Compare(x.Name, y.Name), slices.CompareFunc(x.Attributes, y.Attributes, compareAttrs))
}

func compareRefs(x, y Ref) int { return slices.Compare(x[:], y[:]) }

func most[T cmp.Ordered](m *T, b T) {
	if b > *m {
		*m = b
	}
}

// least keeps the smaller of two times; 0 is unset.
func least(m *int64, b int64) {
	if b != 0 && (*m == 0 || b < *m) {
		*m = b
	}
}

func mostBytes(m, b []byte) {
	if slices.Compare(b, m) > 0 {
		copy(m, b)
	}
}

func mostPointer[T cmp.Ordered](m **T, b *T) {
	if b != nil && (*m == nil || *b > **m) {
		*m = b
	}
}

// mostList keeps the longer list, of two equally long ones the greater.
func mostList[T any](m *[]T, b []T, compare func(x, y T) int) {
	if c := cmp.Or(cmp.Compare(len(b), len(*m)), slices.CompareFunc(b, *m, compare)); c > 0 {
		*m = b
	}
}
