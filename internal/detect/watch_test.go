package detect_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/assemble"
	"github.com/steptrail/steptrail/internal/detect"
	"github.com/steptrail/steptrail/internal/policy"
)

// The stream judges a group of runs only where what came may complete a finding.
// These tests hold that against judging everything after every span: each finding
// is there within the delay, and in the end the findings are the same.

const watchPolicy = `
version: 1
tools:
  - {match: "get*", class: read}
  - {match: "peek", class: read, repeat_unseen: 2}
  - {match: "pay", class: act, reconcile_with: [look]}
  - {match: "wire", class: act, approval: required}
  - {match: "drop", class: act, forbidden: true}
  - {match: "mail", class: act, repeatable: true}
limits:
  - match: {agent: "a"}
    steps: 6
    tool_calls: 3
    tokens: 40
    wall_time: 12s
  - match: {agent: "*"}
    steps: 9
    cost_usd: 0.000000050
detection: {stall_window: 4, context_bytes: 1024}
redaction: {mode: mask, key: "0123456789abcdef", detectors: []}
retention: {act: 400d, human: 400d, think: 90d, read: 90d, content: 30d, findings: 400d, access_log: 400d}
`

// watched is a stream beside the judgement of everything.
type watched struct {
	policy   *policy.Policy
	open     *assemble.Open
	input    agent.Input
	last     int64
	reported map[agent.FindingID]bool
}

func newWatched(p *policy.Policy, limits assemble.Limits) *watched {
	w := &watched{policy: p, reported: map[agent.FindingID]bool{}, input: agent.Input{Facts: map[agent.Ref]*agent.MessageFacts{}}}
	w.open = assemble.NewWatched(limits, p, func(r *agent.Run, under func(string) []agent.Act, at assemble.Moment) ([]agent.Finding, int64) {
		v := detect.Judge(detect.Input{Run: r, Under: under, Policy: p, Now: at.Now, LastArrival: at.LastArrival})
		return v.Findings, v.Next
	})
	return w
}

func (w *watched) note(verdicts []assemble.Verdict) {
	for _, v := range verdicts {
		for _, f := range v.Findings {
			w.reported[f.ID] = true
		}
	}
}

func (w *watched) add(b assemble.Batch, now int64) {
	for _, s := range b.Steps {
		s.Received = now
	}
	w.last = now
	w.input.Steps = append(w.input.Steps, b.Steps...)
	w.input.Logs = append(w.input.Logs, b.Logs...)
	maps.Copy(w.input.Facts, b.Facts)
	w.note(w.open.Add(b, now))
}

// everything judges all runs at one look.
func (w *watched) everything(now int64) map[agent.FindingID]agent.Finding {
	runs := agent.Runs(w.input)
	var acts []agent.Act
	for _, r := range runs {
		acts = append(acts, agent.Acts(r)...)
	}
	out := map[agent.FindingID]agent.Finding{}
	for _, r := range runs {
		for _, f := range detect.Run(detect.Input{Run: r, Under: under(acts), Policy: w.policy, Now: now, LastArrival: w.last}) {
			if f.Kind != "run.stalled" { // a group's last arrival may be that of another run
				out[f.ID] = f
			}
		}
	}
	return out
}

func (w *watched) requireReported(t require.TestingT, now int64, when string) {
	for id, f := range w.everything(now) {
		require.Contains(t, w.reported, id, "%s: %s %s", when, f.Kind, f.Message)
	}
}

// end lets all be judged, and gives what the stream then says of each span.
func (w *watched) end(now int64) map[agent.FindingID]agent.Finding {
	for at := now; at <= now+int64(time.Minute); at += int64(time.Second) {
		w.note(w.open.Due(at))
	}
	out := map[agent.FindingID]agent.Finding{}
	for _, s := range w.input.Steps {
		for _, v := range w.open.Add(assemble.Batch{Steps: []*agent.Step{s}, Facts: w.input.Facts}, w.last) {
			for _, f := range v.Findings {
				if f.Kind != "run.stalled" {
					out[f.ID] = f
				}
			}
		}
	}
	return out
}

