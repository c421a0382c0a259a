package column

import (
	"errors"
	"fmt"

	"github.com/ClickHouse/ch-go/proto"
)

// offsets are the ends of the rows of an array, as Native has them.
type offsets struct{ ends UInt64 }

// span is the range of elements of row i.
func (o *offsets) span(i int) (lo, hi int) {
	if i > 0 {
		lo = int(o.ends.Vals[i-1]) // checked on decoding, ours on appending
	}
	return lo, int(o.ends.Vals[i]) // likewise
}

func (o *offsets) end(n int) { o.ends.Append(uint64(n)) } // a length

// take appends the rows lo to hi of src and gives the range of their elements.
func (o *offsets) take(src *offsets, lo, hi int) (from, to int) {
	if lo == hi {
		return 0, 0
	}
	from, _ = src.span(lo)
	_, to = src.span(hi - 1)
	base := uint64(0)
	if n := len(o.ends.Vals); n > 0 {
		base = o.ends.Vals[n-1]
	}
	for _, e := range src.ends.Vals[lo:hi] {
		o.ends.Append(base + e - uint64(from)) // a length
	}
	return from, to
}

var errOffsets = errors.New("array offsets out of order")

const maxElements = 1 << 31

// decode reads the offsets and gives the number of elements.
func (o *offsets) decode(r *proto.Reader, rows int) (int, error) {
	if err := o.ends.DecodeColumn(r, rows); err != nil {
		return 0, err
	}
	var last uint64
	for _, e := range o.ends.Vals {
		if e < last || e > maxElements {
			return 0, errOffsets
		}
		last = e
	}
	return int(last), nil // bounded above
}

// Array is an Array(T) column over a column of elements: append the elements to
// Elem, then call End.
type Array[E Column] struct {
	offsets
	Elem E
}

// NewArray gives an empty array column over elem, which it owns.
func NewArray[E Column](elem E) *Array[E] { return &Array[E]{Elem: elem} }

// End closes the row that the elements appended since the last call make.
func (c *Array[E]) End() { c.end(c.Elem.Rows()) }

// Span is the range of elements of row i.
func (c *Array[E]) Span(i int) (lo, hi int) { return c.span(i) }

// Rows is the number of arrays.
func (c *Array[E]) Rows() int { return c.ends.Rows() }

// Reset empties the column and keeps its memory.
func (c *Array[E]) Reset() { c.ends.Reset(); c.Elem.Reset() }

// Type is Array of the elements' type.
func (c *Array[E]) Type() proto.ColumnType { return proto.ColumnTypeArray.Sub(c.Elem.Type()) }

// EncodeState implements proto.StateEncoder.
func (c *Array[E]) EncodeState(b *proto.Buffer) { encodeState(c.Elem, b) }

// DecodeState implements proto.StateDecoder.
func (c *Array[E]) DecodeState(r *proto.Reader) error { return decodeState(c.Elem, r) }

// EncodeColumn implements proto.ColInput.
func (c *Array[E]) EncodeColumn(b *proto.Buffer) {
	c.ends.EncodeColumn(b)
	c.Elem.EncodeColumn(b)
}

// WriteColumn implements proto.ColInput.
func (c *Array[E]) WriteColumn(w *proto.Writer) {
	c.ends.WriteColumn(w)
	c.Elem.WriteColumn(w)
}

// DecodeColumn implements proto.ColResult.
func (c *Array[E]) DecodeColumn(r *proto.Reader, rows int) error {
	n, err := c.decode(r, rows)
	if err != nil {
		return err
	}
	return decodeElements(c.Elem, r, n)
}

// Take implements Column.
func (c *Array[E]) Take(src Column, lo, hi int) {
	s := same(c, src)
	from, to := c.take(&s.offsets, lo, hi)
	c.Elem.Take(s.Elem, from, to)
}

// Bytes implements Column.
func (c *Array[E]) Bytes() int { return c.ends.Bytes() + c.Elem.Bytes() }

// Empty implements Column.
func (c *Array[E]) Empty() Column { return NewArray(emptyLike(c.Elem)) }

// Map is a Map(LowCardinality(String), V) column: append keys and values, then
// call End. Order and repetitions of keys are kept.
type Map[V Column] struct {
	offsets
	Keys *Dict
	Vals V
}

// NewMap gives an empty map column over vals, which it owns.
func NewMap[V Column](vals V) *Map[V] { return &Map[V]{Keys: NewDict(), Vals: vals} }

// End closes the row that the pairs appended since the last call make.
func (c *Map[V]) End() { c.end(c.Keys.Rows()) }

// Span is the range of pairs of row i.
func (c *Map[V]) Span(i int) (lo, hi int) { return c.span(i) }

// Rows is the number of maps.
func (c *Map[V]) Rows() int { return c.ends.Rows() }

// Reset empties the column and keeps its memory.
func (c *Map[V]) Reset() { c.ends.Reset(); c.Keys.Reset(); c.Vals.Reset() }

// Type is Map of the keys' and the values' type.
func (c *Map[V]) Type() proto.ColumnType {
	return proto.ColumnTypeMap.Sub(c.Keys.Type(), c.Vals.Type())
}

