package assemble_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/assemble"
)

// A run that is as it should be is kept packed, and beyond its window: what comes
// then is judged at once, with the newest steps and their agent.
func TestALongRunThatWasNeverJudgedIsJudgedByItsNewestSteps(t *testing.T) {
	for _, n := range []int{50, 140, 400, 790, 1000, 3000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			o := watchedOpen(t, assemble.Limits{Window: 100})
			list := benchSteps("r", n)
			now := int64(0)
			addTogether(o, [][]*agent.Step{list}, 1, &now)
			require.Zero(t, o.Stats().Judged)
			require.LessOrEqual(t, o.Stats().Steps, 802)
			again := *list[n-n%10-10]
			again.Span = agent.SpanID{9}
			got := o.Add(steps(&again), now)
			require.Contains(t, kinds(got), "r:key.duplicate", "at once")
			require.LessOrEqual(t, o.Stats().Steps, 152)
			require.Equal(t, int64(n+1), int64(o.Stats().Steps)+o.Stats().Trimmed)
		})
	}
}

func TestASpanFromBeforeTheWindowOfARunThatWasNeverJudgedMarksItLate(t *testing.T) {
	o := watchedOpen(t, assemble.Limits{Window: 50})
	now := int64(0)
	addTogether(o, [][]*agent.Step{benchSteps("r", 1000)}, 1, &now)
	s := in("r", span("r", 5000, 1))
	o.Add(steps(s), now)
	require.EqualValues(t, 1, o.Stats().Late)
	require.Zero(t, o.Stats().Steps)
}

func TestAccountsOfWatchedRunsReturnToNothing(t *testing.T) {
	for _, bytes := range []int64{1 << 19, 1 << 30} { // with packing and without
		o := watchedOpen(t, assemble.Limits{Keep: time.Second, Bytes: bytes, Window: 20})
		for i := range 3000 {
			run := fmt.Sprint("R", i%37, "-", i/700)
			s := in(run, act(fmt.Sprint("t", run, i%3), i/2, int64(i), fmt.Sprint("k", i)))
			s.Call.Tool, s.Call.ID = "refund", fmt.Sprint("c", i%1300)
			if i%5 == 0 {
				s.Op, s.Kind, s.Call = agent.OpModel, agent.KindUnset, agent.Call{}
			}
			o.Add(steps(s), int64(i)*int64(time.Millisecond))
			require.LessOrEqual(t, o.Stats().Bytes, bytes)
		}
		o.Due(int64(time.Hour))
		o.Due(int64(2 * time.Hour))
		s := o.Stats()
		require.Zero(t, s.Groups)
		require.Zero(t, s.Steps)
	}
}
