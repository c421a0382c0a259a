package sweep

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

// counted adds up what a sweeper tells.
type counted struct {
	ended           []string
	steps, attempts int
}

func (c *counted) tell(n News) {
	if n.Ended {
		c.ended = append(c.ended, n.Run.ID)
	}
	for _, st := range n.Steps {
		if st.First {
			c.steps++
		}
		c.attempts += len(st.Attempts)
	}
}

func newCountingBench(t *testing.T) (*bench, *counted) {
	t.Helper()
	b, c := newBench(t), &counted{}
	b.Sweeper = New(b.memStore, testPolicy(t), Config{Tell: c.tell})
	return b, c
}

func step(id string) func(*agent.Step) { return func(s *agent.Step) { s.StepID = id } }

func lost(s *agent.Step) { s.Outcome = agent.OutcomeUnknown }

func TestWhatARunDidIsToldOnceHoweverOftenItIsJudged(t *testing.T) {
	b, c := newCountingBench(t)
	b.insert(noon, span("r1", 1, 1, 0, root), span("r1", 1, 2, 1, refund("k"), step("s"), lost))
	b.tick(noon.Add(11 * time.Second))
	want := counted{ended: []string{"r1"}, steps: 1, attempts: 1}
	require.Equal(t, want, *c)

	_, err := b.Range(t.Context(), noon.Add(-time.Hour), noon.Add(time.Hour), noon.Add(12*time.Second))
	require.NoError(t, err)
	require.Equal(t, want, *c, "judged again, nothing is new")

	b.insert(noon.Add(20*time.Second), span("r1", 1, 3, 1, refund("k"), step("s")))
	b.tick(noon.Add(31 * time.Second))
	want.attempts = 2
	require.Equal(t, want, *c, "the second attempt of a step that was told")
}

func TestAnotherSweeperOnTheSameStoreTellsNothingAgain(t *testing.T) {
	b, c := newCountingBench(t)
	b.insert(noon, span("r1", 1, 1, 0, root), span("r1", 1, 2, 1, refund("k")))
	b.tick(noon.Add(11 * time.Second))
	first := *c
	b.Sweeper = New(b.memStore, testPolicy(t), Config{Tell: c.tell}) // a restart, or a replica
	require.Equal(t, 1, b.tick(noon.Add(13*time.Second)).Runs)
	require.Equal(t, first, *c)
}

func TestAnAttemptThatMovesToAnotherRunIsNotNew(t *testing.T) {
	b, c := newCountingBench(t)
	b.insert(noon, span("", 1, 2, 1, refund("k")))
	b.tick(noon.Add(11 * time.Second))
	require.Equal(t, counted{steps: 1, attempts: 1}, *c, "no root yet: it has not ended")
	b.insert(noon.Add(15*time.Second), span("r1", 1, 1, 0, root))
	b.tick(noon.Add(40 * time.Second))
	require.Equal(t, counted{ended: []string{"r1"}, steps: 1, attempts: 1}, *c)
}

func TestNothingIsToldOfWhatWasNotWritten(t *testing.T) {
	b, c := newCountingBench(t)
	b.insert(noon, span("r1", 1, 1, 0, root), span("r1", 1, 2, 1, refund("k")))
	b.failWrite = errStore
	_, err := b.Tick(t.Context(), noon.Add(11*time.Second))
	require.ErrorIs(t, err, errStore)
	require.Empty(t, *c)
	b.failWrite = nil
	b.tick(noon.Add(12 * time.Second))
	require.Equal(t, counted{ended: []string{"r1"}, steps: 1, attempts: 1}, *c)
}
