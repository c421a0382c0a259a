package query

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/policy"
	"github.com/steptrail/steptrail/query/api"
)

const unknownPolicy = `version: 1
tools:
  - {match: issue_refund, class: act, on_unknown: reconcile, reconcile_with: [find_refund]}
detection: {unknown_sla: 1h}
redaction: {mode: pseudonym, key: "0123456789abcdef", detectors: [email]}
retention: {act: 1d, human: 1d, think: 1d, read: 1d, content: 1d, findings: 1d, access_log: 1d}
`

func withUnknownPolicy(t testing.TB) func(*Options) {
	t.Helper()
	p, err := policy.Parse([]byte(unknownPolicy), nil)
	require.NoError(t, err)
	return func(o *Options) { o.Policy = p }
}

// lost stores an act of a run whose outcome is unknown, with its finding.
func (f *fixture) lost(run string, trace, n byte, edit func(*agent.Step)) agent.FindingID {
	s := span(run, trace, n, func(s *agent.Step) {
		s.Outcome, s.Call.Key = agent.OutcomeUnknown, fmt.Sprint("key-", trace, n)
		s.Call.OnUnknown, s.Call.ReconcileWith = agent.OnUnknownReconcile, []string{"find_refund"}
		if edit != nil {
			edit(s)
		}
	})
	f.memory.add(s)
	x := agent.Finding{
		ID: agent.NewFindingID(DefaultTenant, run, kindUnknown, s.Span.String()), Tenant: DefaultTenant, Run: run, Kind: kindUnknown,
		Severity: agent.SeverityCritical, Status: agent.StatusOpen, Tool: s.Call.Tool, Agent: s.Agent, DetectedAt: s.End, Message: "m",
		Evidence: []agent.Evidence{{Unit: s.Unit, Trace: s.Trace, Span: s.Span, Attempt: 1}}, Expires: epoch.AddDate(0, 1, 0).Unix(),
	}
	f.memory.found = append(f.memory.found, x)
	return x.ID
}

func (f *fixture) unknowns(t *testing.T, query string) []api.Unknown {
	t.Helper()
	var out []api.Unknown
	for cursor := ""; ; {
		l := decode[api.UnknownList](t, f, 200, "/api/v1/unknowns", "/api/v1/unknowns?"+query+"&cursor="+url.QueryEscape(cursor))
		out = append(out, l.Unknowns...)
		if cursor = l.NextCursor; cursor == "" {
			return out
		}
	}
}

const resolutionSpec = "/api/v1/unknowns/{finding_id}/resolution"

func (f *fixture) resolve(t *testing.T, id agent.FindingID, body string) answer {
	t.Helper()
	return f.post(t, resolutionSpec, "/api/v1/unknowns/"+id.String()+"/resolution", body)
}

func settledAs(t *testing.T, a answer) api.Unknown {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	var u api.Unknown
	require.NoError(t, json.Unmarshal(a.body, &u))
	return u
}

func TestUnknownOutcomesAreListedOpenFirstAndOldestFirst(t *testing.T) {
	f := start(t, withUnknownPolicy(t))
	third := f.lost("r3", 3, 9, func(s *agent.Step) { s.Call.Target = "order/9"; s.Agent = "other" })
	first, second := f.lost("r1", 1, 1, nil), f.lost("r2", 2, 5, func(s *agent.Step) { s.Call.Tool = "cancel" })
	settled := f.lost("r4", 4, 0, nil)
	f.memory.found[3].Status = agent.StatusResolved
	gone := f.lost("r5", 5, 0, nil)
	f.memory.found[4].Status = agent.StatusWithdrawn
	ids := func(list []api.Unknown) (out []string) {
		for i := range list {
			out = append(out, list[i].ID)
		}
		return out
	}
	all := []string{first.String(), second.String(), third.String(), settled.String()}
	require.NotContains(t, all, gone.String())
	for _, limit := range []int{1, 2, 3, 4, 500} {
		require.Equal(t, all, ids(f.unknowns(t, fmt.Sprint("limit=", limit))), limit)
	}
	for query, want := range map[string][]string{
		"status=open": all[:3], "status=resolved": all[3:], "run_id=r2": all[1:2], "tool=cancel": all[1:2], "agent=other": all[2:3],
		"target=order%2F9": all[2:3], "tool=none": nil,
	} {
		assert.Equal(t, want, ids(f.unknowns(t, query)), query)
	}
	for _, query := range []string{"status=withdrawn", "status=x", "limit=0", "cursor=x", "kind=outcome.unknown"} {
		f.problem(t, 400, "/api/v1/unknowns", "/api/v1/unknowns?"+query)
	}
}

