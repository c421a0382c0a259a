package column

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// all is a set of every kind of column.
type all struct {
	Set
	text   *String
	dict   *Dict
	number *Int64
	flag   *Bool
	id     *Bytes16
	null   *NullFloat64
	list   *Array[*Dict]
	pairs  *Map[*String]
	deep   *Array[*Map[*Dict]]
}

func newAll() *all {
	a := &all{}
	a.text = Add(&a.Set, "text", NewString())
	a.dict = Add(&a.Set, "dict", NewDict())
	a.number = Add(&a.Set, "number", NewTime())
	a.flag = Add(&a.Set, "flag", &Bool{})
	a.id = Add(&a.Set, "id", &Bytes16{})
	a.null = Add(&a.Set, "null", &NullFloat64{})
	a.list = Add(&a.Set, "list", NewArray(NewDict()))
	a.pairs = Add(&a.Set, "pairs", NewMap(NewString()))
	a.deep = Add(&a.Set, "deep", NewArray(NewMap(NewDict())))
	return a
}

func (a *all) add(i int) {
	v := fmt.Sprint(i % 7)
	a.text.Append(v)
	a.dict.Append(v)
	a.number.Append(int64(i))
	a.flag.Append(i%2 == 0)
	a.id.Append([16]byte{byte(i)})
	if f := float64(i); i%3 == 0 {
		a.null.Append(&f)
	} else {
		a.null.Append(nil)
	}
	for j := range i % 4 {
		a.list.Elem.Append(fmt.Sprint(v, j))
		a.pairs.Keys.Append(v)
		a.pairs.Vals.Append(fmt.Sprint(j))
		a.deep.Elem.Keys.Append(v)
		a.deep.Elem.Vals.Append(v)
		a.deep.Elem.End()
	}
	a.list.End()
	a.pairs.End()
	a.deep.End()
}

func encoded(s *Set) []byte {
	var b proto.Buffer
	s.Encode(&b)
	return b.Buf
}

func TestABlockComesBackAsItWas(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a, back := newAll(), newAll()
		for i := range rapid.IntRange(0, 600).Draw(r, "rows") { // beyond 256 distinct values of a dictionary
			a.add(i)
			a.dict.keys[i] = a.dict.number(fmt.Sprint(i))
		}
		data := encoded(&a.Set)
		rd := proto.NewReader(bytes.NewReader(data))
		if err := back.Decode(rd); err != nil {
			r.Fatal(err)
		}
		if !bytes.Equal(encoded(&back.Set), data) {
			r.Fatal("another block")
		}
		if err := back.Decode(rd); !errors.Is(err, io.EOF) {
			r.Fatalf("after the last block: %v, want io.EOF", err)
		}
	})
}

func TestRowsTakenInAnyPiecesAreTheSameRows(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a := newAll()
		n := rapid.IntRange(1, 60).Draw(r, "rows")
		for i := range n {
			a.add(i)
		}
		taken := a.New()
		for lo := 0; lo < n; {
			hi := rapid.IntRange(lo, n).Draw(r, "hi")
			taken.Take(&a.Set, lo, hi)
			lo = hi
		}
		if !bytes.Equal(encoded(taken), encoded(&a.Set)) {
			r.Fatal("other rows")
		}
	})
}

func TestADecodedDictionaryTakesMoreValues(t *testing.T) {
	a, b := newAll(), newAll()
	for i := range 20 {
		a.add(i)
	}
	require.NoError(t, b.Decode(proto.NewReader(bytes.NewReader(encoded(&a.Set)))))
	b.dict.Append("3")
	b.dict.Append("new")
	require.Equal(t, "3", b.dict.Row(20))
	require.Equal(t, "new", b.dict.Row(21))
	require.Len(t, b.dict.vals, 8)
}

func TestAColumnThatABlockDoesNotHaveIsZero(t *testing.T) {
	old := &Set{}
	text := Add(old, "text", NewString())
	text.Append("x")
	text.Append("y")
	a := newAll()
	require.NoError(t, a.Decode(proto.NewReader(bytes.NewReader(encoded(old)))))
	require.Equal(t, 2, a.Rows())
	require.Equal(t, "y", a.text.Row(1))
	require.Empty(t, a.dict.Row(1))
	require.Nil(t, a.null.Row(1))
	lo, hi := a.deep.Span(1)
	require.Equal(t, lo, hi)
}

func TestABlockOfAnotherTableIsRefused(t *testing.T) {
	for name, set := range map[string]*Set{
		"a column that is not known": func() *Set { s := &Set{}; Add(s, "other", NewString()).Append("x"); return s }(),
		"a column of another type":   func() *Set { s := &Set{}; Add(s, "text", &Int64{}).Append(1); return s }(),
	} {
		require.Error(t, newAll().Decode(proto.NewReader(bytes.NewReader(encoded(set)))), name)
	}
	a := newAll()
	a.add(1)
	data := encoded(&a.Set)
	for n := 1; n < len(data); n++ {
		require.Error(t, newAll().Decode(proto.NewReader(bytes.NewReader(data[:n]))), "cut after %d bytes", n)
	}
}
