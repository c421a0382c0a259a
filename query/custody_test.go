package query

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/query/api"
)

func (m *memory) Holds(_ context.Context, id agent.JobID) (out []agent.Hold, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, h := range m.holds {
		if id == (agent.JobID{}) || h.ID == id {
			out = append(out, h)
		}
	}
	return out, m.fail
}

func (m *memory) WriteHold(_ context.Context, h *agent.Hold, _ int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.holds == nil {
		m.holds = map[agent.JobID]agent.Hold{}
	}
	m.holds[h.ID] = *h
	return m.fail
}

func (m *memory) Erasure(_ context.Context, id agent.JobID) (agent.Erasure, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.erasures[id]
	if !ok && m.fail == nil {
		return e, ErrNotFound
	}
	return e, m.fail
}

func (m *memory) WriteErasure(_ context.Context, e *agent.Erasure, _ int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.erasures == nil {
		m.erasures = map[agent.JobID]agent.Erasure{}
	}
	m.erasures[e.ID] = *e
	return m.fail
}

func (m *memory) Named(_ context.Context, sel agent.Selector) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.steps, func(s *agent.Step) bool {
		return sel.Scope == agent.ScopeUser && s.User == sel.Subject || sel.Scope == agent.ScopeTarget && s.Call.Target == sel.Subject
	}), m.fail
}

func (m *memory) LogAccess(_ context.Context, lines []agent.Access) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.accesses = append(m.accesses, lines...)
	return m.fail
}

func sent[T any](t *testing.T, f *fixture, status int, method, specPath, path, body string) (v T) {
	t.Helper()
	a := f.send(t, method, specPath, path, strings.NewReader(body), "Content-Type", typeJSON)
	require.Equal(t, status, a.status, "%s", a.body)
	require.NoError(t, json.Unmarshal(a.body, &v), "%s", a.body)
	return v
}

func (f *fixture) holds(t *testing.T, query string) []string {
	t.Helper()
	var out []string
	for cursor := ""; ; {
		l := decode[api.HoldList](t, f, http.StatusOK, holdsRoute, holdsRoute+"?"+query+"&cursor="+cursor)
		for _, h := range l.Holds {
			out = append(out, h.ID)
		}
		if cursor = l.NextCursor; cursor == "" {
			return out
		}
	}
}

func TestAHoldIsPlacedListedAndEnded(t *testing.T) {
	f := start(t, withUnknownPolicy(t))
	bodies := []string{
		`{"run_id": "r/1", "owner": "legal", "reason": "case 7"}`, `{"target": "order/1", "owner": "legal", "reason": "case 7"}`,
		`{"user": "jane", "owner": "legal", "reason": "case 7"}`,
		`{"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z", "owner": "legal", "reason": "case 7"}`,
	}
	var ids []string
	for i, body := range bodies {
		h := sent[api.Hold](t, f, http.StatusAccepted, http.MethodPost, holdsRoute, holdsRoute, body)
		require.Equal(t, api.HoldStatusPending, h.Status)
		require.Equal(t, []api.HoldScope{api.HoldScopeRun, api.HoldScopeTarget, api.HoldScopeUser, api.HoldScopeTime}[i], h.Scope)
		require.Equal(t, []string{"r/1", "order/1", "jane", ""}[i], h.RunID+h.Target+h.User)
		ids = append([]string{h.ID}, ids...)
	}
	require.Equal(t, ids, f.holds(t, "limit=1"), "newest first, page by page")
	require.Equal(t, ids, f.holds(t, "status=pending"))
	require.Empty(t, f.holds(t, "status=active"))

	h := sent[api.Hold](t, f, http.StatusAccepted, http.MethodDelete, "/api/v1/holds/{hold_id}", holdsRoute+"/"+ids[3], "")
	require.Equal(t, api.HoldStatusEnding, h.Status)
	require.NotZero(t, h.ReleasedAt)
	again := sent[api.Hold](t, f, http.StatusAccepted, http.MethodDelete, "/api/v1/holds/{hold_id}", holdsRoute+"/"+ids[3], "")
	require.Equal(t, h, again, "to end it again changes nothing")
	require.Equal(t, []string{ids[3]}, f.holds(t, "status=ending"))

	for _, id := range []string{strings.Repeat("0", 32), strings.Repeat("f", 31)} { // all zero stands for every hold
		a := f.send(t, http.MethodDelete, "/api/v1/holds/{hold_id}", holdsRoute+"/"+id, http.NoBody)
		require.Equal(t, http.StatusBadRequest, a.status, id)
	}
	require.Len(t, f.memory.accesses, 5)
	placed, ended := f.memory.accesses[0], f.memory.accesses[4]
	require.Equal(t, "hold.place legal r/1 run "+ids[3], strings.Join([]string{placed.Action, placed.Actor, placed.Run, placed.Detail}, " "))
	require.Equal(t, "hold.end", ended.Action)
	require.Empty(t, ended.Actor, "the owner did not do it")
	require.Equal(t, placed.At/1e9+24*3600, placed.Expires, "the policy's term")
}

