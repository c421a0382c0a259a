package assemble

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

// A long cold group whose window is cut again and again holds, in the order of their
// arrival, the steps that a warm one would, whatever of its segments is left.
func TestALongColdGroupIsCutAsAWarmOne(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 6))
		list := someSteps(r, 3000)
		spread := []int64{0, 40, 5000}[seed%3] // how far out of order they come
		for i, s := range list {
			s.Trace[1] = byte(r.IntN(20) / 19)
			s.Start = int64(i) + r.Int64N(spread+1)
		}
		o := New(Limits{}, nil)
		c := newCold()
		var held []*agent.Step
		for i, s := range list {
			c.add(s, &o.fresh)
			held = append(held, s)
			if limit := 50 + r.IntN(500); len(held) > limit && r.IntN(300) == 0 {
				warm := &group{steps: slices.Clone(held)}
				o.cutSteps(warm, limit)
				require.Equal(t, warm.floor, c.cut(limit), "seed %d, step %d", seed, i)
				held = slices.DeleteFunc(held, func(x *agent.Step) bool { return !slices.Contains(warm.steps, x) })
				require.Equal(t, held, stepsOf(c), "seed %d, step %d", seed, i)
				sealed := int64(0)
				for i := range c.segments {
					sealed += c.segments[i].bytes()
					require.LessOrEqual(t, c.segments[i].n, 2*c.segments[i].left, "little is left of a segment")
				}
				require.Equal(t, sealed, c.sealed)
			}
			if i%500 != 499 {
				continue
			}
			warm := &group{steps: held}
			warm.reindex()
			for k, s := range list[:i+1] {
				key := spanKey{s.Trace, s.Span}
				require.Equal(t, warm.find(key), c.find(key), "seed %d, step %d of %d", seed, k, i)
			}
			for k := range held {
				require.Equal(t, warm.above(k), (&group{cold: c}).above(k))
			}
		}
		require.NotEmpty(t, c.segments)
		steps, _ := unpack(c.text(nil))
		require.Equal(t, held, steps, "seed %d", seed)
	}
}

// A segment begins with the whole input of a model call: long ones make long segments.
func TestLongInputsAreNotWrittenForEachSegment(t *testing.T) {
	var context []agent.Ref
	o := New(Limits{}, nil)
	c := newCold()
	for i := range 4000 {
		if i%8 == 0 {
			context = append(context, agent.Ref{byte(i), byte(i >> 8), 1})
		}
		s := &agent.Step{Op: agent.OpModel, Span: agent.SpanID{byte(i), byte(i >> 8), 1}, Start: int64(i)}
		s.Model.Context = slices.Clone(context)
		c.add(s, &o.fresh)
	}
	require.Greater(t, len(c.segments), 1)
	require.Less(t, int(c.sealed)+len(c.p.out), 4000*50)
	i := 0
	c.each(func(s *agent.Step) {
		require.Equal(t, context[:i/8+1], s.Model.Context)
		i++
	})
	require.Equal(t, 4000, i)
}
