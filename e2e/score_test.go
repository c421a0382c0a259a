package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// scored is what is looked at of a run and of a finding.
type (
	scoredRun struct {
		RunID       string `json:"run_id"`
		UnknownOpen int    `json:"unknown_open"`
		Counts      map[string]struct {
			Steps    int `json:"steps"`
			Attempts int `json:"attempts"`
		} `json:"counts"`
	}
	scoredFinding struct {
		ID       string `json:"id"`
		Kind     string `json:"kind"`
		Severity string `json:"severity"`
		Status   string `json:"status"`
		RunID    string `json:"run_id"`
		Tool     string `json:"tool"`
	}
)

// startScored starts the program with a policy.
func startScored(t *testing.T, policy []byte) *Instance {
	t.Helper()
	RequireEngine(t)
	path := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(path, policy, 0o600))
	return Start(t, Options{Env: []string{"STEPTRAIL_POLICY_FILE=" + path, "STEPTRAIL_REDACTION_KEY=0123456789abcdef0123456789abcdef"}})
}

// senders is how many exports are sent at once.
const senders = 6

func postAll(ctx context.Context, in *Instance, requests []ptrace.Traces) error {
	for _, td := range requests {
		if err := in.PostTraces(ctx, ptraceotlp.NewExportRequestFromTraces(td)); err != nil {
			return err
		}
	}
	return nil
}

// waitSettled waits until all that was sent is stored, and runs and findings
// have stopped changing: for three looks, two seconds apart, after the quiet
// time, and over three whole sweeps, which take long on a busy machine.
func waitSettled(t *testing.T, in *Instance) {
	t.Helper()
	before, same, since := "", 0, 0.0
	time.Sleep(4 * time.Second) // the policy's quiet time, and two seconds
	Eventually(t, 2*limit, func() error {
		queued, counted, err := in.Metric(t.Context(), "otelcol_exporter_queue_size", map[string]string{"exporter": "agentstore"})
		if err != nil {
			return err
		}
		if !counted || queued > 0 {
			return fmt.Errorf("%.0f bytes wait to be stored (counted: %t)", queued, counted)
		}
		sweeps, _, err := in.Metric(t.Context(), "steptrail_sweeps_total", map[string]string{"result": "ok"})
		if err != nil {
			return err
		}
		now, err := everything(t.Context(), in)
		if err != nil {
			return err
		}
		if now == before {
			same++
		} else {
			before, same, since = now, 0, sweeps
		}
		if same < 3 || sweeps < since+4 { // the first may have begun before
			time.Sleep(2 * time.Second)
			return fmt.Errorf("still changing after %d equal looks and %.0f sweeps", same, sweeps-since)
		}
		return nil
	})
}

func everything(ctx context.Context, in *Instance) (string, error) {
	runs, err := Collect[scoredRun](ctx, in, "/runs?limit=500", "runs")
	if err != nil {
		return "", err
	}
	found, err := Collect[scoredFinding](ctx, in, "/findings?limit=500", "findings")
	if err != nil {
		return "", err
	}
	slices.SortFunc(runs, func(a, b scoredRun) int { return cmp.Compare(a.RunID, b.RunID) })
	slices.SortFunc(found, func(a, b scoredFinding) int { return cmp.Compare(a.ID, b.ID) })
	text, err := json.Marshal([]any{runs, found})
	return string(text), err
}

func findingsOfRun(ctx context.Context, in *Instance, id string) ([]scoredFinding, error) {
	found, err := Collect[scoredFinding](ctx, in, "/findings?limit=500&run_id="+url.QueryEscape(id), "findings")
	return slices.DeleteFunc(found, func(f scoredFinding) bool { return f.Status == "withdrawn" }), err
}

// each gives every value once, sorted.
func each(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
