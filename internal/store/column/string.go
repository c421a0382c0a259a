package column

import (
	"github.com/ClickHouse/ch-go/proto"
)

// String is a String column. It copies what is appended.
type String struct{ proto.ColStr }

// NewString gives an empty String column.
func NewString() *String { return new(String) }

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