// EncodeState implements proto.StateEncoder.
func (c *Map[V]) EncodeState(b *proto.Buffer) {
	c.Keys.EncodeState(b)
	encodeState(c.Vals, b)
}

// DecodeState implements proto.StateDecoder.
func (c *Map[V]) DecodeState(r *proto.Reader) error {
	if err := c.Keys.DecodeState(r); err != nil {
		return err
	}
	return decodeState(c.Vals, r)
}

// EncodeColumn implements proto.ColInput.
func (c *Map[V]) EncodeColumn(b *proto.Buffer) {
	c.ends.EncodeColumn(b)
	c.Keys.EncodeColumn(b)
	c.Vals.EncodeColumn(b)
}

// WriteColumn implements proto.ColInput.
func (c *Map[V]) WriteColumn(w *proto.Writer) {
	c.ends.WriteColumn(w)
	c.Keys.WriteColumn(w)
	c.Vals.WriteColumn(w)
}

// DecodeColumn implements proto.ColResult.
func (c *Map[V]) DecodeColumn(r *proto.Reader, rows int) error {
	n, err := c.decode(r, rows)
	if err != nil {
		return err
	}
	if err := decodeElements(c.Keys, r, n); err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	return decodeElements(c.Vals, r, n)
}

// Take implements Column.
func (c *Map[V]) Take(src Column, lo, hi int) {
	s := same(c, src)
	from, to := c.take(&s.offsets, lo, hi)
	c.Keys.Take(s.Keys, from, to)
	c.Vals.Take(s.Vals, from, to)
}

// Bytes implements Column.
func (c *Map[V]) Bytes() int { return c.ends.Bytes() + c.Keys.Bytes() + c.Vals.Bytes() }

// Empty implements Column.
func (c *Map[V]) Empty() Column { return NewMap(emptyLike(c.Vals)) }

// Nullable is a Nullable(T) column over a column of values.
type Nullable[T any, S sliceColumn[T], P slicePointer[S]] struct {
	null UInt8
	vals Vec[T, S, P]
}

// The nullable columns that tables use.
type (
	// NullFloat64 is a Nullable(Float64) column.
	NullFloat64 = Nullable[float64, proto.ColFloat64, *proto.ColFloat64]
	// NullInt64 is a Nullable(Int64) column.
	NullInt64 = Nullable[int64, proto.ColInt64, *proto.ColInt64]
)

// Append adds a value; nil is NULL.
func (c *Nullable[T, S, P]) Append(v *T) {
	if v == nil {
		var zero T
		c.null.Append(1)
		c.vals.Append(zero)
		return
	}
	c.null.Append(0)
	c.vals.Append(*v)
}

// Row gives the value of row i, nil for NULL. It is a copy.
func (c *Nullable[T, S, P]) Row(i int) *T {
	if c.null.Row(i) != 0 {
		return nil
	}
	v := c.vals.Row(i)
	return &v
}

// Rows is the number of values.
func (c *Nullable[T, S, P]) Rows() int { return c.null.Rows() }

// Reset empties the column and keeps its memory.
func (c *Nullable[T, S, P]) Reset() { c.null.Reset(); c.vals.Reset() }

// Type is Nullable of the values' type.
func (c *Nullable[T, S, P]) Type() proto.ColumnType {
	return proto.ColumnTypeNullable.Sub(c.vals.Type())
}

// EncodeColumn implements proto.ColInput.
func (c *Nullable[T, S, P]) EncodeColumn(b *proto.Buffer) {
	c.null.EncodeColumn(b)
	c.vals.EncodeColumn(b)
}

// WriteColumn implements proto.ColInput.
func (c *Nullable[T, S, P]) WriteColumn(w *proto.Writer) {
	c.null.WriteColumn(w)
	c.vals.WriteColumn(w)
}

// DecodeColumn implements proto.ColResult.
func (c *Nullable[T, S, P]) DecodeColumn(r *proto.Reader, rows int) error {
	if err := c.null.DecodeColumn(r, rows); err != nil {
		return fmt.Errorf("nulls: %w", err)
	}
	return c.vals.DecodeColumn(r, rows)
}

// Take implements Column.
func (c *Nullable[T, S, P]) Take(src Column, lo, hi int) {
	s := same(c, src)
	c.null.Take(&s.null, lo, hi)
	c.vals.Take(&s.vals, lo, hi)
}

// Bytes implements Column.
func (c *Nullable[T, S, P]) Bytes() int { return c.null.Bytes() + c.vals.Bytes() }

// Empty implements Column.
func (c *Nullable[T, S, P]) Empty() Column { return new(Nullable[T, S, P]) }

func emptyLike[C Column](c C) C { return same(c, c.Empty()) }

func encodeState(c Column, b *proto.Buffer) {
	if s, ok := c.(proto.StateEncoder); ok {
		s.EncodeState(b)
	}
}

func decodeState(c Column, r *proto.Reader) error {
	if s, ok := c.(proto.StateDecoder); ok {
		return s.DecodeState(r)
	}
	return nil
}

// decodeElements reads n elements, none of which are on the wire where n is 0.
func decodeElements(c Column, r *proto.Reader, n int) error {
	if n == 0 {
		c.Reset()
		return nil
	}
	return c.DecodeColumn(r, n)
}
