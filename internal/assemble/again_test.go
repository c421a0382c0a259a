package assemble_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/assemble"
)

// patient raises its finding a second after the last span, and says so.
func patient(r *agent.Run, _ func(string) []agent.Act, at assemble.Moment) ([]agent.Finding, int64) {
	if due := at.LastArrival + int64(time.Second); at.Now < due {
		return nil, due
	}
	return []agent.Finding{{Kind: "test", Run: r.ID, ID: agent.NewFindingID(r.Tenant, r.ID, "test", "")}}, 0
}

func TestARunIsJudgedAgainWhenTheJudgeAskedForIt(t *testing.T) {
	second := int64(time.Second)
	o := assemble.NewTimed(assemble.Limits{}, patient)
	require.Empty(t, kinds(o.Add(steps(act("t", 1, 1, "")), 0)))
	require.Empty(t, o.Due(second-1))
	require.Equal(t, 1, fresh(o.Due(second)))
	require.Empty(t, o.Due(2*second), "it asked once")

	o = assemble.NewTimed(assemble.Limits{}, patient)
	o.Add(steps(act("t", 1, 1, "")), 0)
	o.Add(steps(act("t", 2, 2, "")), second/2)
	require.Empty(t, o.Due(second), "a later span puts it off")
	require.Equal(t, 1, fresh(o.Due(second+second/2)))
}

func TestALateRunIsNotJudgedAgain(t *testing.T) {
	second := int64(time.Second)
	o := assemble.NewTimed(assemble.Limits{Window: 10}, patient)
	var batch assemble.Batch
	for i := range 40 {
		batch.Steps = append(batch.Steps, act("t", i, int64(1000+i), ""))
	}
	o.Add(batch, 0)
	o.Add(steps(act("t", 99, 1, "")), 1) // began before the window
	require.Equal(t, int64(1), o.Stats().Late)
	require.Zero(t, fresh(o.Due(5*second)))
}