func (w *watched) requireEnd(t require.TestingT, now int64) {
	got := w.end(now)
	for id, f := range w.everything(now + int64(time.Minute)) {
		require.Contains(t, got, id, "%s %s", f.Kind, f.Message)
		require.Equal(t, f.Message, got[id].Message)
		require.Equal(t, f.Severity, got[id].Severity, f.Message)
		require.Equal(t, f.Status, got[id].Status, f.Message)
		delete(got, id)
	}
	for _, f := range got {
		require.Fail(t, "only the stream has it", "%s %s", f.Kind, f.Message)
	}
}

const (
	watchStart = int64(1_700_000_000_000_000_000)
	watchDelay = int64(600 * time.Millisecond)
)

// TestNoFindingIsMissedByWatching: random spans, one or a few at a time, a second
// apart, so that each judgement that was put off is due before the next.
func TestNoFindingIsMissedByWatching(t *testing.T) {
	p := parsePolicy(t, watchPolicy)
	rapid.Check(t, func(t *rapid.T) {
		w := newWatched(p, assemble.Limits{Bytes: rapid.SampledFrom([]int64{0, 100_000}).Draw(t, "bytes")})
		d := drawer{T: t, used: map[agent.SpanID]bool{}, rich: rapid.Bool().Draw(t, "rich")}
		facts := d.facts()
		now := watchStart
		for i := range rapid.IntRange(1, 14).Draw(t, "requests") {
			b := assemble.Batch{Facts: facts}
			for range rapid.SampledFrom([]int{1, 1, 1, 3}).Draw(t, "spans") {
				b.Steps = append(b.Steps, d.step(now))
			}
			if d.rich && d.chance(8) {
				b.Logs = append(b.Logs, d.log(now))
			}
			w.add(b, now)
			w.note(w.open.Due(now + watchDelay))
			if w.open.Stats().Evicted > 0 {
				return // that is the sweep's
			}
			w.requireReported(t, now+watchDelay, fmt.Sprint("after request ", i))
			now += int64(time.Second)
		}
		w.requireEnd(t, now)
	})
}

// TestAnAnswerBeforeItsCallIsNotMissedByWatching: a model call that read an unclear
// answer to a call comes before the span that executes the call.
func TestAnAnswerBeforeItsCallIsNotMissedByWatching(t *testing.T) {
	for _, sign := range []agent.Sign{agent.SignLost, agent.SignException, agent.SignReceipt, agent.SignRefused, agent.SignDeferred, agent.SignRejected, agent.SignOK} {
		w := newWatched(parsePolicy(t, watchPolicy), assemble.Limits{})
		ref := drawRef(1)
		facts := map[agent.Ref]*agent.MessageFacts{ref: {Ref: ref, Role: agent.RoleTool, Answers: []agent.CallAnswer{{ID: "c1", Sign: sign}}}}
		step := func(n byte, op agent.Op) *agent.Step {
			trace, at := agent.TraceID{'a'}, watchStart+int64(n)*int64(time.Millisecond)
			return &agent.Step{Tenant: "acme", Unit: trace.String(), Trace: trace, Span: agent.SpanID{n}, Op: op, Start: at, End: at + 1, Agent: "b"}
		}
		answered := step(2, agent.OpModel)
		answered.Model.Context = []agent.Ref{ref}
		call := step(1, agent.OpTool)
		call.Kind, call.KindSource, call.Sign = agent.KindAct, agent.KindSourcePolicy, agent.SignOK
		call.Call = agent.Call{Tool: "pay", ID: "c1", Key: "k"}
		now := watchStart + int64(time.Second)
		for i, s := range []*agent.Step{answered, call} {
			w.add(assemble.Batch{Steps: []*agent.Step{s}, Facts: facts}, now)
			w.note(w.open.Due(now + watchDelay))
			w.requireReported(t, now+watchDelay, fmt.Sprint("sign ", sign, " after span ", i))
			now += int64(time.Second)
		}
		w.requireEnd(t, now)
	}
}

