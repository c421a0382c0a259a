package sweep

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/policy"
)

const policyText = `version: 1
tools: [{match: "refund", class: act}]
detection: {quiet: 10s, in_flight: 1m}
limits: [{match: {agent: "*", task_type: "*"}, wall_time: 2m}]
redaction: {mode: pseudonym, key: "0123456789abcdef", detectors: [email]}
retention: {act: 1d, human: 1d, think: 1d, read: 1d, content: 1d, findings: 1d, access_log: 1d}
`

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

type bench struct {
	t *testing.T
	*memStore
	*Sweeper
}

func newBench(t *testing.T) *bench {
	t.Helper()
	m := newMemStore()
	return &bench{t: t, memStore: m, Sweeper: New(m, testPolicy(t), Config{})}
}

func testPolicy(t *testing.T) *policy.Policy {
	t.Helper()
	p, err := policy.Parse([]byte(policyText), nil)
	require.NoError(t, err)
	return p
}

func (b *bench) tick(at time.Time) Stats {
	b.t.Helper()
	s, err := b.Tick(b.t.Context(), at)
	require.NoError(b.t, err)
	return s
}

func span(run string, trace, id, parent byte, change ...func(*agent.Step)) *agent.Step {
	s := &agent.Step{
		Tenant: "default", Trace: agent.TraceID{15: trace}, Span: agent.SpanID{7: id}, Parent: agent.SpanID{7: parent},
		RunID: run, Service: "svc", Index: -1, Sign: agent.SignOK,
		Start: noon.UnixNano() + int64(id)*1e9, End: noon.UnixNano() + int64(id)*1e9 + 5e8,
	}
	s.Unit = run
	if run == "" {
		s.Unit = s.Trace.String()
	}
	for _, c := range change {
		c(s)
	}
	return s
}

func root(s *agent.Step) { s.Op, s.Agent = agent.OpAgent, "helper" }

func refund(key string) func(*agent.Step) {
	return func(s *agent.Step) {
		s.Op, s.Kind, s.KindSource = agent.OpTool, agent.KindAct, agent.KindSourcePolicy
		s.Call.Tool, s.Call.Target, s.Call.Key, s.Outcome = "refund", "order/1", key, agent.OutcomeOK
	}
}

func TestARunIsJudgedOnceItIsQuiet(t *testing.T) {
	b := newBench(t)
	b.insert(noon, span("r1", 1, 1, 0, root), span("r1", 1, 2, 1, refund("k")))
	require.Zero(t, b.tick(noon.Add(5*time.Second)).Runs)
	require.Equal(t, 1, b.tick(noon.Add(11*time.Second)).Runs)
	require.Equal(t, agent.RunStatusEnded, b.summaries["r1"].Status)
	require.EqualValues(t, 1, b.summaries["r1"].Counts[agent.KindAct].Attempts)
	require.Len(t, b.acts, 1)
	require.Contains(t, b.links, [3]string{"default", "r1", "r1"})
	require.Zero(t, b.tick(noon.Add(12*time.Second)).Runs, "nothing new, nothing to judge")
}

func TestJudgingAgainWritesNoFindingActOrLinkTwice(t *testing.T) {
	b := newBench(t)
	b.insert(noon, span("r1", 1, 1, 0, root), span("r1", 1, 2, 1, refund("k")), span("r1", 1, 3, 1, refund("k")))
	b.tick(noon.Add(11 * time.Second))
	require.Len(t, b.findings, 1)
	_, err := b.Range(t.Context(), noon, noon.Add(time.Minute), noon.Add(time.Minute))
	require.NoError(t, err)
	last := b.writes[len(b.writes)-1]
	require.Empty(t, last.Findings)
	require.Empty(t, last.Acts)
	require.Empty(t, last.Links)
	require.Len(t, last.Summaries, 1)
}

