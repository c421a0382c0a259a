package store

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// open gives a migrated store on a database of its own.
func open(t testing.TB) *Store {
	t.Helper()
	s, _ := openEngine(t)
	return s
}

func openEngine(t testing.TB) (*Store, *enginetest.Engine) {
	t.Helper()
	e := enginetest.Start(t)
	s, err := Open(t.Context(), e.Options(), Config{Database: e.Database})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.Migrate(t.Context()))
	return s, e
}

// filled gives a value in which every field is set, each differently. Enums are
// set to their first value, which every enum has.
func filled[T any]() T {
	var v T
	n := 0
	fill(reflect.ValueOf(&v).Elem(), &n)
	return v
}

func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		// What hostile content may hold: NUL, quotes, blank lines, bad UTF-8.
		v.SetString("v" + string(rune('a'+*n%26)) + "\x00'\n\n;\t\\\xff" + strings.Repeat("x", *n%5))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n) + 7)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(*n) + 1000)
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
			if v.Index(i).Kind() == reflect.Uint8 {
				v.Index(i).SetUint(uint64(*n+i) % 256)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		for i := range 3 {
			fill(v.Index(i), n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			key, val := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, n)
			fill(val, n)
			v.SetMapIndex(key, val)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, n)
		}
	default:
		panic("no filling for " + v.Type().String())
	}
}

// filledStep is a step in which every field is set, alive for a day.
func filledStep() *agent.Step {
	st := filled[agent.Step]()
	st.Tenant = "acme"
	st.Expires, st.ContentExpires = inADay(), inADay()
	st.Attributes[1].JSON, st.Resource[0].JSON, st.Events[1].Attributes[2].JSON = false, false, false
	return &st
}

var tomorrow = time.Now().Add(24 * time.Hour).Unix()

func inADay() int64 { return tomorrow }

// span is a small step of a unit, alive for a day.
func span(unit string, trace, id byte, change func(*agent.Step)) *agent.Step {
	st := &agent.Step{
		Tenant: "acme", Unit: unit, Trace: agent.TraceID{trace}, Span: agent.SpanID{id}, Name: "span", Service: "svc",
		Start: time.Now().Add(-time.Minute).UnixNano() + int64(id), Index: -1, Expires: inADay(), ContentExpires: inADay(),
	}
	st.End = st.Start + 1000
	if change != nil {
		change(st)
	}
	return st
}

func insert(t testing.TB, s *Store, steps ...*agent.Step) {
	t.Helper()
	b := NewBatch()
	for _, st := range steps {
		b.AddSpan(st, nil, nil)
	}
	require.NoError(t, s.Insert(t.Context(), b))
}
