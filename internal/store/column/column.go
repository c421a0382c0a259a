// Package column holds the typed columns in which rows travel: from telemetry
// to the queue, from the queue to ClickHouse, and back when rows are read. They
// are ch-go's columns with three additions: rows can be taken over from another
// column of the same kind, strings of few distinct values are kept once, and a
// column may carry the exact type of the table it belongs to.
//
//	append → Set → Encode (one Native block) → insert, or the queue on disk
//	Native block → Decode → Set → Take into another Set, or read row by row
//
// The package knows no table and does no I/O. Nothing in it is safe for
// concurrent use.
package column

import (
	"fmt"

	"github.com/ClickHouse/ch-go/proto"
)

// Column is one column of a block: values are appended, encoded as ClickHouse's
// Native format wants them, decoded from it, and taken over from a like column.
type Column interface {
	proto.ColInput
	proto.ColResult
	// Take appends the rows lo to hi (exclusive) of src, which must be of the
	// same Go type.
	Take(src Column, lo, hi int)
	// Bytes is about how much memory the values take.
	Bytes() int
	// Empty gives a new column of the same type without values.
	Empty() Column
}

// The element types that tables use. All are fixed in width but for strings.
type (
	// Bool is a Bool column.
	Bool = Vec[bool, proto.ColBool, *proto.ColBool]
	// UInt8 is a UInt8 column, or an Enum8 by NewEnum.
	UInt8 = Vec[uint8, proto.ColUInt8, *proto.ColUInt8]
	// UInt16 is a UInt16 column.
	UInt16 = Vec[uint16, proto.ColUInt16, *proto.ColUInt16]
	// UInt32 is a UInt32 column, or a DateTime by NewDateTime.
	UInt32 = Vec[uint32, proto.ColUInt32, *proto.ColUInt32]
	// UInt64 is a UInt64 column.
	UInt64 = Vec[uint64, proto.ColUInt64, *proto.ColUInt64]
	// Int32 is an Int32 column.
	Int32 = Vec[int32, proto.ColInt32, *proto.ColInt32]
	// Int64 is an Int64 column, or a DateTime64(9) by NewTime.
	Int64 = Vec[int64, proto.ColInt64, *proto.ColInt64]
	// Float64 is a Float64 column.
	Float64 = Vec[float64, proto.ColFloat64, *proto.ColFloat64]
	// Bytes8 is a FixedString(8) column.
	Bytes8 = Vec[[8]byte, proto.ColFixedStr8, *proto.ColFixedStr8]
	// Bytes16 is a FixedString(16) column.
	Bytes16 = Vec[[16]byte, proto.ColFixedStr16, *proto.ColFixedStr16]
	// Bytes32 is a FixedString(32) column.
	Bytes32 = Vec[[32]byte, proto.ColFixedStr32, *proto.ColFixedStr32]
)

// sliceColumn is a column of ch-go that is a slice of its values.
type sliceColumn[T any] interface {
	~[]T
	proto.ColInput
}

// slicePointer is the pointer to such a column, which decodes.
type slicePointer[S any] interface {
	*S
	proto.ColResult
}

// Vec is a column of values of one width.
type Vec[T any, S sliceColumn[T], P slicePointer[S]] struct {
	Vals S
	typ  proto.ColumnType // where the table's type is another one than the column's
}

// NewTime gives a column of type DateTime64(9, 'UTC'): Unix nanoseconds.
func NewTime() *Int64 { return &Int64{typ: "DateTime64(9, 'UTC')"} }

// NewDateTime gives a column of type DateTime('UTC'): Unix seconds.
func NewDateTime() *UInt32 { return &UInt32{typ: "DateTime('UTC')"} }

// Append adds a value.
func (c *Vec[T, S, P]) Append(v T) { c.Vals = append(c.Vals, v) }

// Row gives the value of row i.
func (c *Vec[T, S, P]) Row(i int) T { return c.Vals[i] }

// Rows is the number of values.
func (c *Vec[T, S, P]) Rows() int { return len(c.Vals) }

// Reset empties the column and keeps its memory.
func (c *Vec[T, S, P]) Reset() { c.Vals = c.Vals[:0] }

// Type is the type of the table's column.
func (c *Vec[T, S, P]) Type() proto.ColumnType {
	if c.typ != "" {
		return c.typ
	}
	return c.Vals.Type()
}

// EncodeColumn implements proto.ColInput.
func (c *Vec[T, S, P]) EncodeColumn(b *proto.Buffer) { c.Vals.EncodeColumn(b) }

// WriteColumn implements proto.ColInput.
func (c *Vec[T, S, P]) WriteColumn(w *proto.Writer) { c.Vals.WriteColumn(w) }

// pieceRows is how many values are made room for before they are read: a damaged
// file may claim more than it holds.
const pieceRows = 1 << 16

// DecodeColumn implements proto.ColResult.
func (c *Vec[T, S, P]) DecodeColumn(r *proto.Reader, rows int) error {
	c.Vals = c.Vals[:0]
	if rows <= pieceRows {
		return P(&c.Vals).DecodeColumn(r, rows)
	}
	var piece S
	for rows > 0 {
		n := min(rows, pieceRows)
		piece = piece[:0]
		if err := P(&piece).DecodeColumn(r, n); err != nil {
			return err
		}
		c.Vals = append(c.Vals, piece...)
		rows -= n
	}
	return nil
}

// Take implements Column.
func (c *Vec[T, S, P]) Take(src Column, lo, hi int) {
	c.Vals = append(c.Vals, same(c, src).Vals[lo:hi]...)
}

// Bytes implements Column.
func (c *Vec[T, S, P]) Bytes() int {
	const width = 8 // near enough: most are times, counts and ids
	return len(c.Vals) * width
}

// Empty implements Column.
func (c *Vec[T, S, P]) Empty() Column { return &Vec[T, S, P]{typ: c.typ} }

// same asserts that src is a column like dst. Another one is a mistake of this
// program, never of its input.
func same[C Column](_ C, src Column) C {
	c, ok := src.(C)
	if !ok {
		var want C
		panic(fmt.Sprintf("BUG: rows of %T taken into %T", src, want))
	}
	return c
}

// NewMillis gives a column of type DateTime64(3, 'UTC'): Unix milliseconds.
func NewMillis() *Int64 { return &Int64{typ: "DateTime64(3, 'UTC')"} }
