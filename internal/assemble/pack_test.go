package assemble

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

// fill sets a value, and all within it, to something; every so often to nothing.
func fill(r *rand.Rand, v reflect.Value, empty float64) {
	if r.Float64() < empty {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString([]string{"a", "bb", "ccc", "a longer text", "é\x00"}[r.IntN(5)])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int64, reflect.Int32:
		v.SetInt(r.Int64N(1<<30) - 1<<29)
	case reflect.Uint8:
		v.SetUint(uint64(1 + r.IntN(200)))
	case reflect.Float64:
		v.SetFloat(r.Float64())
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		fill(r, p.Elem(), empty)
		v.Set(p)
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i), 0)
		}
	case reflect.Slice:
		s := reflect.MakeSlice(v.Type(), 1+r.IntN(3), 4)
		for i := range s.Len() {
			fill(r, s.Index(i), 0)
		}
		v.Set(s)
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(r, field, empty)
		}
	default:
		panic("BUG: a kind of field that the test does not know: " + v.Kind().String())
	}
}

// kept clears what is not kept of a step.
func kept(s *agent.Step) *agent.Step {
	s.Name, s.Attributes, s.Resource, s.Events = "", nil, nil, nil
	return s
}

func TestPackedStepsAndFactsComeBackWithEveryField(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		empty := []float64{0, 0.3, 0.8}[seed%3]
		var steps []*agent.Step
		for i := range r.IntN(6) {
			s := new(agent.Step)
			if i > 0 && r.IntN(2) == 0 {
				*s = *steps[i-1] // what does not change
			}
			fill(r, reflect.ValueOf(s).Elem(), empty)
			steps = append(steps, kept(s))
		}
		facts := map[agent.Ref]*agent.MessageFacts{}
		for range r.IntN(4) {
			f := new(agent.MessageFacts)
			fill(r, reflect.ValueOf(f).Elem(), empty)
			facts[f.Ref] = f
		}
		p := packer{}
		for _, s := range steps {
			p.step(s)
			require.LessOrEqual(t, p.bit, 8*maskBytes)
		}
		gotSteps, gotFacts := unpack(pack(steps, facts))
		require.Len(t, gotSteps, len(steps))
		for i := range steps {
			require.Equal(t, steps[i], gotSteps[i], "seed %d, step %d", seed, i)
		}
		require.Len(t, gotFacts, len(facts))
		for ref, f := range facts {
			require.Equal(t, f, gotFacts[ref], "seed %d", seed)
		}
	}
}

func TestCloneKeepsEveryFieldThatIsPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var before *agent.Step
	for range 50 {
		s := new(agent.Step)
		fill(r, reflect.ValueOf(s).Elem(), 0.2)
		c, size := clone(s, before)
		require.Equal(t, kept(s), c)
		require.Equal(t, sizeOf(c), size)
		before = c
	}
}

func FuzzUnpack(f *testing.F) {
	s := new(agent.Step)
	fill(rand.New(rand.NewPCG(1, 1)), reflect.ValueOf(s).Elem(), 0)
	f.Add(pack([]*agent.Step{s, s}, nil))
	f.Add("")
	f.Add("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")
	f.Fuzz(func(_ *testing.T, text string) {
		unpack(text) // ends, without a panic
	})
}
