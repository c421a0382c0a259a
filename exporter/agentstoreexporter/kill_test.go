package agentstoreexporter

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"

	"github.com/steptrail/steptrail/internal/engine/enginetest"
)

// killDirEnv makes the test binary the process that is killed: it fills the
// queue in this folder and waits.
const killDirEnv = "STEPTRAIL_TEST_KILL_DIR"

func TestMain(m *testing.M) { enginetest.Main(m) }

const killTraces, killSpans = 20, 5

// TestFillTheQueue is no test of its own: TestAcknowledgedSpansSurviveAKill
// runs it in a process that it kills.
func TestFillTheQueue(t *testing.T) {
	dir := os.Getenv(killDirEnv)
	if dir == "" {
		t.Skip("run by TestAcknowledgedSpansSurviveAKillOfTheProcess")
	}
	e, err := NewFactory().CreateTraces(t.Context(), settings(t), onDisk())
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context(), hostWith(nil, fileStorage(t, dir))))
	for trace := byte(1); trace <= killTraces; trace++ {
		require.NoError(t, e.ConsumeTraces(t.Context(), spans(trace, killSpans)))
	}
	fmt.Println("acknowledged")
	select {} // until it is killed
}

func TestAcknowledgedSpansSurviveAKillOfTheProcess(t *testing.T) {
	s := openStore(t)
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestFillTheQueue$")
	cmd.Env = append(os.Environ(), killDirEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	acknowledged := false
	for !acknowledged && lines.Scan() {
		acknowledged = lines.Text() == "acknowledged"
	}
	require.NoError(t, lines.Err())
	require.True(t, acknowledged)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()

	startTraces(t, onDisk(), hostWith(s, fileStorage(t, dir)))
	require.Eventually(t, func() bool {
		for trace := byte(1); trace <= killTraces; trace++ {
			if stored(t, s, trace) != killSpans {
				return false
			}
		}
		return true
	}, storedLimit, 50*time.Millisecond)
}

// onDisk is a config with the queue in file_storage.
func onDisk() *Config {
	cfg := createDefaultConfig().(*Config)
	disk := component.MustNewID("file_storage")
	cfg.Queue.Get().StorageID = &disk
	return cfg
}
