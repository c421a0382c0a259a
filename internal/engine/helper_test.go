package engine_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/engine"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
)

type engineConfig = engine.Config

func TestMain(m *testing.M) { enginetest.Main(m) }

// peakMemory is the most that a process had in memory, in bytes.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(b)) {
		var kb int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kb); err == nil {
			return kb << 10
		}
	}
	t.Fatal("no VmHWM")
	return 0
}
