package column

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/ClickHouse/ch-go/proto"
)

// Dict is a LowCardinality(String) column. Each distinct string is copied once;
// a row is its number. ch-go's own column keeps a reference to every string and
// sorts out the distinct ones on each encoding.
type Dict struct {
	vals  []string
	index map[string]uint32 // nil after decoding, until a value is appended
	keys  []uint32
	other uint32 // the value before the run of values that is going on
	bytes int
	remap []uint32 // scratch of Take
	raw   []byte   // scratch of DecodeColumn
}

var (
	_ Column             = (*Dict)(nil)
	_ proto.StateEncoder = (*Dict)(nil)
	_ proto.StateDecoder = (*Dict)(nil)
)

// NewDict gives an empty LowCardinality(String) column.
func NewDict() *Dict { return new(Dict) }

// Append adds a value.
func (c *Dict) Append(v string) {
	// Neighbours are often equal (spans of one run, of one service), or take
	// turns (model and tool calls).
	if n := len(c.keys); n > 0 {
		last := c.keys[n-1]
		if c.vals[last] == v {
			c.keys = append(c.keys, last)
			return
		}
		if c.vals[c.other] == v {
			c.keys = append(c.keys, c.other)
			c.other = last
			return
		}
		c.other = last
	}
	c.keys = append(c.keys, c.number(v))
}

// number finds or adds the value.
func (c *Dict) number(v string) uint32 {
	if c.index == nil {
		c.index = make(map[string]uint32, len(c.vals)+16)
		for i, s := range c.vals {
			c.index[s] = uint32(i) // bounded by the rows of a block
		}
	}
	if k, ok := c.index[v]; ok {
		return k
	}
	v = strings.Clone(v)
	k := uint32(len(c.vals)) // bounded by the rows of a block
	c.vals = append(c.vals, v)
	c.index[v] = k
	c.bytes += len(v)
	return k
}

// AppendLike adds v, which row i may already have.
func (c *Dict) AppendLike(i int, v string) {
	if c.Row(i) == v {
		c.keys = append(c.keys, c.keys[i])
		return
	}
	c.Append(v)
}

// Row gives the value of row i.
func (c *Dict) Row(i int) string { return c.vals[c.keys[i]] }

// Rows is the number of values.
func (c *Dict) Rows() int { return len(c.keys) }

// Reset empties the column and keeps its memory.
func (c *Dict) Reset() {
	clear(c.vals)
	c.vals, c.keys, c.other, c.bytes = c.vals[:0], c.keys[:0], 0, 0
	clear(c.index)
}

// Type is LowCardinality(String).
func (c *Dict) Type() proto.ColumnType { return "LowCardinality(String)" }

// Take implements Column.
func (c *Dict) Take(src Column, lo, hi int) {
	s := same(c, src)
	const unset = math.MaxUint32
	c.remap = c.remap[:0]
	for range s.vals {
		c.remap = append(c.remap, unset)
	}
	for _, k := range s.keys[lo:hi] {
		if c.remap[k] == unset {
			c.remap[k] = c.number(s.vals[k])
		}
		c.keys = append(c.keys, c.remap[k])
	}
}

// Bytes implements Column.
func (c *Dict) Bytes() int { return c.bytes + 4*len(c.keys) }

// Empty implements Column.
func (c *Dict) Empty() Column { return NewDict() }

// The Native format of LowCardinality: a version, then per block a word of
// flags and key width, the dictionary, and the keys.
const (
	dictVersion       = 1
	dictHasAdditional = 1 << 9
	dictNeedUpdate    = 1 << 10
	dictNeedGlobal    = 1 << 8
	dictWidthMask     = 0xff
)

// EncodeState implements proto.StateEncoder.
func (c *Dict) EncodeState(b *proto.Buffer) { b.PutInt64(dictVersion) }

