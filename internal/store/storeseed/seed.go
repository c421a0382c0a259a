// Package storeseed makes a day of agents' work for tests of statistics and
// dashboards: every kind of run, step, outcome and finding that they draw. It is
// the same every time, but for the time at which the day ends.
package storeseed

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
)

// Tenant is whose work it is.
const Tenant = "default"

// runs is how many runs the day has.
const runs = 48

// Steps gives the spans of the day that ends at end, the root of each run last.
func Steps(end time.Time) []*agent.Step {
	var all []*agent.Step
	for i := range runs {
		d := &day{run: i, at: end.Add(-24*time.Hour + time.Duration(i)*29*time.Minute).UnixNano(), expires: end.Add(30 * 24 * time.Hour).Unix()}
		d.play()
		all = append(all, d.steps...)
	}
	return all
}

// day makes the spans of one run.
type day struct {
	run     int
	at      int64 // Unix nanoseconds, when the next step begins
	begin   int64
	expires int64
	steps   []*agent.Step
}

var (
	agents  = [...]string{"support-agent", "billing-agent", "ops-agent"}
	tasks   = [...]string{"refund", "invoice", "lookup", "restart"}
	models  = [...]string{"gpt-4o", "gpt-4o-mini", "claude-sonnet"}
	reasons = [...]string{"over limit", "unknown outcome", ""}
)

func (d *day) name() string { return fmt.Sprintf("run-%03d", d.run) }

func (d *day) span(took time.Duration) *agent.Step {
	var trace agent.TraceID
	var id agent.SpanID
	binary.BigEndian.PutUint64(trace[8:], uint64(d.run+1))    // small
	binary.BigEndian.PutUint64(id[:], uint64(len(d.steps)+2)) // small
	root := agent.SpanID{7: 1}
	s := &agent.Step{
		Tenant: Tenant, Unit: d.name(), RunID: d.name(), Trace: trace, Span: id, Parent: root, Index: -1, Service: "svc", Sign: agent.SignOK,
		TaskType: tasks[d.run%len(tasks)], Start: d.at, End: d.at + int64(took), Received: d.at, Expires: d.expires, ContentExpires: d.expires,
	}
	d.at = s.End + int64(time.Second)
	d.steps = append(d.steps, s)
	return s
}

func (d *day) think(model string, attempt int32) *agent.Step {
	s := d.span(time.Duration(400+37*((d.run*7+len(d.steps))%23)) * time.Millisecond)
	s.Op, s.Kind, s.KindSource = agent.OpModel, agent.KindThink, agent.KindSourceDialect
	s.Model.Served, s.Model.PromptVersion = model, fmt.Sprint("v", 1+d.run/24)
	s.Model.Tokens = agent.Tokens{Known: true, Input: int64(800 + 11*d.run), Output: int64(90 + len(d.steps)), CacheRead: int64(d.run % 5 * 100)}
	s.Model.CostNano, s.Model.CostSource = 2_500_000+int64(d.run)*1001, agent.CostSourceComputed
	if attempt > 0 {
		s.StepID, s.Attempt = "plan", attempt
	}
	return s
}

func (d *day) tool(name string, kind agent.Kind, outcome agent.Outcome) *agent.Step {
	s := d.span(time.Duration(20+13*((d.run*5+len(d.steps))%31)) * time.Millisecond)
	s.Op, s.Kind, s.KindSource, s.Outcome = agent.OpTool, kind, agent.KindSourcePolicy, outcome
	s.Call.Tool = name
	s.Call.Arguments = agent.Content{State: agent.RecordedYes, Digest: agent.Digest{1, byte(d.run), byte(len(d.steps))}} // each call its own
	s.Call.Target = fmt.Sprint("order/", d.run)
	if outcome == agent.OutcomeError {
		s.ErrorType = [...]string{"429", "validation"}[d.run%2]
	}
	return s
}

// play makes what run number d.run does, and its root.
func (d *day) play() {
	d.begin = d.at
	model := models[d.run%len(models)]
	name := agents[d.run%len(agents)]
	if d.run%5 == 4 {
		d.think(model, 1).Sign = agent.SignLost // and tried again
		d.think(models[0], 2)
	} else {
		d.think(model, 0)
	}
	d.tool("get_order", agent.KindRead, pick(d.run%7 == 6, agent.OutcomeError, agent.OutcomeOK))
	outcome, reason := agent.RunOutcomeSuccess, ""
	switch d.run % 8 {
	case 0: // done at the first try
		d.refund("k", agent.OutcomeOK)
	case 1: // unknown, then a look, then nothing more
		d.refund("k", agent.OutcomeUnknown)
		s := d.tool("payments_lookup", agent.KindReconcile, agent.OutcomeOK)
		s.Reconciles, s.ReconcileResult = fmt.Sprint("k-", d.run), agent.SettlementApplied
	case 2: // unknown and left so
		d.refund("k", agent.OutcomeUnknown)
		outcome = agent.RunOutcomeUnset
	case 3: // done twice under one key
		d.refund("k", agent.OutcomeOK)
		d.refund("k", agent.OutcomeOK)
	case 4: // handed to a person
		d.refund("k", agent.OutcomeRefused)
		outcome, reason = agent.RunOutcomeEscalated, reasons[d.run/8%len(reasons)]
	case 5: // without a key, after an unknown outcome
		d.refund("", agent.OutcomeUnknown)
		d.refund("", agent.OutcomeOK)
		outcome = agent.RunOutcomeFailure
	case 6: // the same call again and again, then over the limits
		d.repeat(5)
		outcome = agent.RunOutcomeLimit
	case 7: // one step tried too often
		for i := range int32(7) {
			s := d.tool("restart_service", agent.KindAct, pick(i < 6, agent.OutcomeError, agent.OutcomeOK))
			s.StepID, s.Attempt, s.Call.Key = "restart", i+1, fmt.Sprint("r-", d.run)
			s.Call.Arguments.Digest = agent.Digest{9}
		}
	}
	d.think(model, 0)
	d.root(name, outcome, reason)
}

func (d *day) refund(key string, outcome agent.Outcome) {
	s := d.tool("issue_refund", agent.KindAct, outcome)
	s.Call.Arguments.Digest = agent.Digest{2, byte(d.run)} // equal in both of a run
	if key != "" {
		s.Call.Key = fmt.Sprint(key, "-", d.run)
	}
}

func (d *day) repeat(n int) {
	for range n {
		s := d.tool("get_order", agent.KindRead, agent.OutcomeOK)
		s.Call.Arguments.Digest, s.Call.Result = agent.Digest{3, byte(d.run)}, agent.Content{State: agent.RecordedYes, Digest: agent.Digest{4}}
	}
}

func (d *day) root(name string, outcome agent.RunOutcome, reason string) {
	s := d.span(0)
	s.Span, s.Parent = agent.SpanID{7: 1}, agent.SpanID{}
	s.Op, s.Agent, s.RunOutcome, s.Escalation = agent.OpAgent, name, outcome, reason
	s.Start = d.begin
	if d.run%8 == 2 {
		s.Sign = agent.SignException // it failed, and nothing states an outcome
	}
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}
