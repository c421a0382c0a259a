package query

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/query/api"
)

// lastHalf stores of an address what stands before the @, as a redaction that can
// be read; of a masked one nothing.
type lastHalf struct{}

func (lastHalf) Stored(tenant string, field Field, value string) ([]string, bool) {
	name, _, ok := strings.Cut(value, "@")
	if !ok {
		return []string{value}, true
	}
	return []string{fmt.Sprintf("[%s:%s:%s]", tenant, field, name)}, name != "masked"
}

func (lastHalf) Text(_, text string) (string, bool) {
	return strings.ReplaceAll(text, "4111 1111 1111 1111", "[CARD]"), text != "too deep"
}

func redacting(t *testing.T) *fixture {
	t.Helper()
	return start(t, func(o *Options) { o.Redaction = lastHalf{} })
}

func TestRunsAreFoundByWhatTheSpansSaidBeforeRedaction(t *testing.T) {
	f := redacting(t)
	f.memory.add(
		span("new", 1, 1, func(s *agent.Step) {
			s.User, s.Session, s.Call.Target = "[default:user:ann]", "[default:session:ann]", "[default:target:ann]"
		}),
		span("old", 2, 1, func(s *agent.Step) {
			s.User, s.Session, s.Call.Target = "ann@example.com", "ann@example.com", "ann@example.com"
		}),
		span("other", 3, 1, func(s *agent.Step) { s.User, s.Session, s.Call.Target = "bob", "bob", "bob" }),
	)
	for _, field := range []string{"user", "session", "target"} {
		asked := url.QueryEscape("ann@example.com")
		require.ElementsMatch(t, []string{"new", "old"}, idsOf(f.runs(t, "?"+field+"="+asked)), field)
		require.Equal(t, []string{"new"}, idsOf(f.runs(t, "?"+field+"="+url.QueryEscape("[default:"+field+":ann]"))), field)
		first := f.runs(t, "?limit=1&"+field+"="+asked)
		second := f.runs(t, "?limit=1&"+field+"="+asked+"&cursor="+first.NextCursor)
		require.ElementsMatch(t, []string{"new", "old"}, append(idsOf(first), idsOf(second)...), "pages keep their filter")
		p := f.problem(t, http.StatusConflict, "/api/v1/runs", "/api/v1/runs?"+field+"=masked%40example.com")
		require.Equal(t, field, p.Parameter)
	}
}

func TestAJobNamesWhomItIsAboutAsSpansDo(t *testing.T) {
	f := redacting(t)
	f.memory.add(span("old", 1, 1, func(s *agent.Step) { s.User = "old@example.com" }))
	for given, want := range map[string]agent.Selector{
		"ann@example.com": {Scope: agent.ScopeUser, Subject: "[default:user:ann]"},
		"old@example.com": {Scope: agent.ScopeUser, Subject: "[default:user:old]", Also: "old@example.com"},
		"bob":             {Scope: agent.ScopeUser, Subject: "bob"},
	} {
		said := `{"user": "` + given + `", "owner": "dpo", "reason": "asked for"}`
		h := sent[api.Hold](t, f, http.StatusAccepted, http.MethodPost, holdsRoute, holdsRoute, said)
		require.Equal(t, want.Subject, h.User)
		id, err := agent.ParseJobID(h.ID)
		require.NoError(t, err)
		require.Equal(t, want, f.memory.holds[id].Selector)
		e := sent[api.Erasure](t, f, http.StatusAccepted, http.MethodPost, erasuresRoute, erasuresRoute, said)
		id, err = agent.ParseJobID(e.ID)
		require.NoError(t, err)
		require.Equal(t, want, f.memory.erasures[id].Selector)
	}
	holds, erasures := len(f.memory.holds), len(f.memory.erasures)
	for _, route := range []string{holdsRoute, erasuresRoute} {
		p := sent[api.Problem](t, f, http.StatusConflict, http.MethodPost, route, route, `{"user": "masked@example.com", "owner": "dpo", "reason": "asked for"}`)
		require.Equal(t, "user", p.Parameter)
	}
	require.Len(t, f.memory.holds, holds)
	require.Len(t, f.memory.erasures, erasures)
}

func TestWhatCoversNoRunSaysSo(t *testing.T) {
	f := start(t, nil)
	said := `{"user": "nobody", "owner": "dpo", "reason": "asked for"}`
	h := sent[api.Hold](t, f, http.StatusAccepted, http.MethodPost, holdsRoute, holdsRoute, said)
	require.Empty(t, h.Detail, "it is not known yet")
	id, err := agent.ParseJobID(h.ID)
	require.NoError(t, err)
	hold := f.memory.holds[id]
	hold.Event = agent.HoldCopied
	f.memory.holds[id] = hold
	l := decode[api.HoldList](t, f, http.StatusOK, holdsRoute, holdsRoute)
	require.Contains(t, l.Holds[0].Detail, "no run")

	e := sent[api.Erasure](t, f, http.StatusAccepted, http.MethodPost, erasuresRoute, erasuresRoute, said)
	require.Empty(t, e.Detail)
	id, err = agent.ParseJobID(e.ID)
	require.NoError(t, err)
	erasure := f.memory.erasures[id]
	erasure.Event = agent.ErasureDone
	f.memory.erasures[id] = erasure
	e = decode[api.Erasure](t, f, http.StatusOK, "/api/v1/erasures/{erasure_id}", erasuresRoute+"/"+e.ID)
	require.Equal(t, "no run had this user: nothing was erased", e.Detail)
}

func TestWhatAPersonWritesIsRedactedBeforeItIsStored(t *testing.T) {
	f := redacting(t)
	said := `{"user": "bob", "owner": "dpo@example.com", "reason": "paid with 4111 1111 1111 1111"}`
	h := sent[api.Hold](t, f, http.StatusAccepted, http.MethodPost, holdsRoute, holdsRoute, said)
	e := sent[api.Erasure](t, f, http.StatusAccepted, http.MethodPost, erasuresRoute, erasuresRoute, said)
	for _, kept := range []string{h.Reason, e.Reason, fmt.Sprint(f.memory.holds), fmt.Sprint(f.memory.erasures)} {
		require.Contains(t, kept, "paid with [CARD]")
		require.NotContains(t, kept, "4111")
	}
	require.Equal(t, "dpo@example.com", h.Owner, "who acts is named")
	id := f.lost("r", 1, 1, nil)
	u := settledAs(t, f.resolve(t, id, `{"result": "applied", "actor": "ann@example.com", "note": "4111 1111 1111 1111 was charged"}`))
	require.Equal(t, "[CARD] was charged", u.Settled.Note)
	require.NotContains(t, fmt.Sprint(f.memory.said), "4111")
	for _, route := range []string{holdsRoute, erasuresRoute} {
		p := sent[api.Problem](t, f, http.StatusBadRequest, http.MethodPost, route, route, `{"user": "bob", "owner": "dpo", "reason": "too deep"}`)
		require.Equal(t, "reason", p.Parameter)
	}
}
