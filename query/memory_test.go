package query

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
)

// memory is a Reader over slices: the second implementation beside the store.
// Units are one group if they share a trace or an explicit run id.
type memory struct {
	mu       sync.Mutex
	steps    []*agent.Step
	facts    map[agent.Ref]*agent.MessageFacts
	logs     []agent.LogContent
	bodies   map[agent.Ref]string
	found    []agent.Finding
	said     []agent.ResolutionRecord
	holds    map[agent.JobID]agent.Hold
	erasures map[agent.JobID]agent.Erasure
	accesses []agent.Access
	marked   []string          // units whose findings were marked as settled
	written  []agent.Summary   // by a sweep
	taken    map[string]string // runs that were taken into others
	pending  []string          // units that changed since
	figures  []agent.StatsRow  // what Stats gives
	asked    agent.StatsFilter // what Stats was asked for last
	arrival  int64
	fail     error // what every call returns
	failMark error // what MarkSettled returns
	failBody int   // fetch of bodies that fails with fail, from 1

	panics    bool // in every call
	truncated bool // every group is only part of what there is

	fetches  int
	mostRefs int // of one fetch
	derived  int // calls of Changed
}

var _ Reader = (*memory)(nil)

func (m *memory) group(units ...string) agent.Group {
	in := map[string]bool{}
	for _, u := range units {
		in[u] = true
	}
	traces := map[agent.TraceID]bool{}
	for grown := true; grown; {
		grown = false
		for _, s := range m.steps {
			if in[s.Unit] != traces[s.Trace] {
				in[s.Unit], traces[s.Trace], grown = true, true, true
			}
		}
	}
	g := agent.Group{Tenant: DefaultTenant, Input: agent.Input{Facts: m.facts, Logs: m.logs}, LastArrival: m.arrival, Truncated: m.truncated}
	for _, s := range m.steps {
		if in[s.Unit] {
			g.Input.Steps = append(g.Input.Steps, s)
			if !slices.Contains(g.Units, s.Unit) {
				g.Units = append(g.Units, s.Unit)
			}
		}
	}
	slices.Sort(g.Units)
	return g
}

func (m *memory) RunGroup(_ context.Context, id string) (agent.Group, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.panics {
		panic("secret")
	}
	if m.fail != nil && m.failBody == 0 {
		return agent.Group{}, m.fail
	}
	for _, s := range m.steps {
		if s.Unit == id || s.RunID == id || s.Trace.String() == id {
			return m.group(s.Unit), nil
		}
	}
	return agent.Group{}, ErrNotFound
}

func (m *memory) Bodies(_ context.Context, _ []string, refs []agent.Ref) (map[agent.Ref]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fetches++
	m.mostRefs = max(m.mostRefs, len(refs))
	if m.failBody != 0 && m.fetches >= m.failBody {
		return nil, m.fail
	}
	out := map[agent.Ref]string{}
	for _, r := range refs {
		if text, ok := m.bodies[r]; ok {
			out[r] = text
		}
	}
	return out, nil
}

func (m *memory) Summaries(_ context.Context, f RunFilter) ([]agent.Summary, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.panics {
		panic("secret")
	}
	if m.fail != nil {
		return nil, m.fail
	}
	var out []agent.Summary
	for i := range m.written {
		if f.matches(&m.written[i]) {
			out = append(out, m.written[i])
		}
	}
	slices.SortFunc(out, func(a, b agent.Summary) int { return f.before(keyOf(&a), keyOf(&b)) })
	return out[:min(f.Limit, len(out))], nil
}

func (m *memory) SummariesOf(_ context.Context, runs []string) ([]agent.Summary, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []agent.Summary
	for _, id := range runs {
		for i := range m.written {
			if m.written[i].RunID == id {
				out = append(out, m.written[i])
			}
		}
	}
	return out, nil
}

func (m *memory) RunNow(_ context.Context, id string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if into, ok := m.taken[id]; ok {
		return into, nil
	}
	return id, nil
}

func (m *memory) Changed(_ context.Context, limit int) ([]agent.Group, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.derived++
	if m.panics {
		panic("secret")
	}
	if m.fail != nil {
		return nil, m.fail
	}
	var out []agent.Group
	for _, u := range m.pending[:min(limit, len(m.pending))] {
		if !slices.ContainsFunc(out, func(g agent.Group) bool { return slices.Contains(g.Units, u) }) {
			out = append(out, m.group(u))
		}
	}
	return out, nil
}

func (m *memory) Findings(_ context.Context, f FindingFilter) ([]agent.Finding, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.panics {
		panic("secret")
	}
	if m.fail != nil && m.failBody == 0 {
		return nil, m.fail
	}
	newer := func(a, b FindingKey) bool {
		return a.DetectedAt > b.DetectedAt || a.DetectedAt == b.DetectedAt && a.ID.String() > b.ID.String()
	}
	var out []agent.Finding
	for _, x := range m.found {
		k := FindingKey{DetectedAt: x.DetectedAt, ID: x.ID}
		kind := f.Kind == "" || x.Kind == f.Kind || f.IsPrefix && len(x.Kind) >= len(f.Kind) && x.Kind[:len(f.Kind)] == f.Kind
		if kind && (f.ID == agent.FindingID{} || f.ID == x.ID) && (len(f.Runs) == 0 || slices.Contains(f.Runs, x.Run)) &&
			(f.From == 0 || x.DetectedAt >= f.From) && (f.To == 0 || x.DetectedAt < f.To) && (f.Status == 0 || f.Status == x.Status) &&
			(f.Severity == 0 || f.Severity == x.Severity) && same(f.Tool, x.Tool) && same(f.Agent, x.Agent) && (f.After.IsZero() || newer(f.After, k)) {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b agent.Finding) int {
		if newer(FindingKey{a.DetectedAt, a.ID}, FindingKey{b.DetectedAt, b.ID}) {
			return -1
		}
		return 1
	})
	return out[:min(f.Limit, len(out))], nil
}

