package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/query/api"
)

var update = flag.Bool("update", false, "write golden files")

func history(t *testing.T) api.History {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "history.json"))
	require.NoError(t, err)
	var h api.History
	require.NoError(t, json.Unmarshal(data, &h))
	return h
}

func TestATimelineShowsStepsAttemptsGateOutcomeAndFindings(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, WriteRun(&out, false, history(t)))
	golden := filepath.Join("testdata", "history.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), out.String())
}

func TestColoursAreWrittenOnlyWhenAskedFor(t *testing.T) {
	var plain, painted bytes.Buffer
	require.NoError(t, WriteRun(&plain, false, history(t)))
	require.NoError(t, WriteRun(&painted, true, history(t)))
	require.NotContains(t, plain.String(), "\x1b")
	require.Contains(t, painted.String(), "\x1b[33m")
}

func TestNothingFromASpanReachesTheTerminalRaw(t *testing.T) {
	evil := "\x1b]0;owned\x07\r\n\u202egnp\x00\u2028\x9b31m"
	h := history(t)
	h.Run.RunID, h.Run.Agent, h.Run.User = evil, evil, evil
	h.Steps[0].Tool, h.Steps[0].Target, h.Steps[0].StepID, h.Steps[0].Declared, h.Steps[0].LaneName = evil, evil, evil, true, evil
	a := &h.Steps[0].Attempts[0]
	a.Error, a.ErrorType, a.Key = evil, evil, evil
	// What only another server than ours says where ours has words of its own.
	h.Run.Status, h.Run.Outcome = api.RunStatus(evil), api.RunOutcome(evil)
	h.Steps[0].Kind, a.Outcome, a.Gate = api.StepKind(evil), api.AttemptOutcome(evil), api.AttemptGate(evil)
	h.Findings = append(h.Findings, api.Finding{Kind: evil, Message: evil, ID: evil, RunID: evil, Severity: api.FindingSeverity(evil), Status: api.FindingStatus(evil)})
	runs := api.RunList{Runs: []api.Run{h.Run}, NextCursor: evil}
	runs.Runs[0].Findings = map[string]int64{evil: 1}
	for _, colours := range []Colours{false, true} {
		var out bytes.Buffer
		require.NoError(t, WriteRun(&out, colours, h))
		require.NoError(t, WriteRuns(&out, colours, runs))
		require.NoError(t, WriteFindings(&out, colours, api.FindingList{Findings: h.Findings, NextCursor: evil}))
		require.NoError(t, WriteUnknowns(&out, colours, api.UnknownList{NextCursor: evil, Unknowns: []api.Unknown{{
			ID: evil, RunID: evil, Tool: evil, Target: evil, Key: evil, Status: api.UnknownStatus(evil),
			Next:    &api.UnknownNext{Action: api.UnknownNextActionReconcile, ReconcileWith: []string{evil}},
			Settled: &api.Settled{By: api.SettledByResolution, Actor: evil, Note: evil},
		}}}))
		text := out.String()
		for _, mark := range []string{"\x1b]", "\r", "\u202e", "\x00", "\u2028", "\x9b", "\x07"} {
			require.NotContains(t, text, mark)
		}
		for line := range strings.Lines(text) {
			require.False(t, strings.HasPrefix(line, "\u202e"))
		}
	}
}

