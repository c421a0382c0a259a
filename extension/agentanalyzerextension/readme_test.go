package agentanalyzerextension

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/meter"
	"github.com/steptrail/steptrail/internal/meter/metertest"
)

func TestTheReadmeNamesEveryOptionAndItsDefault(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	d := createDefaultConfig().(*Config)
	for key, value := range map[string]string{
		"storage": "`" + d.Storage.String() + "`", "policy_file": "none, required",
		"interval": "`1s`", "overlap": "`1m`", "timeout": "`5m`",
	} {
		require.Contains(t, string(readme), fmt.Sprintf("| `%s` | %s |", key, value))
	}
	require.Equal(t, "1s 1m0s 5m0s", fmt.Sprint(d.Interval, " ", d.Overlap, " ", d.Timeout))
}

func TestTheReadmeNamesEveryMetric(t *testing.T) { metertest.Readme(t, meter.Table(described)) }