func TestAFindingOfTheStreamIsConfirmedUnderItsId(t *testing.T) {
	b := newBench(t)
	b.insert(noon, span("r1", 1, 1, 0, root), span("r1", 1, 2, 1, refund("k")), span("r1", 1, 3, 1, refund("k")))
	id := agent.NewFindingID("default", "r1", "key.duplicate", "k")
	b.findings[id] = agent.StoredFinding{Finding: agent.Finding{ID: id, Tenant: "default", Run: "r1", Kind: "key.duplicate", Anchor: "k", Status: agent.StatusOpen}}
	stray := agent.NewFindingID("default", "r1", "key.duplicate", "other")
	b.findings[stray] = agent.StoredFinding{Finding: agent.Finding{ID: stray, Tenant: "default", Run: "r1", Kind: "key.duplicate", Anchor: "other", Status: agent.StatusOpen}}
	stats := b.tick(noon.Add(11 * time.Second))
	require.Len(t, b.findings, 2)
	require.Equal(t, agent.StatusOpen, b.findings[id].Status)
	require.NotZero(t, b.findings[id].Version)
	require.Equal(t, agent.StatusWithdrawn, b.findings[stray].Status, "the sweep does not derive it")
	require.Equal(t, 1, stats.Withdrawn)
}

func TestAFindingOverTwoRunsIsFoundWhicheverIsJudgedFirst(t *testing.T) {
	early := []*agent.Step{span("early", 1, 1, 0, root), span("early", 1, 2, 1, refund("k"))}
	late := []*agent.Step{span("late", 2, 11, 0, root), span("late", 2, 12, 11, refund("k"))}
	id := agent.NewFindingID("default", "late", "key.duplicate", "k")
	for name, order := range map[string][2][]*agent.Step{"the earlier first": {early, late}, "the later first": {late, early}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.insert(noon, order[0]...)
			b.tick(noon.Add(11 * time.Second))
			b.insert(noon.Add(20*time.Second), order[1]...)
			b.tick(noon.Add(31 * time.Second))
			b.tick(noon.Add(32 * time.Second)) // the run that the first verdict touched
			require.Contains(t, b.findings, id)
			require.Len(t, b.findings, 1)
			require.Equal(t, agent.SeverityCritical, b.findings[id].Severity)
			runs := b.tick(noon.Add(33 * time.Second)).Runs
			require.Zero(t, runs, "it comes to rest")
		})
	}
}

// The run between them used the key for something else, or failed: the later one's nearest
// earlier execution is the one that came last.
func TestAFindingOverTwoRunsIsFoundPastARunBetweenThem(t *testing.T) {
	for name, change := range map[string]func(*agent.Step){
		"that failed":          func(s *agent.Step) { s.Outcome = agent.OutcomeError },
		"of another tool":      func(s *agent.Step) { s.Call.Tool = "pay" },
		"on another thing":     func(s *agent.Step) { s.Call.Target = "order/2" },
		"that did not execute": func(s *agent.Step) { s.Outcome = agent.OutcomeRefused },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.insert(noon, span("third", 3, 21, 0, root), span("third", 3, 22, 21, refund("k")))
			b.insert(noon, span("second", 2, 11, 0, root), span("second", 2, 12, 11, refund("k"), change))
			b.tick(noon.Add(11 * time.Second))
			id := agent.NewFindingID("default", "third", "key.duplicate", "k")
			require.NotContains(t, b.findings, id)
			b.insert(noon.Add(20*time.Second), span("first", 1, 1, 0, root), span("first", 1, 2, 1, refund("k")))
			b.tick(noon.Add(31 * time.Second))
			b.tick(noon.Add(32 * time.Second))
			require.Contains(t, b.findings, id)
			require.Zero(t, b.tick(noon.Add(33*time.Second)).Runs, "it comes to rest")
		})
	}
}