// TestNoFindingOfTheCasesIsMissedByWatching: the labelled cases, span by span, as
// they happened and out of order.
func TestNoFindingOfTheCasesIsMissedByWatching(t *testing.T) {
	for _, folder := range []string{"cases", "cases-random"} {
		for _, c := range loadCases(t, shared(t, folder)) {
			t.Run(c.Name, func(t *testing.T) {
				m := spanMaker{c: &c, base: scenarioBase}
				p := process(t, policyText(t, []caseFile{c}, "5m"), requests(m.convert(), 1, nil))
				for seed := range uint64(2) {
					requireWatched(t, p, seed)
				}
			})
		}
	}
}

func requireWatched(t *testing.T, p *pipe, seed uint64) {
	t.Helper()
	w := newWatched(p.policy, assemble.Limits{})
	steps := slices.Clone(p.input.Steps)
	slices.SortStableFunc(steps, func(x, y *agent.Step) int { return int((x.End - y.End) / max(1, abs(x.End-y.End))) })
	if seed > 0 {
		random := rand.New(rand.NewPCG(seed, 3)) // not for secrets
		random.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	}
	now := lastEnd(steps)
	for i, s := range steps {
		kept := *s
		w.add(assemble.Batch{Steps: []*agent.Step{&kept}, Facts: p.input.Facts}, now)
		w.note(w.open.Due(now + watchDelay))
		if len(steps) < 200 || i%16 == 0 {
			w.requireReported(t, now+watchDelay, fmt.Sprint("after span ", i, " of seed ", seed))
		}
		now += int64(time.Second)
	}
	w.requireEnd(t, now)
}

func abs(n int64) int64 { return max(n, -n) }

// drawer draws spans with few distinct ids, times, tools and keys. A rich one
// draws from all there is, the other mostly spans that are good.
type drawer struct {
	*rapid.T
	rich bool
	n    int
	used map[agent.SpanID]bool
	all  []*agent.Step
}

func (d *drawer) chance(in int) bool { return rapid.IntRange(1, in).Draw(d.T, "chance") == 1 }

func (d *drawer) text(values ...string) string { return rapid.SampledFrom(values).Draw(d.T, "text") }

func drawRef(n int) agent.Ref { return agent.Ref{byte(n), 1} }

func digest(name string) (out agent.Digest) {
	copy(out[:], name)
	return out
}

func (d *drawer) content() agent.Content {
	if d.chance(4) {
		return agent.Content{}
	}
	size := int64(10)
	if d.rich && d.chance(10) {
		size = 2000
	}
	return agent.Content{State: agent.RecordedYes, Digest: digest(d.text("x", "y", fmt.Sprint("new", d.n), fmt.Sprint("new", d.n))), Size: size}
}

func (d *drawer) tool() string {
	return d.text("get_a", "get_b", "pay", "pay", "look", "mail", "peek", "other", "wire", "drop", "transfer_to_x")
}

const drawnMessages = 8

func (d *drawer) facts() map[agent.Ref]*agent.MessageFacts {
	facts := map[agent.Ref]*agent.MessageFacts{}
	for i := range drawnMessages {
		d.n++
		f := &agent.MessageFacts{Ref: drawRef(i), Role: agent.RoleAssistant, UserText: d.chance(4)}
		for range rapid.IntRange(0, 2).Draw(d.T, "calls") {
			c := agent.RequestedCall{ID: d.text("c1", "c2", "c3", ""), Tool: d.tool(), Arguments: d.content()}
			if d.chance(2) {
				c.Kind, c.KindSource = agent.KindRead, agent.KindSourcePolicy
			}
			f.Calls = append(f.Calls, c)
		}
		for range rapid.IntRange(0, 2).Draw(d.T, "answers") {
			f.Answers = append(f.Answers, agent.CallAnswer{ID: d.text("c1", "c2", "c3", ""), Sign: d.sign(), Result: d.content()})
		}
		facts[f.Ref] = f
	}
	return facts
}