func TestAnUnknownOutcomeSaysWhatThePolicyAsksForAndWhenItIsOverdue(t *testing.T) {
	f := start(t, withUnknownPolicy(t)) // an hour after the epoch
	f.lost("old", 1, 0, nil)
	f.lost("young", 2, 60, func(s *agent.Step) { s.Call.OnUnknown, s.Call.ReconcileWith = agent.OnUnknownReplay, nil })
	f.lost("keyless", 3, 61, func(s *agent.Step) { s.Call.OnUnknown, s.Call.Key = agent.OnUnknownReplay, "" })
	f.lost("escalated", 4, 62, func(s *agent.Step) { s.Call.OnUnknown = agent.OnUnknownEscalate })
	f.lost("harmless", 5, 0, func(s *agent.Step) { s.Call.Repeatable = true })
	f.lost("silent", 6, 63, func(s *agent.Step) { s.Call.OnUnknown, s.Call.ReconcileWith = agent.OnUnknownUnset, nil })
	byRun := map[string]api.Unknown{}
	for _, u := range f.unknowns(t, "") {
		byRun[u.RunID] = u
	}
	old := byRun["old"]
	require.True(t, old.Overdue)
	require.Equal(t, api.Timestamp(epoch.Add(time.Hour+250*time.Millisecond).UnixNano()), *old.DueAt)
	require.Equal(t, api.UnknownNext{Action: api.UnknownNextActionReconcile, ReconcileWith: []string{"find_refund"}}, *old.Next)
	require.Equal(t, "order/7731", old.Target)
	require.Equal(t, 1, old.Attempt)
	require.NotEmpty(t, old.StepID)
	for run, want := range map[string]api.UnknownNextAction{
		"young": api.UnknownNextActionReplay, "keyless": api.UnknownNextActionReconcile, "escalated": api.UnknownNextActionEscalate, "silent": api.UnknownNextActionReconcile,
	} {
		assert.False(t, byRun[run].Overdue, run)
		assert.Equal(t, want, byRun[run].Next.Action, run)
	}
	require.False(t, byRun["harmless"].Overdue)
	require.Nil(t, byRun["harmless"].DueAt)
	require.Equal(t, old, f.history(t, "old", "").Unknowns[0], "a history shows the same")
}

func TestAnUnknownOutcomeWhoseSpansHaveExpiredIsStillListed(t *testing.T) {
	f := start(t, withUnknownPolicy(t))
	id := f.lost("r", 1, 1, nil)
	f.memory.steps = nil
	u := f.unknowns(t, "")
	require.Len(t, u, 1)
	require.Equal(t, id.String(), u[0].ID)
	require.True(t, u[0].Overdue, "it was critical")
	require.Equal(t, 404, f.resolve(t, id, `{"result": "applied", "actor": "ann"}`).status)
}

func TestAPersonSettlesAnUnknownOutcomeOnce(t *testing.T) {
	f := start(t, withUnknownPolicy(t))
	id := f.lost("r/1", 1, 1, nil)
	require.EqualValues(t, 1, f.run(t, "r/1").UnknownOpen)
	u := settledAs(t, f.resolve(t, id, `{"result": "applied", "actor": "ann", "note": "seen in the\nledger"}`))
	require.Equal(t, api.UnknownStatusResolved, u.Status)
	require.Equal(t, id.String(), u.ID)
	require.Equal(t, api.SettledByResolution, u.Settled.By)
	require.Equal(t, api.SettledResultApplied, u.Settled.Result)
	require.Equal(t, "ann", u.Settled.Actor)
	require.Equal(t, "seen in the\nledger", u.Settled.Note)
	require.Nil(t, u.Next)

	require.Len(t, f.memory.said, 1)
	rec := f.memory.said[0]
	require.Equal(t, agent.SettlementApplied, rec.Way)
	require.Equal(t, "r/1", rec.Unit)
	require.Equal(t, id, rec.Finding)
	require.Equal(t, epoch.AddDate(1, 0, 0).Unix(), rec.Expires, "it lives as long as the spans")
	require.NotZero(t, rec.ID)
	require.Equal(t, []string{"r/1"}, f.memory.marked, "the run is judged again")

	require.Zero(t, f.run(t, "r/1").UnknownOpen)
	require.Equal(t, "resolved", string(f.history(t, "r/1", "").Findings[0].Status))
	require.Equal(t, []api.Unknown{u}, f.unknowns(t, "status=resolved"))
	require.Equal(t, []api.Unknown{u}, f.history(t, "r/1", "").Unknowns)

	require.Equal(t, u, settledAs(t, f.resolve(t, id, `{"result": "applied", "actor": "bob"}`)), "the same again changes nothing")
	other := f.resolve(t, id, `{"result": "not_applied", "actor": "bob"}`)
	require.Equal(t, 409, other.status)
	require.Contains(t, string(other.body), "settled as applied already, by a person")
	require.Len(t, f.memory.said, 1)
}

func TestARunThatSettledItItselfIsNotContradicted(t *testing.T) {
	f := start(t, withUnknownPolicy(t))
	id := f.lost("r", 1, 1, func(s *agent.Step) { s.Call.Key = "k" })
	f.memory.add(span("r", 1, 9, func(s *agent.Step) { s.Call.Key = "k" })) // a replay that ended ok
	require.Zero(t, f.run(t, "r").UnknownOpen, "before any sweep has seen it")
	require.Equal(t, 409, f.resolve(t, id, `{"result": "not_applied", "actor": "ann"}`).status)
	u := settledAs(t, f.resolve(t, id, `{"result": "applied", "actor": "ann"}`))
	require.Equal(t, api.SettledByReplay, u.Settled.By)
	require.NotEmpty(t, u.Settled.SpanID)
	require.Empty(t, f.memory.said)
}

