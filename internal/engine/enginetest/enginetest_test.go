package enginetest_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/engine"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func TestEachTestHasAnEmptyDatabaseOnOneEngine(t *testing.T) {
	var pids []int
	var databases []string
	for range 2 {
		t.Run("a test", func(t *testing.T) {
			e := enginetest.Start(t)
			pids, databases = append(pids, e.PID()), append(databases, e.Database)
			e.Exec("CREATE TABLE t (a Int8) ENGINE = MergeTree ORDER BY a", "INSERT INTO t VALUES (1)")
			var n uint64
			require.NoError(t, e.Conn().QueryRow(t.Context(), "SELECT count() FROM t").Scan(&n))
			assert.Equal(t, uint64(1), n)
		})
	}
	assert.Equal(t, pids[0], pids[1])
	assert.NotEqual(t, databases[0], databases[1])

	var left uint64
	e := enginetest.Start(t)
	require.NoError(t, e.DB().QueryRowContext(t.Context(), "SELECT count() FROM system.databases WHERE name IN (?, ?)", databases[0], databases[1]).Scan(&left))
	assert.Zero(t, left, "they are dropped")
}

func TestAnOwnEngineIsAnother(t *testing.T) {
	shared, own := enginetest.Start(t), enginetest.StartOwn(t, func(c *engine.Config) { c.MaxMemory = 300 << 20 })
	assert.NotEqual(t, shared.PID(), own.PID())
}

// TestNeedsTheEngine is run by the next test in other processes.
func TestNeedsTheEngine(t *testing.T) {
	if os.Getenv("STEPTRAIL_TEST_INNER") == "" {
		t.Skip("run by TestTheModes")
	}
	enginetest.Start(t)
}

func TestTheModes(t *testing.T) {
	enginetest.Library(t)
	for _, tt := range []struct {
		name, mode, library string
		fails               bool
		says                string
	}{
		{"skip, with a library", "skip", "", false, "SKIP"},
		{"auto, without a library", "auto", "/nothing", false, "SKIP"},
		{"unset, without a library", "", "/nothing", false, "SKIP"},
		{"required, without a library", "required", "/nothing", true, "was not found"},
		{"required, with a library", "required", "", false, "PASS"},
		{"a misspelt mode, without a library", "require", "/nothing", true, "want skip, auto or required"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			library := tt.library
			if library == "" {
				library = os.Getenv(engine.LibraryEnv)
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNeedsTheEngine$", "-test.v")
			cmd.Env = append(os.Environ(), "STEPTRAIL_TEST_INNER=1", enginetest.ModeEnv+"="+tt.mode, engine.LibraryEnv+"="+library)
			output, err := cmd.CombinedOutput()
			assert.Equal(t, tt.fails, err != nil, "%s", output)
			assert.Contains(t, string(output), tt.says)
		})
	}
}
