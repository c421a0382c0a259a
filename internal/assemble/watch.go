package assemble

import (
	"slices"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/policy"
)

// watch sees the steps of a group once, as they come, and tells which of them may
// complete a finding. It errs on one side only: as long as it has not flagged a
// group, and nothing that it names is due, a judgement of the group finds
// nothing that was not found before, in whatever runs its steps fall.
//
// It counts what any finding must have at least (a call twice, a key twice, a
// step id twice, a failed act, so many failures, so many steps), over all runs
// and lanes of the group. Once flagged, all that follows is judged, since it may
// change what holds. A few kinds of findings need no flag, since what follows
// cannot raise them again: limits, rules, what is large, tools without a class or
// key. They are remembered as found.
type watch struct {
	rules   *watchRules
	seen    counts
	flagged bool // something may be a finding: every step is judged
	hot     bool // the step in hand may complete one

	tools   []toolSeen
	open    []openCall // asked for, and not yet seen to run
	context []agent.Ref

	limits policy.Limits // the least of those that may hold
	names  [maxNames]name
	named  int
	first  int64 // start of the earliest span
	last   int64 // end of the latest
	steps  int64
	tokens int64
	cost   int64
	over   bool // beyond a limit, as counted here
	isRun  bool // something in it is a step or may be an agent's root
	agents bool // an agent's span came
	waits  bool // a root that has not ended came
	rooted bool // a span without parent came
	gated  bool // a gate let something through
	failed int
	noNews int
	passed int      // hand-offs
	least  int64    // bytes of the smallest model input
	most   int64    // and of the largest
	met    []string // rules that spans met, until they are found
	found  []uint64 // findings that need no flag, of the only run
	as     identity // of the group when they were noted
	due    int64    // when what is absent by then is a finding; 0: nothing is
}

// watchRules is what the watches of all groups need of the policy.
type watchRules struct {
	policy  *policy.Policy
	repeat  int
	rounds  int
	window  int
	context int64
	settle  int64
	quiet   int64
}

func newWatchRules(p *policy.Policy) *watchRules {
	d := &p.Detection
	return &watchRules{policy: p, repeat: d.Repeat, rounds: d.CycleRounds, window: d.StallWindow, context: int64(d.ContextBytes), settle: int64(d.Settle), quiet: int64(d.Quiet)}
}

// toolSeen is what is known of the calls of one tool.
type toolSeen struct {
	name  string
	base  uint64 // hash of its name without prefix
	rule  *policy.Tool
	calls int64
	bare  int // calls whose arguments were not recorded
}

// name is what limits are chosen by.
type name struct{ agent, task string }

const (
	// maxNames is how many agents and kinds of task of one group are told apart.
	maxNames = 4
	// maxTools is how many tools of one group are told apart; beyond it, all is judged.
	maxTools = 256
	// maxOpenCalls is how many calls without an execution are remembered.
	maxOpenCalls = 64
	// maxFound is how many findings are remembered as found.
	maxFound = 64
	// maxNesting is how many spans up a model call is followed.
	maxNesting = 64
	// stallDefault is how long a run without a wall-time limit may be silent.
	stallDefault = time.Hour
)

func newWatch(r *watchRules) *watch {
	return &watch{rules: r, limits: policy.Limits{Attempts: policy.DefaultAttempts}}
}

// flag: from here on, every step is judged.
func (w *watch) flag() { w.flagged, w.hot = true, true }

// see takes in a step that is new to its group and reports whether it may
// complete a finding. Its message facts are with the group.
func (w *watch) see(g *group, s *agent.Step) bool {
	w.hot = false
	w.measure(g, s)
	w.nest(g, s)
	w.isRun = w.isRun || s.Op == agent.OpAgent || s.Op == agent.OpWorkflow || s.IsStep()
	switch {
	case s.Op == agent.OpModel:
		w.model(g, s)
	case s.IsStep():
		w.step(s)
	case s.Op == agent.OpHTTP:
		w.request(s)
	case !isClean(s):
		w.fail()
	}
	if s.Op == agent.OpAgent {
		w.answers(g, s.Model.Context)
		w.answers(g, s.Model.Outputs)
	}
	w.speaks(s)
	return w.hot
}

