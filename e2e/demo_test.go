package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTheDemoShowsTheDuplicateEffectAndTheCleanRun runs what "make demo" runs, on addresses and a folder of its own.
func TestTheDemoShowsTheDuplicateEffectAndTheCleanRun(t *testing.T) {
	RequireEngine(t)
	Binary(t) // builds it where it is not given
	root, err := moduleRoot()
	require.NoError(t, err)
	buildAgent(t, root)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(root, "scripts", "demo.sh"))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	addresses := freeAddresses(t, 4)
	cmd.Env = append(os.Environ(),
		"STEPTRAIL_DATA_DIR="+filepath.Join(t.TempDir(), "data"), "STEPTRAIL_DEMO_EXIT=1", "STEPTRAIL_TELEMETRY_PORT="+strings.TrimPrefix(addresses[3], "127.0.0.1:"),
		"STEPTRAIL_OTLP_GRPC_ENDPOINT="+addresses[0], "STEPTRAIL_OTLP_HTTP_ENDPOINT="+addresses[1], "STEPTRAIL_QUERY_ENDPOINT="+addresses[2])
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Run(), "%s%s", &out, &errs)

	require.Contains(t, out.String(), "bin/steptrail runs --api "+addresses[2]+"; bin/steptrail run naive-")
	naive, designed, ok := strings.Cut(out.String(), "\n\nrun designed-")
	require.True(t, ok, out.String())
	designed, _, ok = strings.Cut(designed, "\nSteptrail is up.")
	require.True(t, ok, out.String())
	require.Contains(t, naive, "the service booked 2 refund(s)")
	require.Contains(t, naive, "the service booked 1 refund(s)")
	require.Regexp(t, `attempt 1 +unknown +30\.0 s`, naive)
	require.Regexp(t, `attempt 2 +ok`, naive)
	require.Regexp(t, `critical +open +outcome\.unsafe_retry`, naive)
	require.Regexp(t, `attempt 2 +refused +5 ms +gate duplicate`, designed)
	require.Regexp(t, `resolved +outcome\.unknown`, designed)
	require.Empty(t, regexp.MustCompile(`(?m)^ +\w+ +open +\S+.*$`).FindAllString(designed, -1), "the designed run is clean")
	require.NotContains(t, out.String(), "\x1b", "no colours where no terminal is")
}

func buildAgent(t *testing.T, root string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join("bin", "support-agent"), "./examples/support-agent")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}
