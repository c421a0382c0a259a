package query

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/query/api"
)

func TestTheParametersOfEachRouteAreThoseOfTheDescription(t *testing.T) {
	doc := spec(t)
	require.Len(t, parameters, doc.Paths.Len())
	for path, item := range doc.Paths.Map() {
		route := strings.NewReplacer("{", ":", "}", "").Replace(path)
		known, ok := parameters[route]
		require.True(t, ok, path)
		var want []string
		for _, operation := range item.Operations() {
			for _, p := range operation.Parameters {
				if p.Value.In == "query" {
					want = append(want, p.Value.Name)
				}
			}
		}
		require.ElementsMatch(t, want, known, path)
	}
}

func TestEveryAnswerCarriesTheHeadersThatKeepItData(t *testing.T) {
	f := start(t, nil)
	for spec, path := range map[string]string{
		"/api/v1/runs": "/api/v1/runs", "/healthz": "/healthz", "/readyz": "/readyz", "/openapi.yaml": "/openapi.yaml", "/metrics": "/metrics",
		"/api/v1/runs/{run_id}": "/nothing/here",
	} {
		h := f.get(t, spec, path, "Origin", "https://evil.example").header
		assert.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), path)
		assert.Contains(t, h.Get("Content-Security-Policy"), "default-src 'none'", path)
		assert.Equal(t, "no-store", h.Get("Cache-Control"), path)
		assert.Empty(t, h.Get("Access-Control-Allow-Origin"), path)
	}
}

func TestForeignHostNamesAreRefused(t *testing.T) {
	f := start(t, func(o *Options) { o.HostAllowed = func(h string) bool { return strings.HasPrefix(h, "127.0.0.1:") } })
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.http.URL+"/api/v1/runs", http.NoBody)
	require.NoError(t, err)
	for host, status := range map[string]int{"": 200, "evil.example": 421, "127.0.0.1.evil.example": 421} {
		req.Host = host
		res, err := f.http.Client().Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, status, res.StatusCode, host)
	}
}

func TestReadinessSaysWhatIsMissing(t *testing.T) {
	var missing error
	f := start(t, func(o *Options) { o.Ready = func() error { return missing } })
	require.Equal(t, 200, f.get(t, "/readyz", "/readyz").status)
	missing = errors.New("the pipelines have not started")
	require.Equal(t, "the pipelines have not started", f.problem(t, 503, "/readyz", "/readyz").Detail)
	require.Equal(t, 200, f.get(t, "/healthz", "/healthz").status)
}

func TestOtherMethodsAreRefusedWithThoseThatAreThere(t *testing.T) {
	f := start(t, nil)
	res, err := f.http.Client().Post(f.http.URL+"/api/v1/runs", "application/json", strings.NewReader("{}"))
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 405, res.StatusCode)
	require.Equal(t, "GET", res.Header.Get("Allow"))
	require.Equal(t, problemType, res.Header.Get("Content-Type"))
}

func TestAPanicIsA500AndTheServerGoesOn(t *testing.T) {
	f := start(t, func(o *Options) { o.Reader = func(string) (Reader, error) { panic("secret") } })
	p := f.problem(t, 500, "/api/v1/runs", "/api/v1/runs")
	require.NotContains(t, p.Detail, "secret")
	require.Equal(t, "secret", f.logs.FilterMessage("request panicked").All()[0].ContextMap()["panic"])
	require.Equal(t, 200, f.get(t, "/healthz", "/healthz").status)
	require.InDelta(t, 1, metric(t, f, "steptrail_http_panics_total").GetMetric()[0].GetCounter().GetValue(), 0)
}

func TestAPanicBesideTheRequestIsA500Too(t *testing.T) {
	f := start(t, nil)
	f.memory.panics = true
	for _, path := range []string{"/api/v1/runs", "/api/v1/runs/r", "/api/v1/findings"} {
		p := f.problem(t, 500, "/api/v1/runs", path)
		require.NotContains(t, p.Detail, "secret")
	}
	require.InDelta(t, 4, metric(t, f, "steptrail_http_panics_total").GetMetric()[0].GetCounter().GetValue(), 1)
}

func TestMoreRequestsThanTurnsWaitAndAreThenRefused(t *testing.T) {
	f := start(t, func(o *Options) { o.MaxRequests, o.RequestTimeout = 1, 20_000_000 })
	f.server.turns <- struct{}{} // somebody is being answered
	p := f.problem(t, 503, "/api/v1/runs", "/api/v1/runs")
	require.Equal(t, 1, p.Limit)
	<-f.server.turns
	require.Equal(t, 200, f.get(t, "/api/v1/runs", "/api/v1/runs").status)
}

func metric(t *testing.T, f *fixture, name string) *dto.MetricFamily {
	t.Helper()
	all, err := f.server.opts.Registry.Gather()
	require.NoError(t, err)
	i := slices.IndexFunc(all, func(m *dto.MetricFamily) bool { return m.GetName() == name })
	require.GreaterOrEqual(t, i, 0, name)
	return all[i]
}

func TestLabelsOfMetricsAreRoutesAndNotWhatWasAsked(t *testing.T) {
	f := start(t, nil)
	for _, path := range []string{"/api/v1/runs/a", "/api/v1/runs/b", "/x", "/y", "/api/v1/runs"} {
		f.get(t, "/api/v1/runs", path)
	}
	req := httptest.NewRequestWithContext(t.Context(), "BREW", "/api/v1/runs", http.NoBody)
	f.server.ServeHTTP(httptest.NewRecorder(), req)
	got := map[string]float64{}
	for _, m := range metric(t, f, "steptrail_http_requests_total").GetMetric() {
		var labels []string
		for _, l := range m.GetLabel() {
			labels = append(labels, l.GetValue())
		}
		got[strings.Join(labels, " ")] = m.GetCounter().GetValue()
	}
	require.Equal(t, map[string]float64{ // method, route, status
		"GET /api/v1/runs/:run_id 404": 2, "GET none 404": 2, "GET /api/v1/runs 200": 1, "other none 405": 1,
	}, got)
	h := metric(t, f, "steptrail_http_request_duration_seconds").GetMetric()[0].GetHistogram()
	require.NotNil(t, h.Schema, "it is a native histogram")

	page := f.get(t, "/metrics", "/metrics")
	require.Contains(t, string(page.body), "go_goroutines")
	require.Contains(t, string(page.body), `steptrail_http_requests_total{method="GET",route="/api/v1/runs",status="200"} 1`)
}

func TestTheDescriptionIsServed(t *testing.T) {
	f := start(t, nil)
	require.Equal(t, api.Description, f.get(t, "/openapi.yaml", "/openapi.yaml").body)
	res, err := f.http.Client().Head(f.http.URL + "/healthz")
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, res.Body)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 200, res.StatusCode)
}

func TestAServerThatLacksWhatItNeedsIsNotMade(t *testing.T) {
	_, err := New(Options{})
	require.Error(t, err)
}