// isClean: it ended well, as it says or shows.
func isClean(s *agent.Step) bool {
	if s.Outcome != agent.OutcomeUnset {
		return s.Outcome == agent.OutcomeOK
	}
	return s.Sign == agent.SignOK || s.Sign == agent.SignNone && s.End != 0
}

// fail counts what did not end well: so many in a row may be a storm.
func (w *watch) fail() {
	if w.failed++; w.failed >= w.limits.Attempts {
		w.flag()
	}
}

// stale counts a call that may have brought no news.
func (w *watch) stale() {
	if w.noNews++; w.rules.window > 0 && w.noNews >= w.rules.window {
		w.flag()
	}
}

// speaks looks at what a span says of more than itself: attempts that it counts,
// calls that it does not stand for, a rule that it met, a tool that is forbidden.
func (w *watch) speaks(s *agent.Step) {
	if s.Call.Forbidden || s.Call.Approval {
		w.flag()
	}
	for _, rule := range s.Rules {
		if !w.wasFound("rule."+rule, rule) && !slices.Contains(w.met, rule) && len(w.met) < maxFound {
			w.met, w.hot = append(w.met, own(rule)), true
		}
	}
	if s.Facts == "" {
		return
	}
	if _, _, speaks := agent.PeekFacts(s.Facts); speaks {
		if f := agent.ParseCallFacts(s.Facts); f.Attempts > 1 || len(f.Words) > 0 || f.Open != agent.SignNone {
			w.flag()
		}
	}
}

// identity counts what makes attempts of one step.
func (w *watch) identity(s *agent.Step, family string) {
	if s.StepID != "" && w.seen.add(traitStep.text(s.StepID, family)) > 1 {
		w.flag()
	}
	if s.DialectStep != "" && w.seen.add(traitEngine.text(s.DialectStep, family)) > 1 {
		w.flag()
	}
	if s.Call.ID != "" && s.Op != agent.OpModel {
		w.hasID(s.Call.ID, s.Call.Tool, s.Op == agent.OpTool || s.Op == agent.OpHandoff || s.Op == agent.OpRetrieval)
	}
}

// hasID: a span has a call id, and maybe executes that call of a tool.
func (w *watch) hasID(id, called string, ran bool) {
	key := traitCallID.text(id)
	m := markSpan
	if ran {
		m |= markRan
		w.seen.add(traitRanAs.with(key, w.base(called)))
	}
	if had := w.seen.mark(key, m); had&markSpan != 0 || ran && had&markUnsure != 0 {
		w.flag()
	}
}

// nest counts model calls and requests inside each model call, which are its
// attempts, and model calls inside the activity of a durable engine.
func (w *watch) nest(g *group, s *agent.Step) {
	holds := holdsAttempts(s)
	if !holds && (s.Op == agent.OpTool || s.Op == agent.OpAgent) {
		return
	}
	inside := w.seen.get(traitInside.span(s.Trace, s.Span))
	if inside > 1 && holds {
		w.flag()
	}
	up := 0
	switch s.Op {
	case agent.OpModel:
		up = 1
	case agent.OpTool, agent.OpAgent:
	case agent.OpHTTP:
		up = inside + 1
	default:
		up = inside
	}
	if up == 0 {
		return
	}
	parent := s.Parent
	for range maxNesting {
		if parent.IsZero() {
			return
		}
		n := 0
		for range min(up, 2) {
			n = w.seen.add(traitInside.span(s.Trace, parent))
		}
		i := g.find(spanKey{s.Trace, parent})
		if i < 0 {
			return
		}
		at := g.above(i)
		if n > 1 && at.holds {
			w.flag()
		}
		parent = at.parent
		if at.op == agent.OpModel || at.op == agent.OpTool || at.op == agent.OpAgent {
			return
		}
	}
	w.flag()
}

func holdsAttempts(s *agent.Step) bool {
	return s.Op == agent.OpModel || s.Op == agent.OpTool && s.DialectStep != ""
}

// request: an HTTP request that sent something and did not end well says
// something about the act around it.
func (w *watch) request(s *agent.Step) {
	ok := s.StatusCode > 0 && s.StatusCode < 400 || s.StatusCode == 0 && isClean(s)
	if ok {
		return
	}
	switch s.HTTP.Method {
	case "GET", "HEAD", "OPTIONS":
		w.fail()
	default:
		w.flag()
	}
}