func TestAResolutionThatWasCutOffIsFinishedByItsRepetition(t *testing.T) {
	f := start(t, withUnknownPolicy(t))
	id := f.lost("r", 1, 1, nil)
	f.memory.failMark = errors.New("the store went away")
	require.Equal(t, 500, f.resolve(t, id, `{"result": "applied", "actor": "ann"}`).status)
	require.Zero(t, f.run(t, "r").UnknownOpen, "what was said counts already")
	f.memory.failMark = nil
	settledAs(t, f.resolve(t, id, `{"result": "applied", "actor": "ann"}`))
	require.Len(t, f.memory.said, 1)
	require.Equal(t, agent.StatusResolved, f.memory.found[0].Status)
	require.Equal(t, agent.SeverityWarning, f.memory.found[0].Severity)
}

func TestOfTwoWhoSayDifferentThingsAtOnceOneIsTold(t *testing.T) {
	f := start(t, withUnknownPolicy(t))
	f.server.opts.Now = func() time.Time { return epoch.Add(time.Hour) }
	id := f.lost("r", 1, 1, nil)
	var wait sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for i := range 8 {
		wait.Go(func() {
			result := []string{"applied", "not_applied"}[i%2]
			a := f.resolve(t, id, fmt.Sprintf(`{"result": %q, "actor": "a"}`, result))
			mu.Lock()
			defer mu.Unlock()
			statuses[a.status]++
		})
	}
	wait.Wait()
	require.Equal(t, map[int]int{200: 4, 409: 4}, statuses)
	require.Len(t, f.memory.said, 1)
}

func TestAResolutionThatCannotStandIsRefused(t *testing.T) {
	f := start(t, withUnknownPolicy(t))
	id := f.lost("r", 1, 1, nil)
	for name, c := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"no JSON":                  {"x", 400, "no JSON"},
		"an empty body":            {"", 400, "no JSON"},
		"null":                     {"null", 400, "result"},
		"a list":                   {"[]", 400, "array"},
		"no result":                {`{"actor": "ann"}`, 400, "result must be"},
		"a result that is none":    {`{"result": "maybe", "actor": "ann"}`, 400, "result must be"},
		"nobody":                   {`{"result": "applied"}`, 400, "actor must say"},
		"an actor of another type": {`{"result": "applied", "actor": 7}`, 400, "actor must not be a number"},
		"a long actor":             {fmt.Sprintf(`{"result": "applied", "actor": %q}`, strings.Repeat("ä", 201)), 400, "200 characters"},
		"an actor with an escape":  {`{"result": "applied", "actor": "a\u001b[2J"}`, 400, "control characters"},
		"an actor turned round":    {`{"result": "applied", "actor": "\u202enna"}`, 400, "control characters"},
		"an actor on two lines":    {`{"result": "applied", "actor": "ann\u2028bob"}`, 400, "control characters"},
		"a long note":              {fmt.Sprintf(`{"result": "applied", "actor": "a", "note": %q}`, strings.Repeat("n", 4001)), 400, "4000 characters"},
		"a field nobody reads":     {`{"result": "applied", "actor": "a", "notes": "x"}`, 400, "notes"},
		"two values":               {`{"result": "applied", "actor": "a"} {}`, 400, "more than one"},
		"a body beyond the limit":  {`{"note": "` + strings.Repeat("n", maxBody) + `"}`, 413, "too large"},
	} {
		a := f.resolve(t, id, c.body)
		assert.Equal(t, c.status, a.status, name)
		assert.Contains(t, string(a.body), c.says, name)
	}
	path := "/api/v1/unknowns/" + id.String() + "/resolution"
	for _, media := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"} {
		a := f.post(t, resolutionSpec, path, `{"result": "applied", "actor": "evil.example"}`, "Content-Type", media)
		assert.Equal(t, 415, a.status, "a form of another site: %q", media)
	}
	assert.Equal(t, 404, f.resolve(t, agent.FindingID{7}, `{"result": "applied", "actor": "a"}`).status)
	assert.Equal(t, 400, f.post(t, resolutionSpec, "/api/v1/unknowns/nonsense/resolution", `{"result": "applied", "actor": "a"}`).status)
	f.memory.found = append(f.memory.found, agent.Finding{ID: agent.FindingID{8}, Run: "r", Kind: "key.missing", Status: agent.StatusOpen})
	assert.Equal(t, 404, f.resolve(t, agent.FindingID{8}, `{"result": "applied", "actor": "a"}`).status)
	f.memory.found[0].Status = agent.StatusWithdrawn
	assert.Equal(t, 409, f.resolve(t, id, `{"result": "applied", "actor": "a"}`).status)
	require.Empty(t, f.memory.said)
}
