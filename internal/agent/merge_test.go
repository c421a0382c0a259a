package agent

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// fillStep sets some fields of a step to one of a few values.
func fillStep(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString([]string{"", "", "a", "b"}[r.IntN(4)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int64, reflect.Int32:
		v.SetInt(r.Int64N(3))
	case reflect.Uint8:
		v.SetUint(uint64(r.IntN(4)))
	case reflect.Float64:
		v.SetFloat(float64(r.IntN(3)))
	case reflect.Pointer:
		if r.IntN(2) == 0 {
			p := reflect.New(v.Type().Elem())
			fillStep(r, p.Elem())
			v.Set(p)
		}
	case reflect.Array:
		if v.Len() > 0 {
			fillStep(r, v.Index(0))
		}
	case reflect.Slice:
		if n := r.IntN(3); n > 0 {
			s := reflect.MakeSlice(v.Type(), n, n)
			for i := range n {
				fillStep(r, s.Index(i))
			}
			v.Set(s)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			fillStep(r, field)
		}
	default:
		panic("BUG: a kind of field that the test does not know: " + v.Kind().String())
	}
}

// reception is a random reception of one span.
func reception(r *rand.Rand) *Step {
	s := new(Step)
	fillStep(r, reflect.ValueOf(s).Elem())
	s.Trace, s.Span = TraceID{1}, SpanID{1}
	s.DialectRunWeak = s.DialectRunWeak && s.DialectRun != ""
	return s
}

func TestReceptionsOfOneSpanMergeToTheSameStepInAnyOrder(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		var s [3]*Step
		for i := range s {
			s[i] = reception(r)
		}
		want := mergeSteps(mergeSteps(s[0], s[1]), s[2])
		for _, order := range [][3]int{{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			require.Equal(t, want, mergeSteps(mergeSteps(s[order[0]], s[order[1]]), s[order[2]]), "seed %d", seed)
			require.Equal(t, want, mergeSteps(s[order[0]], mergeSteps(s[order[1]], s[order[2]])), "seed %d", seed)
		}
		twin := *s[0]
		require.Equal(t, s[0], mergeSteps(s[0], &twin), "a step merged with its equal is itself")
		require.Equal(t, want, mergeSteps(want, s[1]), "what is in it adds nothing")
	}
}

func TestNoFieldOfAStepIsForgottenInAMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		full := reception(r)
		empty := &Step{Trace: full.Trace, Span: full.Span}
		require.Equal(t, full, mergeSteps(empty, full))
		require.Equal(t, full, mergeSteps(full, empty))
	}
}
