package e2e

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

var family = regexp.MustCompile(`(?m)^# TYPE (\S+) `)

// Both endpoints name their metrics as Prometheus wants them, and every metric
// of ours stands in the README of the component that counts it.
func TestMetricsFollowThePracticeOfPrometheus(t *testing.T) {
	RequireEngine(t)
	in := Start(t, Options{})
	require.NoError(t, in.PostTraces(t.Context(), ptraceotlp.NewExportRequestFromTraces(agentRun("metered", 5, time.Now().Add(-time.Minute)))))
	_, _, err := in.get(t.Context(), "/api/v1/runs", "")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		n, _, err := in.Metric(t.Context(), "steptrail_attempts_total", nil)
		return err == nil && n > 0
	}, limit, 200*time.Millisecond, "the sweep counts what it judged")
	requireNative(t, in)
	var readmes strings.Builder
	for _, pattern := range []string{"query", "processor/*", "exporter/*", "extension/*"} {
		files, err := filepath.Glob(filepath.Join("..", pattern, "README.md"))
		require.NoError(t, err)
		for _, f := range files {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			readmes.Write(text)
		}
	}
	for name, address := range map[string]string{"collector": in.Telemetry, "query": in.Query} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/metrics", http.NoBody)
		require.NoError(t, err)
		status, body, err := in.do(req)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status)
		ours := 0
		for _, m := range family.FindAllSubmatch(body, -1) {
			if n := string(m[1]); strings.HasPrefix(n, "steptrail_") {
				ours++
				n = strings.Replace(n, "_native_seconds", "_seconds", 1)
				require.Contains(t, readmes.String(), "`"+n+"`", "%s stands in no README", n)
			}
		}
		require.Greater(t, ours, 4, name)
		t.Run(name, func(t *testing.T) {
			promtool, err := exec.LookPath("promtool")
			if err != nil {
				t.Skip("promtool is not installed: scripts/require.sh prometheus")
			}
			cmd := exec.CommandContext(t.Context(), promtool, "check", "metrics")
			cmd.Stdin = bytes.NewReader(body)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Empty(t, string(out))
		})
	}
}

// Latency is there as classic and as native histogram.
func requireNative(t *testing.T, in *Instance) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+in.Telemetry+"/metrics", http.NoBody)
	require.NoError(t, err)
	format := expfmt.NewFormat(expfmt.TypeProtoDelim)
	req.Header.Set("Accept", string(format))
	_, body, err := in.do(req)
	require.NoError(t, err)
	decoder := expfmt.NewDecoder(bytes.NewReader(body), format)
	buckets := map[string]int{} // of each histogram
	for {
		var f dto.MetricFamily
		if err := decoder.Decode(&f); err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
		for _, m := range f.GetMetric() {
			buckets[f.GetName()] += len(m.GetHistogram().GetBucket())
			if len(m.GetHistogram().GetPositiveSpan()) > 0 {
				buckets[f.GetName()+" native"]++
			}
		}
	}
	require.Positive(t, buckets["steptrail_tool_duration_seconds"])
	require.Positive(t, buckets["steptrail_tool_duration_native_seconds native"])
	require.Positive(t, buckets["steptrail_step_duration_native_seconds native"])
}
