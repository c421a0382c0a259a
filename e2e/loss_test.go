package e2e

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// The load of the loss tests: 400 runs of 50 spans are 20,000.
const (
	lossRuns    = 400
	lossSteps   = 49
	lossSenders = 4
)

func TestKillOfTheEngineUnderLoadLosesAndDoublesNothing(t *testing.T) {
	checkLoss(t, func(in *Instance) { in.KillEngine() })
}

func TestKillOfTheProgramUnderLoadLosesAndDoublesNothing(t *testing.T) {
	checkLoss(t, func(in *Instance) {
		in.Kill()
		in.Restart()
	})
}

// checkLoss sends the load, calls disturb when about a third has been acknowledged and again at two thirds, and checks
// through the API that every acknowledged span is there once. Senders try again until a request is acknowledged, as
// OTLP exporters do, so a request whose answer was lost is sent twice.
func checkLoss(t *testing.T, disturb func(*Instance)) {
	t.Helper()
	RequireEngine(t)
	if testing.Short() {
		t.Skip("sends 20,000 spans")
	}
	in := Start(t, Options{})
	start := time.Now().Add(-time.Minute)
	var next, acknowledged atomic.Int64
	var senders sync.WaitGroup
	for range lossSenders {
		senders.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= lossRuns || t.Context().Err() != nil {
					return
				}
				request := ptraceotlp.NewExportRequestFromTraces(agentRun(lossRun(i), lossSteps, start))
				sendUntilAcknowledged(t.Context(), t, in, request)
				acknowledged.Add(1)
			}
		})
	}
	for _, share := range []int64{lossRuns / 3, 2 * lossRuns / 3} {
		Eventually(t, limit, func() error {
			if n := acknowledged.Load(); n < share {
				return fmt.Errorf("%d of %d requests acknowledged", n, share)
			}
			return nil
		})
		disturb(in)
	}
	senders.Wait()
	require.EqualValues(t, lossRuns, acknowledged.Load())

	Eventually(t, limit, func() error {
		runs, err := Collect[run](t.Context(), in, "/runs?agent=e2e&limit=500", "runs")
		if err != nil {
			return err
		}
		spans := make(map[string]int, len(runs))
		for _, r := range runs {
			spans[r.RunID] += r.Spans
		}
		if len(runs) != lossRuns {
			return fmt.Errorf("%d runs are listed, want %d", len(runs), lossRuns)
		}
		for i := range int64(lossRuns) {
			if n := spans[lossRun(i)]; n != lossSteps+1 {
				return fmt.Errorf("run %s has %d spans, want %d", lossRun(i), n, lossSteps+1)
			}
		}
		return nil
	})
	for i := range int64(lossRuns) {
		requireEachStepOnce(t, in, lossRun(i))
	}
}

func lossRun(i int64) string { return fmt.Sprintf("loss-%d", i) }

// sendUntilAcknowledged sends a request again and again until it is answered with success, for five minutes at most.
func sendUntilAcknowledged(ctx context.Context, t *testing.T, in *Instance, request ptraceotlp.ExportRequest) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		err := in.PostTraces(ctx, request)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("never acknowledged: %v", err)
			return
		}
		time.Sleep(pollInterval)
	}
}

// requireEachStepOnce checks in a run's history that each step is there, with one attempt, and no span twice.
func requireEachStepOnce(t *testing.T, in *Instance, id string) {
	t.Helper()
	var h history
	require.NoError(t, in.GetJSON(t.Context(), "/runs/"+url.PathEscape(id)+"/history?content=none", &h))
	require.Len(t, h.Steps, lossSteps, id)
	seen := make(map[string]bool, len(h.Steps))
	for _, s := range h.Steps {
		require.Len(t, s.Attempts, 1, "step %s of run %s", s.StepID, id)
		span := s.Attempts[0].SpanID
		require.False(t, seen[span], "span %s of run %s stands twice", span, id)
		seen[span] = true
	}
}
