package assemble

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/steptrail/steptrail/internal/agent"
)

const (
	stepCost = int64(unsafe.Sizeof(agent.Step{}))
	refCost  = int64(unsafe.Sizeof(agent.Ref{}))
	linkCost = int64(unsafe.Sizeof(agent.Link{}))
)

// own copies a string, so that it keeps no request alive.
func own(s string) string { return strings.Clone(s) }

// clone copies what judging needs of a step, apart from the telemetry that it
// came in: all its strings in one allocation, or, where the step before it in
// the group has the same, that one's. It gives the bytes that it takes.
func clone(s, like *agent.Step) (*agent.Step, int64) {
	c := new(agent.Step)
	*c = *s
	c.Name, c.Attributes, c.Resource, c.Events = "", nil, nil, nil
	if like == nil {
		like = &noStep
	}
	var mine, theirs [texts]*string
	pointers(c, &mine)
	pointers(like, &theirs)
	fresh := mine[:0] // those that like has not
	for i, p := range mine {
		switch {
		case sameText(p, theirs[i]): // nothing to write
		case *p == *theirs[i]:
			*p = *theirs[i]
		default:
			fresh = append(fresh, p)
		}
	}
	ownTexts(fresh)
	c.Call.ReconcileWith = ownAll(c.Call.ReconcileWith)
	c.Rules = ownAll(c.Rules)
	c.Links = slices.Clone(c.Links)
	c.Model.Context = slices.Clone(c.Model.Context)
	c.Model.Outputs = slices.Clone(c.Model.Outputs)
	return c, sizeOf(c)
}

var noStep agent.Step

// ownTexts is own for several strings: in one allocation.
func ownTexts(list []*string) {
	n := 0
	for _, p := range list {
		n += len(*p)
	}
	if n == 0 {
		return
	}
	var b strings.Builder
	b.Grow(n)
	for _, p := range list {
		b.WriteString(*p)
	}
	all := b.String()
	for _, p := range list {
		*p, all = all[:len(*p)], all[len(*p):]
	}
}

// sameText reports whether two strings are one in memory.
func sameText(x, y *string) bool {
	return len(*x) == len(*y) && unsafe.StringData(*x) == unsafe.StringData(*y) //nolint:gosec // addresses are compared, nothing is read through them
}

func ownAll(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = own(s)
	}
	return out
}

// sharedTexts is how many bytes of its texts a step is taken to have from the one
// before it.
const sharedTexts = 1 << 10

// sizeOf estimates the memory of a kept step. It depends on the step only, so
// that what was added is what is taken away: texts that steps of a run mostly share
// count where they are longer than is usual.
func sizeOf(s *agent.Step) int64 {
	n := stepCost + refCost*int64(len(s.Model.Context)+len(s.Model.Outputs)) + linkCost*int64(len(s.Links))
	own := len(s.StepID) + len(s.Call.ID) + len(s.Call.Key) + len(s.Call.Target) + len(s.ErrorText) + len(s.Model.ResponseID) + len(s.HTTP.URL) + len(s.Facts)
	all := 0
	var list [texts]*string
	pointers(s, &list)
	for _, p := range list {
		all += len(*p)
	}
	n += int64(max(own, all-sharedTexts))
	for _, r := range s.Rules {
		n += int64(len(r)) + 16
	}
	return n
}

// texts is how many strings of a step are kept.
const texts = 46

// pointers lists the strings of a step that are kept.
func pointers(s *agent.Step, to *[texts]*string) {
	*to = [texts]*string{
		&s.Tenant, &s.Unit, &s.SpanKind, &s.Scope, &s.Dialect, &s.Service, &s.Instance,
		&s.RunID, &s.DialectRun, &s.ParentRun, &s.Session, &s.User, &s.TaskType, &s.Scenario, &s.Escalation,
		&s.Agent, &s.AgentID, &s.AgentVersion, &s.StepID, &s.DialectStep, &s.Checkpoint,
		&s.Call.Tool, &s.Call.ID, &s.Call.ToolType, &s.Call.Target, &s.Call.Key,
		&s.Model.Provider, &s.Model.Requested, &s.Model.Served, &s.Model.ResponseID, &s.Model.PromptName, &s.Model.PromptVersion,
		&s.Model.FinishReason, &s.Model.ContextURI,
		&s.ErrorType, &s.ErrorText, &s.Reconciles, &s.Actor, &s.Reason, &s.HandoffTo,
		&s.HTTP.Method, &s.HTTP.URL, &s.HTTP.Key, &s.PolicyHash, &s.Name, &s.Facts,
	}
}
