package query

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/query/api"
)

func someFindings(m *memory) {
	kinds := []string{"key.duplicate", "loop.repeat", "loop.stall"}
	for i := range 11 {
		f := agent.Finding{
			Run: fmt.Sprint("run/", i%2), Kind: kinds[i%3], Severity: agent.Severity(1 + i%3), Status: agent.Status(1 + i%3), Tool: fmt.Sprint("tool", i%2), Agent: "a",
			DetectedAt: epoch.UnixNano() + int64(i/2), Message: "m",
		}
		f.ID = agent.NewFindingID(DefaultTenant, f.Run, f.Kind, fmt.Sprint(i))
		m.found = append(m.found, f)
	}
}

func (f *fixture) findings(t *testing.T, query string) []api.Finding {
	t.Helper()
	var out []api.Finding
	for cursor := ""; ; {
		l := decode[api.FindingList](t, f, 200, "/api/v1/findings", "/api/v1/findings?"+query+"&cursor="+url.QueryEscape(cursor))
		out = append(out, l.Findings...)
		if cursor = l.NextCursor; cursor == "" {
			return out
		}
	}
}

func TestFindingsAreListedOnceNewestFirstWhateverThePageSize(t *testing.T) {
	f := start(t, nil)
	someFindings(f.memory)
	want := f.findings(t, "limit=500")
	require.Len(t, want, 11)
	for _, limit := range []int{1, 2, 3, 10, 11} {
		require.Equal(t, want, f.findings(t, fmt.Sprint("limit=", limit)))
	}
	for i := 1; i < len(want); i++ {
		require.GreaterOrEqual(t, want[i-1].DetectedAt, want[i].DetectedAt)
	}
}

func TestFindingsAreFiltered(t *testing.T) {
	f := start(t, nil)
	someFindings(f.memory)
	for query, want := range map[string]int{
		"kind=key.duplicate": 4, "kind=loop.*": 7, "kind=loop": 0, "kind=.*": 0, "run_id=run/0": 6, "run_id=run%2F1&tool=tool1": 5, "tool=tool0": 6, "agent=a": 11, "agent=b": 0,
		"status=open": 4, "status=withdrawn": 3, "severity=critical": 3, "severity=info&status=open": 4,
		"from=2026-07-01T12:00:00.000000005Z": 1, "to=2026-07-01T12:00:00.000000001Z": 2,
	} {
		assert.Len(t, f.findings(t, query), want, query)
	}
	for _, query := range []string{"status=closed", "severity=high", "limit=1000", "run=x"} {
		f.problem(t, 400, "/api/v1/findings", "/api/v1/findings?"+query)
	}
}

func TestFindingsOfARunAreFoundUnderTheIdThatItHadBefore(t *testing.T) {
	f := start(t, nil)
	someFindings(f.memory)
	f.memory.taken = map[string]string{"old": "run/0"}
	require.Equal(t, f.findings(t, "run_id=run/0"), f.findings(t, "run_id=old"))
}

func TestWhatWasWastedIsToldAsPartsOfTheRun(t *testing.T) {
	f := start(t, nil)
	waste := agent.Waste{Attempts: 2, Duration: 3e9, Tokens: 50, CostNano: 700}
	f.memory.found = []agent.Finding{
		{ID: agent.FindingID{1}, Run: "known", Kind: "loop.repeat", DetectedAt: 2, Waste: waste},
		{ID: agent.FindingID{2}, Run: "not summed up", Kind: "loop.repeat", DetectedAt: 1, Waste: waste},
	}
	sum := agent.Summary{RunID: "known", Started: 1e9, Ended: 13e9, PerAttempt: agent.Usage{Tokens: agent.Tokens{Known: true, Input: 150, Output: 50}}}
	sum.Counts[agent.KindRead].Attempts, sum.Counts[agent.KindThink].Attempts = 6, 2
	f.memory.written = []agent.Summary{sum}
	got := f.findings(t, "limit=10")
	require.Equal(t, api.Share{Attempts: 0.25, Duration: 0.25, Tokens: 0.25}, got[0].Waste.Share)
	require.Zero(t, got[1].Waste.Share)
	one := decode[api.Finding](t, f, 200, "/api/v1/findings/{finding_id}", "/api/v1/findings/"+agent.FindingID{1}.String())
	require.Equal(t, got[0], one)
}

func TestAFindingThatMovedAnswersAsWhatItBecame(t *testing.T) {
	f := start(t, nil)
	someFindings(f.memory)
	a, b, c := &f.memory.found[0], &f.memory.found[1], &f.memory.found[2]
	get := func(id agent.FindingID) api.Finding {
		return decode[api.Finding](t, f, 200, "/api/v1/findings/{finding_id}", "/api/v1/findings/"+id.String())
	}
	require.Empty(t, get(a.ID).MergedInto)
	a.MergedInto, b.MergedInto = b.ID, c.ID
	require.Equal(t, c.ID.String(), get(a.ID).ID)
	require.Equal(t, c.ID.String(), get(a.ID).MergedInto)

	c.MergedInto = a.ID // a circle ends all the same
	get(a.ID)
	c.MergedInto = agent.FindingID{9} // what it became has expired
	require.Equal(t, c.ID.String(), get(a.ID).ID)

	f.problem(t, 404, "/api/v1/findings/{finding_id}", "/api/v1/findings/"+agent.FindingID{7}.String())
	f.problem(t, 404, "/api/v1/findings/{finding_id}", "/api/v1/findings/"+agent.FindingID{}.String())
	require.Equal(t, "finding_id", f.problem(t, 400, "/api/v1/findings/{finding_id}", "/api/v1/findings/nonsense").Parameter)
}

func TestAKindThatThereIsNotIsRefused(t *testing.T) {
	f := start(t, func(o *Options) { o.Kinds = []string{"key.duplicate", "loop.repeat", "outcome.unknown", "rule"} })
	for _, query := range []string{"", "kind=key.duplicate", "kind=loop.*", "kind=rule.*", "kind=rule.of-an-older-policy"} {
		f.get(t, "/api/v1/findings", "/api/v1/findings?"+query)
	}
	for _, kind := range []string{"key.dupplicate", "lop.*", "key", "rule", ".*", "*", "loop.repeat.*x"} {
		p := f.problem(t, 400, "/api/v1/findings", "/api/v1/findings?kind="+url.QueryEscape(kind))
		require.Equal(t, "kind", p.Parameter)
		require.Contains(t, p.Detail, "key.duplicate, loop.repeat, outcome.unknown, or rule.NAME")
	}
	f.get(t, "/api/v1/runs", "/api/v1/runs?finding=loop.repeat")
	require.Equal(t, "finding", f.problem(t, 400, "/api/v1/runs", "/api/v1/runs?finding=loop.*").Parameter)
}