func (d *drawer) sign() agent.Sign {
	if d.chance(6) {
		return agent.Sign(rapid.IntRange(0, int(agent.SignReceipt)).Draw(d.T, "sign"))
	}
	return agent.SignOK
}

func (d *drawer) refs(most int) (refs []agent.Ref) {
	for range rapid.IntRange(0, most).Draw(d.T, "refs") {
		refs = append(refs, drawRef(rapid.IntRange(0, drawnMessages-1).Draw(d.T, "ref")))
	}
	return refs
}

func (d *drawer) span() agent.SpanID {
	return agent.SpanID{9, byte(rapid.IntRange(0, 3).Draw(d.T, "span"))}
}

func (d *drawer) trace() agent.TraceID { return agent.TraceID{byte(d.text("a", "a", "a", "b")[0])} }

func (d *drawer) log(now int64) agent.LogContent {
	l := agent.LogContent{Tenant: "acme", Trace: d.trace(), Span: d.span(), Message: drawRef(rapid.IntRange(0, drawnMessages-1).Draw(d.T, "ref")), Output: d.chance(2), Start: now}
	l.Unit = l.Trace.String()
	return l
}

func (d *drawer) step(now int64) *agent.Step {
	d.n++
	if len(d.all) > 0 && d.chance(8) { // again, as it was or as it is now
		again := *rapid.SampledFrom(d.all).Draw(d.T, "again")
		if d.rich && d.chance(3) {
			again.End += int64(d.n)
		}
		return &again
	}
	s := &agent.Step{
		Tenant: "acme", Trace: d.trace(), Span: agent.SpanID{1, byte(d.n)}, Service: "svc", Index: -1, Agent: d.text("", "", "a"),
		Start: now - int64(rapid.IntRange(1, 2500).Draw(d.T, "ago"))*1e6, Sign: d.sign(),
		Op: rapid.SampledFrom([]agent.Op{agent.OpTool, agent.OpTool, agent.OpTool, agent.OpModel, agent.OpModel, agent.OpAgent}).Draw(d.T, "op"),
	}
	s.End = s.Start + int64(rapid.IntRange(0, 300).Draw(d.T, "took"))*1e6
	if id := d.span(); d.chance(3) && !d.used[id] {
		s.Span, d.used[id] = id, true // others may lie in it
	}
	if d.chance(2) {
		s.Parent = d.span()
	}
	d.model(s)
	s.Call = agent.Call{Tool: d.tool(), ID: d.text("", "", fmt.Sprint("call", d.n), "c1", "c2", "c3"), Key: d.text("", fmt.Sprint("key", d.n), fmt.Sprint("key", d.n), "k"), Target: d.text("", "", "t")}
	s.Call.Arguments, s.Call.Result = d.content(), d.content()
	s.Call.Approval, s.Call.Forbidden, s.Call.Repeatable = s.Call.Tool == "wire", s.Call.Tool == "drop", s.Call.Tool == "mail"
	d.kind(s)
	if d.chance(12) {
		s.Rules = []string{d.text("r1", "r2")}
	}
	if d.rich {
		d.odd(s)
	}
	if s.Unit = s.Explicit(); s.Unit == "" {
		s.Unit = s.Trace.String()
	}
	d.all = append(d.all, s)
	return s
}

