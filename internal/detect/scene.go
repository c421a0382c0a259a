package detect

import (
	"slices"
	"sort"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/policy"
)

// scene is a run while it is judged: the input, and what several detectors need
// of it, worked out once and only when it is asked for.
type scene struct {
	*Input
	detection policy.Detection
	next      int64 // as Verdict.Next

	tools    map[string]*policy.Tool
	line     []moment
	voices   []int64 // starts of human steps and turns, in order
	lanes    []lane
	classes  *classes
	keys     []keyed
	unknowns []agent.Unknown
	agreed   *consents
	parents  map[agent.Link]*agent.Step
	allActs  []int
	deferred map[string]int64 // call id → when it was put off
	calls    bool             // lanes are made
	lined    bool
	voiced   bool
	lived    bool
	classed  bool
	indexed  bool
}

// defaults are the thresholds that hold without a policy.
var defaults = policy.Detection{
	Repeat: 3, CycleRounds: 3, StallWindow: 8, UnknownSLA: 300e9, Quiet: 10e9, InFlight: 300e9, Settle: 2e9, ContextBytes: 65536,
}

func newScene(in Input) *scene {
	x := &scene{Input: &in, detection: defaults}
	if in.Policy != nil {
		x.detection = in.Policy.Detection
	}
	return x
}

// tool is the policy's rule for a tool; nil where it has none.
func (x *scene) tool(name string) *policy.Tool {
	if x.Policy == nil || name == "" {
		return nil
	}
	t, known := x.tools[name]
	if !known {
		if x.tools == nil {
			x.tools = map[string]*policy.Tool{}
		}
		t = x.Policy.Tool(name)
		x.tools[name] = t
	}
	return t
}

// again asks for another judgement at a time, if that lies ahead.
func (x *scene) again(at int64) {
	if at > x.Now && (x.next == 0 || at < x.next) {
		x.next = at
	}
}

// absent reports whether so much time has gone by since an attempt came that
// what is absent can be called absent; if not, it asks to be judged again.
func (x *scene) absent(a *agent.Attempt) bool {
	if x.settled(a) {
		return true
	}
	x.again(x.settles(a))
	return false
}

// absentOnceQuiet is absent for what only adds to a finding that is there: it can
// wait until the run is quiet.
func (x *scene) absentOnceQuiet(a *agent.Attempt) bool {
	if x.settled(a) {
		return true
	}
	x.again(max(x.settles(a), x.LastArrival+int64(x.detection.Quiet)))
	return false
}

func (x *scene) settled(a *agent.Attempt) bool { return x.Now == 0 || x.settles(a) <= x.Now }

// settles is when what an attempt does not have by then is absent.
func (x *scene) settles(a *agent.Attempt) int64 {
	var came int64
	for _, s := range a.Spans {
		came = max(came, s.Received)
	}
	return came + int64(x.detection.Settle)
}

// moment is an attempt of the run at its place in time.
type moment struct {
	step  *agent.RunStep
	at    *agent.Attempt
	class classID // once equalCalls has run
}

// timeline gives all attempts of the run by start, end and ids.
func (x *scene) timeline() []moment {
	if x.lined {
		return x.line
	}
	x.lined = true
	n := 0
	for i := range x.Run.Steps {
		n += len(x.Run.Steps[i].Attempts)
	}
	x.line = make([]moment, 0, n)
	sorted := true
	for i := range x.Run.Steps {
		st := &x.Run.Steps[i]
		for j := range st.Attempts {
			m := moment{step: st, at: &st.Attempts[j]}
			if k := len(x.line); k > 0 && sorted && agent.CompareAttempts(x.line[k-1].at, m.at) > 0 {
				sorted = false
			}
			x.line = append(x.line, m)
		}
	}
	if !sorted {
		slices.SortStableFunc(x.line, func(a, b moment) int { return agent.CompareAttempts(a.at, b.at) })
	}
	return x.line
}

// people gives the times at which a person spoke: human steps and user turns.
func (x *scene) people() []int64 {
	if x.voiced {
		return x.voices
	}
	x.voiced = true
	for i := range x.Run.Steps {
		st := &x.Run.Steps[i]
		if st.Kind != agent.KindHuman {
			continue
		}
		for j := range st.Attempts {
			x.voices = append(x.voices, st.Attempts[j].Start)
		}
	}
	for _, t := range x.Run.Turns {
		x.voices = append(x.voices, t.Time)
	}
	slices.Sort(x.voices)
	return x.voices
}

// spokeBetween reports whether a person spoke after one time and not after
// another.
func (x *scene) spokeBetween(from, to int64) bool {
	v := x.people()
	i := sort.Search(len(v), func(i int) bool { return v[i] > from })
	return i < len(v) && v[i] <= to
}

// life gives the unknown outcomes of the run and what became of them.
func (x *scene) life() []agent.Unknown {
	if x.lived {
		return x.unknowns
	}
	x.lived = true
	rules := agent.UnknownRules{Resolutions: x.Resolutions}
	if x.Policy != nil {
		rules.IsReconciledBy = func(act, look string) bool { return x.tool(act).IsReconciledBy(look) }
	}
	x.unknowns = agent.Unknowns(x.Run, rules)
	return x.unknowns
}

// onTool lowers a severity where nobody has classified the tool: critical
// becomes warning. The way out is to class the tool.
func onTool(s agent.Severity, st *agent.RunStep) agent.Severity {
	if st.Source == agent.KindSourceDefault && s == agent.SeverityCritical {
		return agent.SeverityWarning
	}
	return s
}

// onToolInfo lowers a severity to info where nobody has classified the tool.
func onToolInfo(s agent.Severity, st *agent.RunStep) agent.Severity {
	if st.Source == agent.KindSourceDefault {
		return agent.SeverityInfo
	}
	return s
}

// repeatable reports whether running the tool again is no double effect: the
// policy or the tool itself says so.
func (x *scene) repeatable(a *agent.Attempt) bool {
	for _, s := range a.Own() {
		if s.Call.Repeatable || s.Call.Effect == agent.EffectIdempotent {
			return true
		}
	}
	return a.NoSpan && x.policyRepeatable(a)
}

// policyRepeatable: the policy says so.
func (x *scene) policyRepeatable(a *agent.Attempt) bool {
	for _, s := range a.Own() {
		if s.Call.Repeatable {
			return true
		}
	}
	if !a.NoSpan {
		return false
	}
	t := x.tool(a.Tool)
	return t != nil && t.Repeatable
}

func evidence(a *agent.Attempt) agent.Evidence {
	return agent.Evidence{Unit: a.Unit, Trace: a.Trace, Span: a.Span, Attempt: a.Number}
}

// place is an attempt's name as an anchor.
func place(a *agent.Attempt) string {
	return a.Unit + "\x00" + a.Trace.String() + "\x00" + a.Span.String() + "\x00" + string([]byte{byte(a.Part >> 8), byte(a.Part)})
}