func TestARunThatGoesIntoAnotherLeavesNoRowBehind(t *testing.T) {
	b := newBench(t)
	child := []*agent.Step{span("", 1, 2, 1, refund("k")), span("", 1, 3, 1, refund("k"))}
	b.insert(noon, child...)
	b.tick(noon.Add(11 * time.Second))
	old := child[0].Unit
	require.Contains(t, b.summaries, old)
	before := agent.NewFindingID("default", old, "key.duplicate", "k")
	require.Equal(t, agent.StatusOpen, b.findings[before].Status)

	b.insert(noon.Add(20*time.Second), span("r1", 1, 1, 0, root)) // the root states the run, last
	b.tick(noon.Add(31 * time.Second))
	require.NotContains(t, b.summaries, old)
	require.Equal(t, "r1", b.gone[old])
	require.EqualValues(t, 2, b.summaries["r1"].Counts[agent.KindAct].Attempts)
	require.Equal(t, agent.StatusWithdrawn, b.findings[before].Status)
	after := agent.NewFindingID("default", "r1", "key.duplicate", "k")
	require.Equal(t, after, b.findings[before].MergedInto)
	require.Equal(t, agent.StatusOpen, b.findings[after].Status)
	require.True(t, b.links[[3]string{"default", old, old}].Gone)
	require.False(t, b.links[[3]string{"default", old, "r1"}].Gone)
}

func TestAnInsertThatBecomesReadableLateIsSeen(t *testing.T) {
	b := newBench(t)
	b.insert(noon, span("r1", 1, 1, 0, root))
	b.tick(noon.Add(11 * time.Second))
	b.insert(noon.Add(time.Second), span("r1", 1, 2, 1, refund("k"))) // arrived before the sweep, readable after it
	require.Equal(t, 1, b.tick(noon.Add(30*time.Second)).Runs)
	require.EqualValues(t, 1, b.summaries["r1"].Counts[agent.KindAct].Attempts)
}

func TestARunThatIsNeverQuietIsJudgedAllTheSame(t *testing.T) {
	b := newBench(t)
	judged := 0
	for i := range 240 {
		at := noon.Add(time.Duration(i) * 5 * time.Second)
		b.insert(at, span("r1", 1, byte(i), 0, refund("")))
		judged += b.tick(at).Runs
	}
	require.Greater(t, judged, 5)
	require.Less(t, judged, 30, "each time it grew by a quarter, not each time it changed")
}

func TestAfterAnErrorAndAfterARestartWhatWasDueIsStillDue(t *testing.T) {
	b := newBench(t)
	b.insert(noon, span("r1", 1, 1, 0, root))
	b.fail = errors.New("store is away")
	_, err := b.Tick(t.Context(), noon.Add(11*time.Second))
	require.ErrorIs(t, err, b.fail)
	b.fail = nil
	require.Equal(t, 1, b.tick(noon.Add(12*time.Second)).Runs)

	b.insert(noon.Add(13*time.Second), span("r2", 2, 1, 0, root))
	b.tick(noon.Add(14 * time.Second))
	b.Sweeper = New(b.memStore, testPolicy(t), Config{}) // killed and started again an hour later
	b.tick(noon.Add(time.Hour))
	require.Contains(t, b.summaries, "r2")
}

func TestTheFirstLookReadsTwoDaysWithAFewStatements(t *testing.T) {
	b := newBench(t)
	b.insert(noon.Add(-40*time.Hour), span("old", 1, 1, 0, root))
	b.insert(noon.Add(-30*time.Second), span("new", 2, 1, 0, root))
	require.Equal(t, 2, b.tick(noon).Runs)
	require.Less(t, b.reads, 10)
	b.reads = 0
	b.tick(noon.Add(time.Second))
	require.Less(t, b.reads, 10)
}

func TestASilentRunWithoutItsRootsEndStalls(t *testing.T) {
	b := newBench(t)
	b.insert(noon, span("r1", 1, 2, 1, refund("k")))
	b.tick(noon.Add(11 * time.Second))
	require.Equal(t, agent.RunStatusRunning, b.summaries["r1"].Status)
	b.tick(noon.Add(119 * time.Second))
	require.Equal(t, agent.RunStatusRunning, b.summaries["r1"].Status)
	b.tick(noon.Add(121 * time.Second))
	require.Equal(t, agent.RunStatusStalled, b.summaries["r1"].Status)
}