func TestTheClientEscapesIdsAndReadsProblemDocuments(t *testing.T) {
	var asked string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.RequestURI
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"type":"about:blank","title":"Not Found","status":404,"detail":"no run \"a/b?\" is known"}`))
	}))
	defer srv.Close()
	c, err := NewClient(srv.URL)
	require.NoError(t, err)
	_, err = c.History(t.Context(), "a/b? #ü")
	require.ErrorIs(t, err, ErrNotFound)
	require.ErrorContains(t, err, `no run "a/b?" is known`)
	require.Equal(t, "/api/v1/runs/a%2Fb%3F%20%23%C3%BC/history?content=none", asked)
}

func TestAProblemNamesTheFlagThatIsAtFault(t *testing.T) {
	problem := `{"status":400,"detail":"task_type is longer than 4096 bytes","parameter":"task_type"}`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(problem))
	}))
	defer srv.Close()
	c, err := NewClient(srv.URL)
	require.NoError(t, err)
	_, err = c.Runs(t.Context(), url.Values{"task_type": {"x"}})
	require.EqualError(t, err, "--task-type is longer than 4096 bytes")
	_, err = c.History(t.Context(), "x")
	require.EqualError(t, err, "task_type is longer than 4096 bytes", "no flag was given")
	problem = `{"status":400,"detail":"other words about task_type","parameter":"task_type"}`
	_, err = c.Runs(t.Context(), url.Values{"task_type": {"x"}})
	require.EqualError(t, err, "other words about task_type")
}

func TestAnAnswerThatIsNoJSONOrTooLongIsRefused(t *testing.T) {
	body, status := "", http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer srv.Close()
	c, err := NewClient(srv.URL)
	require.NoError(t, err)
	c.most = 64
	for body = range map[string]bool{"": true, "\x1b]0;owned\x07": true, "{}\x1b[2J": true, `{"runs":[`: true} {
		_, err = c.Raw(t.Context(), nil, "runs")
		require.ErrorContains(t, err, "is no JSON", "%q", body)
	}
	body = `{"runs":[]}` + strings.Repeat(" ", 53) // the first 64 bytes are JSON
	_, err = c.Raw(t.Context(), nil, "runs")
	require.NoError(t, err)
	body += "  "
	_, err = c.Raw(t.Context(), nil, "runs")
	require.ErrorContains(t, err, "is longer than")
	status, body = http.StatusBadGateway, strings.Repeat("<", maxProblem+1)
	_, err = c.Raw(t.Context(), nil, "runs")
	require.EqualError(t, err, "the server answered 502 Bad Gateway")
}

func TestTheClientSaysWhatToDoWhenNothingAnswers(t *testing.T) {
	c, err := NewClient("127.0.0.1:1") // nobody listens there
	require.NoError(t, err)
	_, err = c.Runs(t.Context(), url.Values{})
	require.ErrorContains(t, err, "steptrail serve")
}

func TestAnAddressThatIsNoneIsRefused(t *testing.T) {
	for _, a := range []string{"", "ftp://x", "http://", "://"} {
		_, err := NewClient(a)
		require.Error(t, err, a)
	}
}

func TestDurationsAndMoneyReadWell(t *testing.T) {
	require.Equal(t, "90 ms", span(90))
	require.Equal(t, "30.0 s", span(30000))
	require.Equal(t, "2m05s", span(125000))
	require.Equal(t, "1h02m", span(3.72e6))
	require.Equal(t, "USD 0.0005", usd(500_000))
	require.Equal(t, "USD 1.50", usd(1_500_000_000))
	require.Equal(t, "…", short("abc", 1))
	require.Equal(t, "ab…", short("abcd", 3))
}

func TestJSONOnATerminalIsTheSameJSONWithoutCommands(t *testing.T) {
	want := map[string]string{"a": "\u009b31m \u007f \u202egnp\u2066 \u2028 é 谢谢 \U0001f600", "b": "plain\x1b\n"}
	body, err := json.Marshal(want)
	require.NoError(t, err)
	body = bytes.ReplaceAll(body, []byte(`\u2028`), []byte("\u2028")) // as other encoders write it
	require.Contains(t, string(body), "\u009b")
	got := Escaped(body)
	for _, r := range string(got) {
		require.False(t, r != '\n' && isObeyed(r), "%U", r)
	}
	var back map[string]string
	require.NoError(t, json.Unmarshal(got, &back))
	require.Equal(t, want, back)
	clean := []byte(`{"a":"é"}`)
	require.Equal(t, clean, Escaped(clean))
	require.Equal(t, `{"a":"\ufffd31m\ufffd"}`, string(Escaped([]byte("{\"a\":\"\x9b31m\ufffd\"}"))), "no UTF-8, which some terminals obey") //nolint:testifylint // the escapes count, not the value
}