func (d *drawer) kind(s *agent.Step) {
	if s.Op != agent.OpTool {
		return
	}
	switch s.Call.Tool {
	case "get_a", "get_b", "peek":
		s.Kind, s.KindSource = agent.KindRead, agent.KindSourcePolicy
	case "look":
		s.Kind, s.KindSource = agent.KindReconcile, agent.KindSourcePolicy
	case "other", "transfer_to_x":
	default:
		s.Kind, s.KindSource = agent.KindAct, agent.KindSourcePolicy
	}
}

func (d *drawer) model(s *agent.Step) {
	if s.Op != agent.OpModel && !d.chance(6) {
		return
	}
	s.Model.Requested = d.text("m1", "m2")
	s.Model.Input = digest(d.text("i", fmt.Sprint("in", d.n), fmt.Sprint("in", d.n)))
	s.Model.Output = digest(d.text("o", fmt.Sprint("out", d.n), fmt.Sprint("out", d.n)))
	s.Model.Context, s.Model.Outputs = d.refs(3), d.refs(1)
	s.Model.Tokens = agent.Tokens{Known: true, Input: int64(rapid.SampledFrom([]int{1, 2, 30, 300}).Draw(d.T, "tokens"))}
	s.Model.CostNano = int64(rapid.IntRange(0, 9).Draw(d.T, "cost"))
}

// odd draws what is rare.
func (d *drawer) odd(s *agent.Step) {
	switch rapid.IntRange(0, 17).Draw(d.T, "odd") {
	case 0:
		s.Op = rapid.SampledFrom([]agent.Op{agent.OpNone, agent.OpWorkflow, agent.OpRetrieval, agent.OpHuman, agent.OpGate, agent.OpHandoff, agent.OpHTTP}).Draw(d.T, "op")
	case 1:
		s.Op, s.Kind = agent.OpHTTP, agent.KindUnset
		s.HTTP = agent.HTTP{Method: d.text("GET", "POST"), URL: d.text("/x", "/y"), Key: d.text("", "k", "h")}
		s.StatusCode = int32(rapid.SampledFrom([]int{0, 200, 404, 503}).Draw(d.T, "status"))
	case 2, 3:
		s.StepID = d.text("s1", "s2")
	case 4:
		s.DialectStep = d.text("e1", "e2")
	case 5:
		s.Checkpoint = "n1"
	case 6:
		s.Outcome = agent.Outcome(rapid.IntRange(0, int(agent.OutcomeDeferred)).Draw(d.T, "outcome"))
	case 7, 8:
		s.Op, s.Call.Gate, s.Call.Arguments, s.Call.Result = agent.OpGate, agent.GateNew, agent.Content{}, agent.Content{}
		s.StepID, s.Call.ID = d.text("", "s1", "s2"), ""
	case 9:
		s.Call.Gate = agent.Gate(rapid.IntRange(0, int(agent.GateUnknown)).Draw(d.T, "gate"))
	case 10:
		s.RunID = d.text("R1", "R2")
	case 11:
		s.Links = []agent.Link{{Trace: d.trace()}}
	case 12:
		s.Kind, s.KindSource = agent.Kind(rapid.IntRange(0, int(agent.KindOther)).Draw(d.T, "kind")), agent.KindSource(rapid.IntRange(0, 4).Draw(d.T, "source"))
	case 13:
		s.Call.ArgumentsSent = digest(d.text("s", "u"))
	case 14:
		f := agent.CallFacts{Attempts: uint8(rapid.IntRange(0, 3).Draw(d.T, "attempts")), Task: agent.TaskStatus(rapid.IntRange(0, 4).Draw(d.T, "task")), InputSize: int64(rapid.SampledFrom([]int{0, 500, 5000}).Draw(d.T, "size"))}
		if d.chance(3) {
			f.Words = []agent.CallWord{{ID: d.text("c1", "c2"), Sign: d.sign()}}
		}
		s.Facts = string(f.Append(nil))
	case 15:
		s.End = 0
	case 16:
		s.Model.ResponseID = "resp"
	case 17:
		s.HandoffTo = d.text("x", "y")
	}
}
