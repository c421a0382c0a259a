package store

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"

	"github.com/steptrail/steptrail/internal/agent"
)

// erasedPrefix begins the pseudonyms that an erasure leaves.
const erasedPrefix = "erased-"

// scrubber takes content and identifying fields out of what spans state. What
// the rules compare (targets, keys, URLs, error types, references) is replaced
// by pseudonyms under a salt that is thrown away with the scrubber: what was
// equal within one pass stays equal, and nothing can be told from it, not even
// by who knows the text.
type scrubber struct {
	salt  [32]byte
	tools map[string]bool // names of tools that spans state
	steps map[string]bool // ids of steps that spans state
}

func newScrubber() *scrubber {
	s := &scrubber{tools: map[string]bool{}, steps: map[string]bool{}}
	_, _ = rand.Read(s.salt[:]) // never fails
	return s
}

func (s *scrubber) sum(of string) [32]byte {
	return sha256.Sum256(append(s.salt[:len(s.salt):len(s.salt)], of...))
}

func (s *scrubber) name(v string) string {
	if v == "" {
		return ""
	}
	sum := s.sum(v)
	return erasedPrefix + hex.EncodeToString(sum[:8])
}

func (s *scrubber) ref(r agent.Ref) agent.Ref {
	if r.IsZero() {
		return r
	}
	sum := s.sum(string(r[:]))
	return agent.Ref(sum[:len(r)])
}

func (s *scrubber) refs(rs []agent.Ref) []agent.Ref {
	out := make([]agent.Ref, len(rs))
	for i, r := range rs {
		out[i] = s.ref(r)
	}
	return out
}

func (s *scrubber) content(c agent.Content) agent.Content {
	c.Ref = s.ref(c.Ref)
	return c
}

// step gives what stays of a span: that something happened, of what kind, by
// which tool, model and agent, how it ended and when, its ids, sizes, tokens and
// cost, and the keyed hashes by which calls are compared. Everything that is not
// named here goes.
func (s *scrubber) step(st *agent.Step) *agent.Step {
	if st.Erased {
		return st
	}
	out := &agent.Step{
		Tenant: st.Tenant, Unit: st.Unit, Trace: st.Trace, Span: st.Span, Parent: st.Parent,
		SpanKind: st.SpanKind, Scope: st.Scope, Dialect: st.Dialect, Service: st.Service, Instance: st.Instance,
		Start: st.Start, End: st.End, Received: st.Received, Expires: st.Expires, ContentExpires: min(st.ContentExpires, st.Received/1e9),
		RunID: st.RunID, DialectRun: st.DialectRun, DialectRunWeak: st.DialectRunWeak, ParentRun: st.ParentRun,
		TaskType: st.TaskType, Scenario: st.Scenario, RunOutcome: st.RunOutcome,
		Agent: st.Agent, AgentID: st.AgentID, AgentVersion: st.AgentVersion,
		Op: st.Op, Kind: st.Kind, KindSource: st.KindSource, StepID: st.StepID, DialectStep: st.DialectStep, Checkpoint: st.Checkpoint,
		Index: st.Index, Attempt: st.Attempt,
		Call: s.call(st.Call), Model: s.model(st.Model),
		Outcome: st.Outcome, Sign: st.Sign, ErrorType: s.name(st.ErrorType), StatusCode: st.StatusCode,
		ReconcileResult: st.ReconcileResult, Decision: st.Decision, HandoffTo: st.HandoffTo,
		HTTP:  agent.HTTP{Method: st.HTTP.Method, URL: s.name(st.HTTP.URL), Key: s.name(st.HTTP.Key)},
		Links: st.Links, Rules: st.Rules, Facts: s.facts(st.Facts), PolicyHash: st.PolicyHash, Redacted: st.Redacted, Dropped: st.Dropped,
		Erased: true,
	}
	if st.Escalation != "" {
		out.Escalation = "erased" // that there was one makes the run's outcome
	}
	// It names a step, which keeps its id, or a key, which does not.
	if out.Reconciles = st.Reconciles; !s.steps[st.Reconciles] {
		out.Reconciles = s.name(st.Reconciles)
	}
	return out
}

func (s *scrubber) call(c agent.Call) agent.Call {
	c.Target, c.Key = s.name(c.Target), s.name(c.Key)
	c.Arguments, c.Result = s.content(c.Arguments), s.content(c.Result)
	return c
}

func (s *scrubber) model(m agent.Model) agent.Model {
	m.Context, m.Outputs = s.refs(m.Context), s.refs(m.Outputs)
	if m.ContextHash != (agent.Hash{}) {
		m.ContextHash = s.sum(string(m.ContextHash[:]))
	}
	m.ContextURI = ""
	return m
}

// facts keeps what is told by keyed marks; the tool that arguments name only
// where a span names it too.
func (s *scrubber) facts(encoded string) string {
	f := agent.ParseCallFacts(encoded)
	if !s.tools[f.Tool] {
		f.Tool = ""
	}
	return string(f.Append(nil))
}

// message gives the facts of a message under its pseudonym.
func (s *scrubber) message(f agent.MessageFacts) agent.MessageFacts {
	if f.Erased {
		return f
	}
	f.Erased, f.Ref = true, s.ref(f.Ref)
	calls := make([]agent.RequestedCall, len(f.Calls))
	for i, c := range f.Calls {
		c.Arguments = s.content(c.Arguments)
		calls[i] = c
	}
	answers := make([]agent.CallAnswer, len(f.Answers))
	for i, a := range f.Answers {
		a.Result = s.content(a.Result)
		answers[i] = a
	}
	f.Calls, f.Answers = calls, answers
	return f
}

// log gives the place of a message that came as a log record.
func (s *scrubber) log(l agent.LogContent) agent.LogContent {
	if !l.Erased {
		l.Erased, l.Message = true, s.ref(l.Message)
	}
	return l
}

// note learns the names of tools and the ids of steps that spans state.
func (s *scrubber) note(tool, step string) {
	s.tools[tool], s.steps[step] = tool != "", step != ""
}
