package assemble

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

// someSteps makes steps whose fields are filled at random; some lie in others.
func someSteps(r *rand.Rand, n int) (list []*agent.Step) {
	for i := range n {
		s := new(agent.Step)
		if i > 0 && r.IntN(2) == 0 {
			*s = *list[r.IntN(i)] // what does not change
		}
		fill(r, reflect.ValueOf(s).Elem(), []float64{0, 0.3, 0.8}[r.IntN(3)])
		s.Op = agent.Op(r.IntN(6))
		s.Trace, s.Span = agent.TraceID{1}, agent.SpanID{byte(i + 1), byte((i + 1) >> 8), byte(r.IntN(256))}
		if i > 0 && r.IntN(3) == 0 {
			s.Parent = list[r.IntN(i)].Span
		}
		s.Start, s.End = r.Int64N(20), r.Int64N(3)
		list = append(list, kept(s))
	}
	return list
}

func coldOf(o *Open, list []*agent.Step) *cold {
	c := newCold()
	for _, s := range list {
		c.add(s, &o.fresh)
	}
	return c
}

func stepsOf(c *cold) (list []*agent.Step) {
	c.each(func(s *agent.Step) {
		x := *s
		list = append(list, &x)
	})
	return list
}

func TestAColdStepComesBackWithEveryField(t *testing.T) {
	o := New(Limits{}, nil)
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		list := someSteps(r, r.IntN(80))
		facts := map[agent.Ref]*agent.MessageFacts{}
		for range r.IntN(4) {
			f := new(agent.MessageFacts)
			fill(r, reflect.ValueOf(f).Elem(), 0.3)
			facts[f.Ref] = f
		}
		c := coldOf(o, list)
		if len(list) > 0 {
			require.Equal(t, list, stepsOf(c), "seed %d", seed)
		}
		gotSteps, gotFacts := unpack(c.text(facts))
		require.Len(t, gotSteps, len(list))
		for i := range list {
			require.Equal(t, list[i], gotSteps[i], "seed %d, step %d", seed, i)
		}
		require.Len(t, gotFacts, len(facts))
		for ref, f := range facts {
			require.Equal(t, f, gotFacts[ref], "seed %d", seed)
		}
	}
}

func TestASpotTellsWhatItsStepDoes(t *testing.T) {
	o := New(Limits{}, nil)
	list := someSteps(rand.New(rand.NewPCG(1, 3)), 200)
	cold, warm := &group{cold: coldOf(o, list)}, &group{steps: list}
	warm.reindex()
	for i, s := range list {
		require.Equal(t, warm.above(i), cold.above(i))
		require.Equal(t, i, cold.find(spanKey{s.Trace, s.Span}))
		require.Equal(t, warm.hasBegun(s), cold.hasBegun(s), "step %d", i)
	}
	require.Equal(t, -1, cold.find(spanKey{agent.TraceID{2}, list[0].Span}))
}

func TestACutLeavesTheSameStepsOfAColdGroup(t *testing.T) {
	o := New(Limits{}, nil)
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 4))
		list := someSteps(r, 30+r.IntN(60))
		limit := 1 + r.IntN(30)
		left := coldOf(o, list)
		floor := left.cut(limit)
		warm := &group{steps: append([]*agent.Step(nil), list...)}
		o.cutSteps(warm, limit)
		require.ElementsMatch(t, warm.steps, stepsOf(left), "seed %d", seed)
		require.Equal(t, warm.floor, floor, "seed %d", seed)
	}
}

// A cold group keeps no text of a request alive.
func TestWhatAColdGroupKeepsIsItsOwn(t *testing.T) {
	o := New(Limits{}, nil)
	list := someSteps(rand.New(rand.NewPCG(1, 5)), 50)
	theirs := map[*byte]bool{}
	var texts [texts]*string
	for _, s := range list {
		pointers(s, &texts)
		for _, p := range texts {
			theirs[unsafe.StringData(*p)] = len(*p) > 0
		}
	}
	c := coldOf(o, list)
	for _, s := range c.p.state {
		require.NotNil(t, s)
		pointers(s, &texts)
		for i, p := range texts {
			require.False(t, theirs[unsafe.StringData(*p)], "text %d: %q", i, *p)
		}
	}
	for _, x := range c.places {
		require.False(t, theirs[unsafe.StringData(x.unit)])
	}
}

// A place may be new with each step where many traces and units take turns. It keeps
// no text of its step.
func TestPlacesKeepNoStep(t *testing.T) {
	o := New(Limits{}, nil)
	c := newCold()
	for i := range 1000 {
		c.add(&agent.Step{
			Op: agent.OpTool, Unit: []string{"a unit", "another one"}[i%2], Trace: agent.TraceID{byte(i % (manyPlaces + 1)), 1}, Span: agent.SpanID{byte(i), byte(i >> 8), 1},
		}, &o.fresh)
	}
	require.Len(t, c.places, 1000)
	for i := range c.places {
		require.True(t, sameText(&c.places[i].unit, &c.places[i%2].unit))
	}
}
