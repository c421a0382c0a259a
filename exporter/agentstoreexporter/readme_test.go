package agentstoreexporter

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
	q := c.Queue.Get()
	b := q.Batch.Get()
	for _, line := range []string{
		fmt.Sprintf("| `storage` | `%s` |", c.Storage),
		"| `timeout` | `1m` |",
		fmt.Sprintf("| `sending_queue::sizer` | `%s` |", q.Sizer.String()),
		fmt.Sprintf("| `sending_queue::queue_size` | `%d` |", q.QueueSize),
		fmt.Sprintf("| `sending_queue::num_consumers` | `%d` |", q.NumConsumers),
		fmt.Sprintf("| `sending_queue::batch::flush_timeout` | `%s` |", b.FlushTimeout),
		fmt.Sprintf("`max_size` | `%d`, `%d` |", b.MinSize, b.MaxSize),
		fmt.Sprintf("`max_interval` | `%s`, `%s` |", c.Retry.InitialInterval, c.Retry.MaxInterval),
		fmt.Sprintf("| `retry_on_failure::max_elapsed_time` | `%s` |", c.Retry.MaxElapsedTime),
	} {
		require.Contains(t, string(text), line)
	}
}
