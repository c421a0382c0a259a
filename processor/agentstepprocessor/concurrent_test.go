package agentstepprocessor

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/steptrail/steptrail/internal/agent"
)

func TestRequestsAtOnceGiveTheSameFindingsAsOneAfterTheOther(t *testing.T) {
	tp, lp, sink, _ := newTestProcessor(t, taskPolicy)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { // ends by itself; the test waits for it
			for range 5 {
				if err := tp.ConsumeTraces(t.Context(), keyCase()); err != nil {
					t.Error(err)
				}
				if err := lp.ConsumeLogs(t.Context(), plog.NewLogs()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	c := collect(sink.AllTraces(), nil)
	kinds := map[string]int{}
	for _, f := range c.findings {
		if f.Kind == "key.duplicate" {
			kinds[f.Run]++
		}
	}
	require.Equal(t, map[string]int{"run-1": 1, "run-3": 1}, kinds)
	require.Len(t, agent.Runs(c.input), 3)
}