func TestAnErasureIsAskedForAndAnswersWithItsCertificate(t *testing.T) {
	f := start(t, nil)
	f.memory.add(span("r/1", 1, 1, nil))
	e := sent[api.Erasure](t, f, http.StatusAccepted, http.MethodPost, erasuresRoute, erasuresRoute, `{"run_id": "r/1", "full": true, "owner": "dpo", "reason": "asked for"}`)
	require.Equal(t, api.ErasureStatusPending, e.Status)
	require.True(t, e.Full)
	require.Equal(t, "r/1", e.RunID)
	sum := sha256.Sum256([]byte(e.ID + ":r/1"))
	require.Equal(t, hex.EncodeToString(sum[:]), e.Certificate.SubjectSha256)

	id, err := agent.ParseJobID(e.ID)
	require.NoError(t, err)
	get := func(change func(*agent.Erasure)) api.Erasure {
		stored := f.memory.erasures[id]
		change(&stored)
		f.memory.erasures[id] = stored
		return decode[api.Erasure](t, f, http.StatusOK, "/api/v1/erasures/{erasure_id}", erasuresRoute+"/"+e.ID)
	}
	require.Equal(t, api.ErasureStatusRunning, get(func(e *agent.Erasure) { e.Event = agent.ErasureResolved }).Status)
	waiting := get(func(e *agent.Erasure) { e.Waiting = 3 })
	require.Equal(t, api.ErasureStatusWaitingForHold, waiting.Status)
	require.Equal(t, int64(3), waiting.UnitsOnHold)
	require.Equal(t, api.ErasureStatusRemovingFiles, get(func(e *agent.Erasure) { e.Event, e.Waiting = agent.ErasureErased, 0 }).Status)
	done := get(func(e *agent.Erasure) {
		e.Event, e.Done = agent.ErasureDone, e.Requested+1
		e.Removed = []agent.Removal{{At: e.Requested, Table: "steps", Rows: 4, Digest: agent.Hash{1}}}
	})
	require.Equal(t, api.ErasureStatusDone, done.Status)
	require.Equal(t, []api.Removal{{At: done.RequestedAt, Table: "steps", Rows: 4, Sha256: "01" + strings.Repeat("00", 31)}}, done.Certificate.Removed)

	// Whom an erasure is about stands nowhere but in the request that is worked on.
	u := sent[api.Erasure](t, f, http.StatusAccepted, http.MethodPost, erasuresRoute, erasuresRoute, `{"user": "jane", "owner": "dpo", "reason": "asked for"}`)
	require.Empty(t, u.RunID)
	require.NotContains(t, fmt.Sprint(f.memory.accesses), "jane")
	require.True(t, slices.ContainsFunc(f.memory.accesses, func(a agent.Access) bool { return a.Action == "erasure.request" && a.Detail == "user "+u.ID }))
}

func TestHoldsAndErasuresSayWhatIsWrong(t *testing.T) {
	f := start(t, nil)
	f.fast = true // these requests break the description on purpose
	long := strings.Repeat("x", 4097)
	for name, c := range map[string]struct {
		path, body string
		status     int
		parameter  string
		limit      int
		says       string
	}{
		"nothing is meant":       {holdsRoute, `{"owner": "a", "reason": "b"}`, 400, "", 0, "exactly one of"},
		"two things are meant":   {holdsRoute, `{"run_id": "r", "user": "u", "owner": "a", "reason": "b"}`, 400, "", 0, "exactly one field"},
		"half a range":           {holdsRoute, `{"from": "2026-01-01T00:00:00Z", "owner": "a", "reason": "b"}`, 400, "from", 0, "both ends"},
		"a range backwards":      {holdsRoute, `{"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z", "owner": "a", "reason": "b"}`, 400, "to", 0, "later"},
		"no time":                {holdsRoute, `{"from": "today", "to": "2026-01-01T00:00:00Z", "owner": "a", "reason": "b"}`, 400, "from", 0, "2026"},
		"no owner":               {holdsRoute, `{"run_id": "r", "reason": "b"}`, 400, "owner", 0, "who answers"},
		"no reason":              {holdsRoute, `{"run_id": "r", "owner": "a"}`, 400, "reason", 0, "what it is for"},
		"a long target":          {holdsRoute, `{"target": "` + long + `", "owner": "a", "reason": "b"}`, 400, "target", 4096, "longer than 4096"},
		"a long owner":           {holdsRoute, `{"run_id": "r", "reason": "b", "owner": "` + long[:201] + `"}`, 400, "owner", 200, "longer than 200"},
		"an owner of two lines":  {holdsRoute, `{"run_id": "r", "reason": "b", "owner": "a\nb"}`, 400, "owner", 0, "control"},
		"an unknown field":       {erasuresRoute, `{"session": "s"}`, 400, "", 0, "session"},
		"a range to erase":       {erasuresRoute, `{"from": "2026-01-01T00:00:00Z"}`, 400, "", 0, "from"},
		"an erasure by nobody":   {erasuresRoute, `{"run_id": "r", "reason": "b"}`, 400, "owner", 0, "who answers"},
		"an erasure for nothing": {erasuresRoute, `{"run_id": "r", "owner": "a"}`, 400, "reason", 0, "what it is for"},
		"nothing to erase":       {erasuresRoute, `{"owner": "a", "reason": "b"}`, 400, "", 0, "run_id, target and user"},
		"an unknown run":         {erasuresRoute, `{"run_id": "nowhere", "owner": "a", "reason": "b"}`, 404, "", 0, "nothing under this id"},
	} {
		t.Run(name, func(t *testing.T) {
			p := sent[api.Problem](t, f, c.status, http.MethodPost, c.path, c.path, c.body)
			require.Equal(t, c.parameter, p.Parameter)
			require.Equal(t, c.limit, p.Limit)
			require.Contains(t, p.Detail, c.says)
		})
	}
	for path, status := range map[string]int{holdsRoute + "/zz": 400, holdsRoute + "/" + strings.Repeat("f", 32): 404} {
		sent[api.Problem](t, f, status, http.MethodDelete, "", path, "")
	}
	for path, status := range map[string]int{erasuresRoute + "/zz": 400, erasuresRoute + "/" + strings.Repeat("f", 32): 404, holdsRoute + "?status=x": 400} {
		sent[api.Problem](t, f, status, http.MethodGet, "", path, "")
	}
	require.Empty(t, f.memory.holds)
	require.Empty(t, f.memory.erasures)
}
