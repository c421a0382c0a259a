package query

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/steptrail/steptrail/query/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a Server behind a real listener, every answer of which is held
// against openapi.yaml.
type fixture struct {
	server *Server
	memory *memory
	http   *httptest.Server
	spec   *openapi3.T
	logs   *observer.ObservedLogs
	now    time.Time
	fast   bool // answers are not held against the description: for many alike
}

func start(t testing.TB, edit func(*Options)) *fixture {
	t.Helper()
	core, logs := observer.New(zap.InfoLevel)
	f := &fixture{memory: &memory{arrival: epoch.UnixNano()}, spec: spec(t), logs: logs, now: epoch.Add(time.Hour)}
	opts := Options{
		Reader:   func(string) (Reader, error) { return f.memory, nil },
		Ready:    func() error { return nil },
		Timing:   Timing{Quiet: 10 * time.Second, InFlight: 5 * time.Minute, StallAfter: func(string, string) time.Duration { return time.Hour }},
		Registry: prometheus.NewRegistry(),
		Now:      func() time.Time { f.now = f.now.Add(time.Second); return f.now }, // no derivation is reused
		Log:      zap.New(core),
	}
	if edit != nil {
		edit(&opts)
	}
	s, err := New(opts)
	require.NoError(t, err)
	f.server, f.http = s, httptest.NewServer(s)
	t.Cleanup(func() {
		f.http.Close()
		s.Close()
	})
	return f
}

func spec(t testing.TB) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.Description)
	require.NoError(t, err)
	require.NoError(t, doc.Validate(t.Context()), "openapi.yaml")
	return doc
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

// get asks for a path that is already encoded and checks the answer against the
// description of the spec path.
func (f *fixture) get(t testing.TB, specPath, path string, header ...string) answer {
	t.Helper()
	return f.send(t, http.MethodGet, specPath, path, http.NoBody, header...)
}

// post sends a body of JSON.
func (f *fixture) post(t testing.TB, specPath, path, body string, header ...string) answer {
	t.Helper()
	return f.send(t, http.MethodPost, specPath, path, strings.NewReader(body), append([]string{"Content-Type", typeJSON}, header...)...)
}

func (f *fixture) send(t testing.TB, method, specPath, path string, content io.Reader, header ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, f.http.URL+path, content)
	require.NoError(t, err)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := f.http.Client().Do(req)
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	if !f.fast {
		f.check(t, specPath, req, res, body)
	}
	return answer{status: res.StatusCode, header: res.Header, body: body}
}

func (f *fixture) check(t testing.TB, specPath string, req *http.Request, res *http.Response, body []byte) {
	t.Helper()
	item := f.spec.Paths.Value(specPath)
	require.NotNil(t, item, specPath)
	if strings.HasPrefix(res.Header.Get("Content-Type"), typeNDJSON) {
		lines := bufio.NewScanner(bytes.NewReader(body))
		lines.Buffer(nil, 64<<20)
		schema := f.spec.Components.Schemas["HistoryLine"].Value
		for lines.Scan() {
			var v any
			require.NoError(t, json.Unmarshal(lines.Bytes(), &v), "line %q", lines.Text())
			require.NoError(t, schema.VisitJSON(v, openapi3.EnableJSONSchema2020()), "line %q", lines.Text())
		}
		return
	}
	err := openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: req, Route: &routers.Route{Spec: f.spec, Path: specPath, PathItem: item, Method: req.Method, Operation: item.GetOperation(req.Method)},
		},
		Status: res.StatusCode, Header: res.Header, Body: io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	})
	require.NoError(t, err, "%s: %s", req.URL, body)
}

// decode asks, expects the status and decodes the answer strictly.
func decode[T any](t testing.TB, f *fixture, status int, specPath, path string, header ...string) (v T) {
	t.Helper()
	a := f.get(t, specPath, path, header...)
	require.Equal(t, status, a.status, "%s", a.body)
	d := json.NewDecoder(bytes.NewReader(a.body))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&v), "%s", a.body)
	return v
}

func (f *fixture) runs(t testing.TB, query string) api.RunList {
	t.Helper()
	return decode[api.RunList](t, f, http.StatusOK, "/api/v1/runs", "/api/v1/runs"+query)
}

func (f *fixture) run(t testing.TB, id string) api.Run {
	t.Helper()
	return decode[api.Run](t, f, http.StatusOK, "/api/v1/runs/{run_id}", "/api/v1/runs/"+url.PathEscape(id))
}

func (f *fixture) history(t testing.TB, id, query string) api.History {
	t.Helper()
	return decode[api.History](t, f, http.StatusOK, "/api/v1/runs/{run_id}/history", "/api/v1/runs/"+url.PathEscape(id)+"/history"+query)
}

func (f *fixture) lines(t testing.TB, id, query string, header ...string) []api.HistoryLine {
	t.Helper()
	a := f.get(t, "/api/v1/runs/{run_id}/history", "/api/v1/runs/"+url.PathEscape(id)+"/history"+query, header...)
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	require.Contains(t, a.header.Get("Content-Type"), "x-ndjson")
	require.True(t, bytes.HasSuffix(a.body, []byte("\n")))
	var out []api.HistoryLine
	for line := range bytes.SplitSeq(bytes.TrimSuffix(a.body, []byte("\n")), []byte("\n")) {
		var l api.HistoryLine
		require.NoError(t, json.Unmarshal(line, &l), "%s", line)
		out = append(out, l)
	}
	return out
}

func (f *fixture) problem(t testing.TB, status int, specPath, path string) api.Problem {
	t.Helper()
	a := f.get(t, specPath, path)
	require.Equal(t, status, a.status, "%s", a.body)
	require.Equal(t, problemType, a.header.Get("Content-Type"))
	var p api.Problem
	require.NoError(t, json.Unmarshal(a.body, &p))
	require.Equal(t, status, p.Status)
	require.NotEmpty(t, p.Detail)
	return p
}

func idsOf(l api.RunList) (out []string) {
	for i := range l.Runs {
		out = append(out, l.Runs[i].RunID)
	}
	return out
}
