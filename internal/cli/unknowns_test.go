package cli

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/query/api"
)

func TestAnUnknownOutcomeShowsWhatIsAskedForAndHowItWasSettled(t *testing.T) {
	at := func(s int64) api.Time { return api.Time(time.Date(2026, 5, 1, 12, 0, int(s), 0, time.UTC).UnixNano()) }
	due := at(30)
	u := api.Unknown{
		ID: "0f", RunID: "naive", Tool: "issue_refund", Target: "order/7731", Key: "k1", Attempt: 1, Since: at(0), Status: api.UnknownStatusOpen,
		DueAt: &due, Next: &api.UnknownNext{Action: api.UnknownNextActionReconcile, ReconcileWith: []string{"find_refund"}},
	}
	var out bytes.Buffer
	require.NoError(t, WriteUnknowns(&out, false, api.UnknownList{Unknowns: []api.Unknown{u}}))
	require.Equal(t, `2026-05-01 12:00:00.000  open      issue_refund on order/7731  attempt 1, run naive
    key k1
    next: look whether it took effect, with find_refund, due 2026-05-01 12:00:30.000
    0f
`, out.String())

	out.Reset()
	u.Overdue = true
	require.NoError(t, WriteUnknown(&out, false, &u))
	require.Contains(t, out.String(), "  open, overdue  issue_refund")

	out.Reset()
	u = api.Unknown{RunID: "naive", Tool: "issue_refund", Attempt: 2, Since: at(0), Status: api.UnknownStatusResolved, Settled: &api.Settled{
		By: api.SettledByResolution, Result: api.SettledResultApplied, At: at(40), Actor: "ann", Note: "in the ledger",
	}}
	require.NoError(t, WriteUnknown(&out, false, &u))
	require.Equal(t, `2026-05-01 12:00:00.000  resolved  issue_refund  attempt 2, run naive
    settled as applied by ann, 2026-05-01 12:00:40.000: in the ledger
`, out.String())

	out.Reset()
	require.NoError(t, WriteUnknowns(&out, false, api.UnknownList{}))
	require.Equal(t, "no unknown outcomes\n", out.String())
}

func TestSettlingSendsWhatThePersonSaid(t *testing.T) {
	var asked, sent, kind string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked, sent, kind = r.Method+" "+r.RequestURI, string(body), r.Header.Get("Content-Type")
		_, _ = w.Write([]byte(`{"run_id":"naive","status":"resolved"}`))
	}))
	defer srv.Close()
	c, err := NewClient(srv.URL)
	require.NoError(t, err)
	body, err := c.Settle(t.Context(), "0f/1", &api.Resolution{Result: "applied", Actor: "ann", Note: "in the \"ledger\""})
	require.NoError(t, err)
	require.Equal(t, "POST /api/v1/unknowns/0f%2F1/resolution", asked)
	require.JSONEq(t, `{"result": "applied", "actor": "ann", "note": "in the \"ledger\""}`, sent)
	require.Equal(t, "application/json", kind)
	u, err := Decode[api.Unknown](body)
	require.NoError(t, err)
	require.Equal(t, api.UnknownStatusResolved, u.Status)
}
