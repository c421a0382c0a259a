package column

import (
	"fmt"
	"slices"

	"github.com/ClickHouse/ch-go/proto"
)

// String is a String column. It copies what is appended.
type String struct{ proto.ColStr }

// NewString gives an empty String column.
func NewString() *String { return new(String) }

// AppendLike adds v. It is there because Dict has it.
func (c *String) AppendLike(_ int, v string) { c.Append(v) }

// DecodeColumn implements proto.ColResult. Room is made as the bytes arrive.
func (c *String) DecodeColumn(r *proto.Reader, rows int) error {
	c.Reset()
	for i := range rows {
		n, err := r.StrLen()
		if err != nil {
			return fmt.Errorf("length of row %d: %w", i, err)
		}
		start := len(c.Buf)
		if c.Buf, err = readBytes(r, c.Buf, n); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		c.Pos = append(c.Pos, proto.Position{Start: start, End: len(c.Buf)})
	}
	return nil
}

// pieceBytes is how many bytes are made room for before they are read.
const pieceBytes = 1 << 20

// readBytes appends n bytes of r to dst.
func readBytes(r *proto.Reader, dst []byte, n int) ([]byte, error) {
	for n > 0 {
		k := min(n, pieceBytes)
		start := len(dst)
		dst = slices.Grow(dst, k)[:start+k]
		if err := r.ReadFull(dst[start:]); err != nil {
			return dst[:start], err
		}
		n -= k
	}
	return dst, nil
}

// Take implements Column.
func (c *String) Take(src Column, lo, hi int) {
	s := same(c, src)
	if lo == hi {
		return
	}
	from := s.Pos[lo].Start
	shift := len(c.Buf) - from
	c.Buf = append(c.Buf, s.Buf[from:s.Pos[hi-1].End]...)
	for _, p := range s.Pos[lo:hi] {
		c.Pos = append(c.Pos, proto.Position{Start: p.Start + shift, End: p.End + shift})
	}
}

// Bytes implements Column.
func (c *String) Bytes() int { return len(c.Buf) + 2*len(c.Pos) }

// Empty implements Column.
func (c *String) Empty() Column { return NewString() }