func (m *memory) Unknowns(_ context.Context, f UnknownFilter) ([]agent.Finding, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return nil, m.fail
	}
	var out []agent.Finding
	for _, x := range m.found {
		k := UnknownKey{Resolved: x.Status == agent.StatusResolved, Since: x.DetectedAt, ID: x.ID}
		if x.Kind == kindUnknown && x.Status != agent.StatusWithdrawn && same(f.Run, x.Run) && same(f.Tool, x.Tool) && same(f.Agent, x.Agent) &&
			(f.Status == 0 || f.Status == x.Status) && (f.After.IsZero() || compareUnknowns(f.After, k) < 0) && (len(f.Target) == 0 || m.hasTarget(&x, f.Target)) {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b agent.Finding) int {
		return compareUnknowns(UnknownKey{a.Status == agent.StatusResolved, a.DetectedAt, a.ID}, UnknownKey{b.Status == agent.StatusResolved, b.DetectedAt, b.ID})
	})
	return out[:min(f.Limit, len(out))], nil
}

func compareUnknowns(a, b UnknownKey) int {
	if a.Resolved != b.Resolved {
		if b.Resolved {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.ID.String(), b.ID.String()))
}

func (m *memory) hasTarget(f *agent.Finding, targets []string) bool {
	return slices.ContainsFunc(m.steps, func(s *agent.Step) bool {
		return len(f.Evidence) > 0 && s.Trace == f.Evidence[0].Trace && s.Span == f.Evidence[0].Span && slices.Contains(targets, s.Call.Target)
	})
}

func (m *memory) Groups(_ context.Context, units []string) ([]agent.Group, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return nil, m.fail
	}
	var out []agent.Group
	for _, u := range units {
		if slices.ContainsFunc(out, func(g agent.Group) bool { return slices.Contains(g.Units, u) }) {
			continue
		}
		if g := m.group(u); len(g.Units) > 0 {
			out = append(out, g)
		}
	}
	return out, nil
}

func (m *memory) Resolutions(_ context.Context, units []string) ([]agent.ResolutionRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []agent.ResolutionRecord
	for _, r := range m.said {
		if slices.Contains(units, r.Unit) {
			out = append(out, r)
		}
	}
	return out, nil
}

func (m *memory) AddResolution(_ context.Context, rec *agent.ResolutionRecord) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.said = append(m.said, *rec)
	return nil
}

func (m *memory) MarkSettled(_ context.Context, f agent.Finding, unit string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failMark != nil {
		return m.failMark
	}
	for i := range m.found {
		if m.found[i].ID == f.ID {
			m.found[i] = f
		}
	}
	m.marked = append(m.marked, unit)
	return nil
}

// sweep writes the summaries of all runs, as the sweep does.
func (m *memory) sweep(t *testing.T) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.written, m.pending = nil, nil
	for _, run := range agent.Runs(agent.Input{Steps: m.steps, Facts: m.facts, Logs: m.logs, Quiet: true, Silent: true}) {
		m.written = append(m.written, agent.Summarise(run, nil, agent.SummaryTime{Now: epoch.UnixNano(), LastArrival: m.arrival, Quiet: 1, StallAfter: int64(time.Hour)}))
	}
}

// add stores spans that no sweep has seen.
func (m *memory) add(steps ...*agent.Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range steps {
		m.steps = append(m.steps, s)
		if !slices.Contains(m.pending, s.Unit) {
			m.pending = append([]string{s.Unit}, m.pending...)
		}
	}
}

// body stores a text and gives the content that refers to it.
func (m *memory) body(text string) agent.Content {
	sum := sha256.Sum256([]byte(text))
	c := agent.Content{State: agent.RecordedYes, Size: int64(len(text))}
	copy(c.Ref[:], sum[:])
	copy(c.Digest[:], sum[:])
	if m.bodies == nil {
		m.bodies = map[agent.Ref]string{}
	}
	m.bodies[c.Ref] = text
	return c
}

// epoch is when everything in the tests happens.
var epoch = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// span makes the n-th span of a trace, a tool call of an explicit run.
func span(run string, trace, n byte, edit func(*agent.Step)) *agent.Step {
	s := &agent.Step{
		Tenant: DefaultTenant, Unit: run, RunID: run, Trace: agent.TraceID{0: trace, 15: 1}, Span: agent.SpanID{0: trace, 6: n >> 4, 7: n&15 + 1},
		Name: "execute_tool", Service: "support", Op: agent.OpTool, Kind: agent.KindAct, KindSource: agent.KindSourcePolicy, Index: -1,
		Agent: "refunds", Start: epoch.Add(time.Duration(n) * time.Second).UnixNano(), End: epoch.Add(time.Duration(n)*time.Second + 250*time.Millisecond).UnixNano(),
		Sign: agent.SignOK, Outcome: agent.OutcomeOK, Expires: epoch.AddDate(1, 0, 0).Unix(), ContentExpires: epoch.AddDate(0, 1, 0).Unix(),
		Call: agent.Call{Tool: "issue_refund", Target: "order/7731", Key: "refund-7731", ID: "call-" + string('a'+rune(n%26))},
	}
	if run == "" {
		s.Unit = s.Trace.String()
	}
	if edit != nil {
		edit(s)
	}
	return s
}
