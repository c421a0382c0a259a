package agentqueryextension

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/query/api"
)

// post sends JSON and gives status and answer.
func post(b *bench, path, body string) (int, []byte) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.url+"/api/v1"+path, bytes.NewReader([]byte(body)))
	require.NoError(b.t, err)
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	require.NoError(b.t, err)
	answer, err := io.ReadAll(res.Body)
	require.NoError(b.t, err)
	require.NoError(b.t, res.Body.Close())
	return res.StatusCode, answer
}

func TestWhatAPersonSaysOfAnUnknownOutcomeHoldsAtOnceAndAfterTheSweep(t *testing.T) {
	b := onEngine(t)
	lost := func(s *agent.Step) { s.Outcome, s.Sign, s.Call.Key = agent.OutcomeUnknown, agent.SignLost, "k" }
	b.insert(b.span("r/1", 1, 1, lost), b.span("r/2", 2, 2, lost))
	b.sweep()
	list := get[api.UnknownList](b, "/unknowns?status=open&target=order%2F7731")
	require.Len(t, list.Unknowns, 2)
	id := list.Unknowns[0].ID
	require.Equal(t, "r/1", list.Unknowns[0].RunID)
	require.Equal(t, "order/7731", list.Unknowns[0].Target)
	require.EqualValues(t, 1, get[api.Run](b, "/runs/r%2F1").UnknownOpen)
	first := get[api.UnknownList](b, "/unknowns?limit=1")
	require.Len(t, first.Unknowns, 1)
	require.Equal(t, "r/2", get[api.UnknownList](b, "/unknowns?limit=1&cursor="+first.NextCursor).Unknowns[0].RunID)

	const hostile = `O'Hara \\ {tenant:String} $(x)`
	said, err := json.Marshal(map[string]string{"result": "not_applied", "actor": "ann", "note": hostile})
	require.NoError(t, err)
	for range 2 {
		status, answer := post(b, "/unknowns/"+id+"/resolution", string(said))
		require.Equal(t, http.StatusOK, status, "%s", answer)
	}
	status, _ := post(b, "/unknowns/"+id+"/resolution", `{"result": "applied", "actor": "bob"}`)
	require.Equal(t, http.StatusConflict, status)
	for _, when := range []string{"at once", "after the sweep"} {
		open := get[api.UnknownList](b, "/unknowns?status=open").Unknowns
		require.Len(t, open, 1, when)
		require.Equal(t, "r/2", open[0].RunID, when)
		resolved := get[api.UnknownList](b, "/unknowns?status=resolved").Unknowns
		require.Len(t, resolved, 1, when)
		require.Equal(t, hostile, resolved[0].Settled.Note, when)
		require.Equal(t, "resolved", string(get[api.Finding](b, "/findings/"+id).Status), when)
		require.Zero(t, get[api.Run](b, "/runs/r%2F1").UnknownOpen, when)
		runs := get[api.RunList](b, "/runs").Runs
		require.Len(t, runs, 2, when)
		for i := range runs {
			require.Equal(t, runs[i].RunID == "r/2", runs[i].UnknownOpen == 1, when)
		}
		b.sweep()
	}
	require.Contains(t, get[api.Finding](b, "/findings/"+id).Message, "A person settled it", "the sweep judged the run again")
}