// DecodeState implements proto.StateDecoder.
func (c *Dict) DecodeState(r *proto.Reader) error {
	v, err := r.Int64()
	if err != nil {
		return fmt.Errorf("version: %w", err)
	}
	if v != dictVersion {
		return fmt.Errorf("version %d, want %d", v, dictVersion)
	}
	return nil
}

// width is the binary logarithm of the bytes of a key.
func (c *Dict) width() int {
	switch n := len(c.vals); {
	case n <= math.MaxUint8+1:
		return 0
	case n <= math.MaxUint16+1:
		return 1
	default:
		return 2
	}
}

// EncodeColumn implements proto.ColInput.
func (c *Dict) EncodeColumn(b *proto.Buffer) {
	if len(c.keys) == 0 {
		return
	}
	w := c.width()
	b.PutInt64(dictHasAdditional | dictNeedUpdate | int64(w))
	b.PutInt64(int64(len(c.vals)))
	for _, v := range c.vals {
		b.PutString(v)
	}
	b.PutInt64(int64(len(c.keys)))
	switch w {
	case 0:
		for _, k := range c.keys {
			b.Buf = append(b.Buf, byte(k))
		}
	case 1:
		for _, k := range c.keys {
			b.Buf = binary.LittleEndian.AppendUint16(b.Buf, uint16(k)) // width says it fits
		}
	default:
		for _, k := range c.keys {
			b.Buf = binary.LittleEndian.AppendUint32(b.Buf, k)
		}
	}
}

// WriteColumn implements proto.ColInput.
func (c *Dict) WriteColumn(w *proto.Writer) { w.ChainBuffer(c.EncodeColumn) }

// DecodeColumn implements proto.ColResult.
func (c *Dict) DecodeColumn(r *proto.Reader, rows int) error {
	c.Reset()
	c.index = nil
	if rows == 0 {
		return nil
	}
	meta, err := r.Int64()
	if err != nil {
		return fmt.Errorf("flags: %w", err)
	}
	if meta&dictNeedGlobal != 0 || meta&dictHasAdditional == 0 {
		return fmt.Errorf("flags %#x: a shared dictionary is not supported", meta)
	}
	if err := c.decodeVals(r); err != nil {
		return err
	}
	n, err := r.Int64()
	if err != nil {
		return fmt.Errorf("number of keys: %w", err)
	}
	if n != int64(rows) {
		return fmt.Errorf("%d keys for %d rows", n, rows)
	}
	return c.decodeKeys(r, rows, int(meta&dictWidthMask))
}

func (c *Dict) decodeVals(r *proto.Reader) error {
	n, err := r.Int64()
	if err != nil {
		return fmt.Errorf("size of the dictionary: %w", err)
	}
	if n < 0 || n > math.MaxUint32 {
		return fmt.Errorf("size of the dictionary: %d", n)
	}
	for range n {
		size, err := r.StrLen()
		if err != nil {
			return fmt.Errorf("dictionary: %w", err)
		}
		if c.raw, err = readBytes(r, c.raw[:0], size); err != nil {
			return fmt.Errorf("dictionary: %w", err)
		}
		c.vals = append(c.vals, string(c.raw))
		c.bytes += size
	}
	return nil
}

var errKey = errors.New("key beyond the dictionary")

func (c *Dict) decodeKeys(r *proto.Reader, rows, width int) error {
	if width > 3 {
		return fmt.Errorf("width of keys: %d", width)
	}
	raw, err := readBytes(r, c.raw[:0], rows<<width)
	c.raw = raw
	if err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	for i := range rows {
		var k uint64
		switch width {
		case 0:
			k = uint64(raw[i])
		case 1:
			k = uint64(binary.LittleEndian.Uint16(raw[2*i:]))
		case 2:
			k = uint64(binary.LittleEndian.Uint32(raw[4*i:]))
		default:
			k = binary.LittleEndian.Uint64(raw[8*i:])
		}
		if k >= uint64(len(c.vals)) {
			return errKey
		}
		c.keys = append(c.keys, uint32(k)) // below the dictionary's size
	}
	return nil
}
