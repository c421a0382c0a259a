package agentstorageextension

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/meter"
	"github.com/steptrail/steptrail/internal/meter/metertest"
)

func TestTheReadmeNamesEveryMetric(t *testing.T) { metertest.Readme(t, meter.Table(described)) }

func TestTheReadmeNamesTheDefaults(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	c := createDefaultConfig().(*Config)
	for _, line := range []string{
		fmt.Sprintf("| `dsn` | `%s` |", Embedded),
		fmt.Sprintf("| `data_dir` | `%s` |", c.DataDir),
		fmt.Sprintf("| `database` | `%s` |", c.Database),
		fmt.Sprintf("| `migrate` | `%t` |", c.Migrate),
		fmt.Sprintf("| `engine::max_memory_mib` | `%d` |", c.Engine.MaxMemoryMiB),
		fmt.Sprintf("| `engine::max_concurrent` | `%d` |", c.Engine.MaxConcurrent),
	} {
		require.Contains(t, string(text), line)
	}
}
