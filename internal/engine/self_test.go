//go:build !race

package engine_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/engine"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
)

// The program that starts the engine hosts it, as steptrail does.
func TestAProgramHostsItsOwnEngine(t *testing.T) {
	cfg := enginetest.Config(t)
	cfg.Executable = "" // this test binary, whose TestMain calls ChildMain
	e, err := engine.Start(t.Context(), cfg)
	require.NoError(t, err)
	defer shutdown(t, e)
	require.NoError(t, e.Health(t.Context()))
	name, err := os.Readlink("/proc/self/exe")
	require.NoError(t, err)
	child, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", e.PID()))
	require.NoError(t, err)
	assert.Equal(t, name, child)
}

// Without the arguments of a child nothing is hosted, whatever the environment.
func TestChildMainLeavesOtherProcessesAlone(t *testing.T) {
	_, child := engine.ChildMain()
	assert.False(t, child)
	t.Setenv("STEPTRAIL_ENGINE_HOST", "1")
	_, child = engine.ChildMain()
	assert.False(t, child)
	_, err := engine.Start(t.Context(), engine.Config{DataDir: t.TempDir()})
	require.ErrorContains(t, err, "ChildMain", "a child that is no host must not start children")
}

// A host that was started by hand ends at once.
func TestAHostWithoutAParentEnds(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "engine-host")
	cmd.Env = append(os.Environ(), "STEPTRAIL_ENGINE_HOST=1")
	output, err := cmd.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(output), "configuration")
}
