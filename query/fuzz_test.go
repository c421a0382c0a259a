package query

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/query/api"
)

func FuzzACursorIsReadBackOrRefused(f *testing.F) {
	filter := RunFilter{Agent: "a"}
	f.Add(filter.cursor(agent.Summary{RunID: "r", Started: 1}))
	f.Add("")
	f.Add("AXIAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, s string) {
		k, err := filter.after(s)
		if err != nil {
			var p *problemError
			require.ErrorAs(t, err, &p)
			require.Equal(t, "cursor", p.Parameter)
			return
		}
		require.Equal(t, s, filter.cursor(agent.Summary{RunID: k.RunID, Started: k.Started}))
		_, err = FindingFilter{}.after(s)
		require.Error(t, err, "it is no cursor of another list")
	})
}

func FuzzAnyIdFindsItsRunAndNoOther(f *testing.F) {
	for _, id := range hostileIDs {
		f.Add(id)
	}
	m := &memory{}
	s, err := New(Options{
		Reader: func(string) (Reader, error) { return m, nil }, Ready: func() error { return nil },
		Timing:   Timing{StallAfter: func(string, string) time.Duration { return time.Hour }},
		Registry: prometheus.NewRegistry(), Log: zap.NewNop(),
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if id == "" || len(id) > maxValue {
			return
		}
		m.steps = []*agent.Step{span(id, 1, 1, nil)}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/runs/"+url.PathEscape(id)+"/history?content=full", http.NoBody))
		require.True(t, utf8.Valid(w.Body.Bytes()))
		if !utf8.ValidString(id) {
			require.Equal(t, http.StatusBadRequest, w.Code)
			return
		}
		require.Equal(t, http.StatusOK, w.Code)
		var h api.History
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &h))
		require.Equal(t, id, h.Run.RunID)
	})
}

func FuzzAnyRequestTargetGetsAnAnswer(f *testing.F) {
	for _, s := range []string{"api/v1/runs?limit=1", "api/v1/findings?kind=%00&cursor=a", "api/v1/runs/%2F..%2F", "%", "?;", "api/v1/runs?from=2026-07-01T00:00:00 02:00"} {
		f.Add(s)
	}
	m := &memory{steps: []*agent.Step{span("r", 1, 1, nil)}, pending: []string{"r"}}
	someFindings(m)
	s, err := New(Options{
		Reader: func(string) (Reader, error) { return m, nil }, Ready: func() error { return nil },
		Timing:   Timing{StallAfter: func(string, string) time.Duration { return time.Hour }},
		Registry: prometheus.NewRegistry(), Log: zap.NewNop(),
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI("/" + target)
		if err != nil || u.Host != "" {
			return // net/http refuses it before us
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, (&http.Request{Method: http.MethodGet, URL: u, Host: "localhost", Header: http.Header{}, Body: http.NoBody, RequestURI: "/" + target}).WithContext(t.Context()))
		require.Less(t, w.Code, 500, w.Body.String())
		if kind := w.Header().Get("Content-Type"); strings.HasSuffix(kind, "json") {
			require.True(t, json.Valid(w.Body.Bytes()))
		}
	})
}
