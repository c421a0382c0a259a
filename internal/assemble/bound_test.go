package assemble_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/assemble"
)

func TestMemoryStaysWithinItsBound(t *testing.T) {
	const bound = 4 << 20
	o := assemble.New(assemble.Limits{Bytes: bound}, judge)
	for i := range 20_000 {
		s := act(fmt.Sprint("t", i), 1, int64(i), fmt.Sprint("key", i))
		s.StepID = fmt.Sprint("label", i)
		o.Add(steps(s), int64(i))
		require.LessOrEqual(t, o.Stats().Bytes, int64(bound))
	}
	s := o.Stats()
	require.Positive(t, s.Evicted)
	require.Positive(t, s.Groups)
}

func TestOneRunLargerThanTheBoundDoesNotBreakIt(t *testing.T) {
	const bound = 1 << 20
	o := assemble.New(assemble.Limits{Bytes: bound}, judge)
	for i := range 5000 {
		o.Add(steps(in("R", act("t", i, int64(i), "k"))), int64(i))
		require.LessOrEqual(t, o.Stats().Bytes, int64(bound))
	}
}

// A run with more open calls than are remembered leaves nothing behind.
func TestCallsBeyondTheBoundAreNotKept(t *testing.T) {
	o := assemble.New(assemble.Limits{Window: 100, Keep: time.Second}, nil)
	fill := func(from, n int) {
		for i := from; i < from+n; i++ {
			s := act("t", i, int64(i)*10, "")
			s.Call.ID = fmt.Sprint("call", i)
			o.Add(steps(s), int64(i))
		}
	}
	fill(0, 6000)
	before := heapInUse()
	fill(6000, 20_000)
	require.Less(t, heapInUse()-before, int64(1<<20))
	runtime.KeepAlive(o)
}

func TestAccountsReturnToNothing(t *testing.T) {
	o := assemble.New(assemble.Limits{Keep: time.Second}, judge)
	for i := range 300 {
		run := fmt.Sprint("R", i%7)
		s := in(run, act(fmt.Sprint("t", i%11), i, int64(i), fmt.Sprint("k", i%5)))
		s.Call.ID = fmt.Sprint("c", i%13)
		o.Add(steps(s), int64(i))
	}
	o.Due(int64(time.Hour))
	o.Due(int64(2 * time.Hour))
	s := o.Stats()
	require.Zero(t, s.Groups)
	require.Zero(t, s.Steps)
}

// Runs that use one key, each begun before the last, cost a judgement of the next run
// each, not of all.
func TestRunsUnderOneKeyThatArriveBackwardsAreNotAllJudgedAgain(t *testing.T) {
	o := watchedOpen(t, assemble.Limits{})
	const n = 200
	for i := range n {
		run := fmt.Sprint("R", i)
		s := in(run, act(run, 1, n-int64(i), "key"))
		s.Call.Tool = "refund"
		o.Add(steps(s), int64(i)*int64(time.Millisecond))
	}
	require.Less(t, int(o.Stats().Judged), 3*n)
}

// Texts that steps of a run mostly share count where each step has long ones of its own.
func TestLongTextsOfEachStepCount(t *testing.T) {
	o := assemble.New(assemble.Limits{}, nil) // warm from the first step on
	before := heapInUse()
	for i := range 1000 {
		s := act("t", i, int64(i), "")
		for _, text := range []*string{&s.Agent, &s.User, &s.Session, &s.Call.Tool, &s.Reason, &s.Actor} {
			*text = strings.Repeat(fmt.Sprintf("%08d", i), 256)
		}
		o.Add(steps(s), int64(i))
	}
	told := o.Stats().Bytes
	require.Less(t, heapInUse()-before, 3*told/2)
	runtime.KeepAlive(o)
}

// Long runs that share keys are judged as often as what comes to them allows, not with
// each judgement of each other.
func TestLongRunsUnderSharedKeysAreNotJudgedWithEachOther(t *testing.T) {
	o := watchedOpen(t, assemble.Limits{Window: 50})
	const runs, n = 20, 4000 // 200 steps of each in 20 s
	for i := range n {
		run := fmt.Sprint("R", i%runs)
		s := in(run, act(run, i, int64(i), fmt.Sprint("key", i%3)))
		s.Call.Tool = "refund"
		o.Add(steps(s), int64(i)*int64(5*time.Millisecond))
	}
	require.Less(t, int(o.Stats().Judged), 2000)
}
