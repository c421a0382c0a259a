package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// prometheusVariable says what happens where Prometheus or Alertmanager is missing: "required" fails, else the test is
// skipped.
const prometheusVariable = "STEPTRAIL_TEST_PROMETHEUS"

// requireTool finds a program of Debian's prometheus packages.
func requireTool(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv(prometheusVariable) == "required" {
		t.Fatalf("%s is not installed: scripts/require.sh prometheus", names[0])
	}
	t.Skipf("%s is not installed (Debian: prometheus, prometheus-alertmanager)", names[0])
	return ""
}

// notice is an alert as Alertmanager's webhook tells it.
type notice struct {
	Status      string            `json:"status"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// pager receives what Alertmanager sends.
type pager struct {
	*httptest.Server
	mu   sync.Mutex
	seen map[string][]notice // by the path of the webhook
}

func newPager(t *testing.T) *pager {
	t.Helper()
	p := &pager{seen: map[string][]notice{}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Alerts []notice `json:"alerts"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.seen[r.URL.Path] = append(p.seen[r.URL.Path], body.Alerts...)
	}))
	t.Cleanup(p.Close)
	return p
}

// firing are the alerts of a path that fired, by name.
func (p *pager) firing(path string) map[string]notice {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]notice{}
	for _, n := range p.seen[path] {
		if n.Status == "firing" {
			out[n.Labels["alertname"]] = n
		}
	}
	return out
}

// startServer runs a server until the test ends, by SIGTERM.
func startServer(t *testing.T, ready, name string, args ...string) {
	t.Helper()
	log := &logBuffer{}
	cmd := exec.Command(name, args...)
	cmd.Dir = t.TempDir()
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("log of %s:\n%s", filepath.Base(name), log.String())
		}
	})
	Eventually(t, limit, func() error {
		status, _, err := fetch(t, ready)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("%s says %d", ready, status)
		}
		return err
	})
}

func fetch(t *testing.T, address string) (int, []byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

// startAlerting runs Alertmanager and Prometheus on the project's own files; only addresses and times are the test's.
// It gives Prometheus' address.
func startAlerting(t *testing.T, root string, in *Instance, p *pager) string {
	t.Helper()
	prometheus := requireTool(t, "prometheus")
	alertmanager := requireTool(t, "prometheus-alertmanager", "alertmanager")
	ports := freeAddresses(t, 2)
	dir := t.TempDir()

	text, err := os.ReadFile(filepath.Join(root, "alerts", "alertmanager.example.yml"))
	require.NoError(t, err)
	routing := strings.ReplaceAll(string(text), "http://127.0.0.1:9095", p.URL)
	routing = regexp.MustCompile(`group_wait: \d+s`).ReplaceAllString(routing, "group_wait: 1s")
	require.Contains(t, routing, p.URL+"/page")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "alertmanager.yml"), []byte(routing), 0o600))
	startServer(t, "http://"+ports[0]+"/-/ready", alertmanager, "--config.file="+filepath.Join(dir, "alertmanager.yml"),
		"--storage.path="+filepath.Join(dir, "alertmanager"), "--web.listen-address="+ports[0], "--cluster.listen-address=")

	config := fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 1s, external_labels: {steptrail_url: "http://%s"}}
rule_files: [%q]
alerting: {alertmanagers: [{static_configs: [{targets: [%q]}]}]}
scrape_configs:
  - {job_name: steptrail, static_configs: [{targets: [%q]}]}
  - {job_name: steptrail-api, static_configs: [{targets: [%q]}]}
`, in.Query, filepath.Join(root, "alerts", "steptrail.rules.yml"), ports[0], in.Telemetry, in.Query)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600))
	startServer(t, "http://"+ports[1]+"/-/ready", prometheus, "--config.file="+filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(dir, "prometheus"), "--web.listen-address="+ports[1])
	return "http://" + ports[1]
}

// TestTheRefundThatWasTriedTwicePages has the naive story of the example paged: Steptrail finds it, Prometheus fires the
// alert of the project's rules, Alertmanager sends it where pages go, and the link in it leads to the finding.
func TestTheRefundThatWasTriedTwicePages(t *testing.T) {
	RequireEngine(t)
	root, err := moduleRoot()
	require.NoError(t, err)
	requireTool(t, "prometheus")
	in := Start(t, Options{})
	p := newPager(t)
	prometheus := startAlerting(t, root, in, p)
	Eventually(t, limit, func() error { // so that the rise is seen, and nothing pages before
		return asks(t, prometheus, `count(steptrail_open_findings{severity="critical"}) > 0`)
	})
	require.Empty(t, p.firing("/page"))

	buildAgent(t, root)
	agent := exec.CommandContext(t.Context(), filepath.Join(root, "bin", "support-agent"), "-endpoint", "http://"+in.HTTP, "-mode", "both", "-run", "paged")
	out, err := agent.CombinedOutput()
	require.NoError(t, err, string(out))

	Eventually(t, limit, func() error {
		if _, ok := p.firing("/page")["UnsafeRetry"]; !ok {
			return fmt.Errorf("no page for the unsafe retry yet: %v", p.firing("/page"))
		}
		return nil
	})
	page := p.firing("/page")["UnsafeRetry"]
	require.Equal(t, "page", page.Labels["severity"])
	require.Equal(t, "outcome.unsafe_retry", page.Labels["kind"])
	require.Equal(t, "An act of unknown outcome was run again without a key: 1 new in the last hour", page.Annotations["summary"])

	status, body, err := fetch(t, page.Annotations["link"])
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, string(body))
	var list struct {
		Findings []struct {
			RunID string `json:"run_id"`
			Tool  string `json:"tool"`
		} `json:"findings"`
	}
	require.NoError(t, json.Unmarshal(body, &list))
	require.Len(t, list.Findings, 1, "the designed story pages nobody")
	require.Equal(t, "naive-paged", list.Findings[0].RunID)
	require.Equal(t, "issue_refund", list.Findings[0].Tool)

	// Every metric that a rule asks for is one that Steptrail shows.
	Eventually(t, limit, func() error { return knowsMetrics(t, prometheus, root) })
}

// asks says whether Prometheus answers an expression with something.
func asks(t *testing.T, prometheus, expr string) error {
	t.Helper()
	_, body, err := fetch(t, prometheus+"/api/v1/query?query="+url.QueryEscape(expr))
	if err == nil && !strings.Contains(string(body), `"metric"`) {
		err = fmt.Errorf("%s: %s", expr, body)
	}
	return err
}

// notYet are metrics that begin with their first event, which the example does not bring.
var notYet = []string{"steptrail_escalations_total", "otelcol_receiver_refused_log_records_total"}

func knowsMetrics(t *testing.T, prometheus, root string) error {
	t.Helper()
	rules, err := os.ReadFile(filepath.Join(root, "alerts", "steptrail.rules.yml"))
	require.NoError(t, err)
	_, body, err := fetch(t, prometheus+"/api/v1/label/__name__/values")
	if err != nil {
		return err
	}
	var known struct {
		Data []string `json:"data"`
	}
	require.NoError(t, json.Unmarshal(body, &known))
	var missing []string
	for _, name := range regexp.MustCompile(`\b(steptrail|otelcol)_\w+`).FindAllString(string(rules), -1) {
		if name != "steptrail_url" && !slices.Contains(known.Data, name) && !slices.Contains(notYet, name) && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("rules ask for metrics that are not there: %v", missing)
	}
	return nil
}
