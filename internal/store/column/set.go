package column

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ClickHouse/ch-go/proto"
)

// Set is the columns of a table's block, all with the same number of rows.
type Set struct {
	cols []named
}

type named struct {
	name string
	typ  proto.ColumnType // of the column, which never changes: to spell it takes longer than to encode a row
	Column
}

// Add puts a column at the end of the set and gives it back.
func Add[C Column](s *Set, name string, c C) C {
	s.cols = append(s.cols, named{name, c.Type(), c})
	return c
}

// New gives an empty set of the same columns.
func (s *Set) New() *Set {
	n := &Set{cols: make([]named, len(s.cols))}
	for i, c := range s.cols {
		n.cols[i] = named{c.name, c.typ, c.Empty()}
	}
	return n
}

// Names gives the columns' names in order, for lists in SQL. They are constants
// of this program, plain identifiers.
func (s *Set) Names() string {
	var b strings.Builder
	for i, c := range s.cols {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.name)
	}
	return b.String()
}

// Each calls f with the name and the type of each column in order.
func (s *Set) Each(f func(name string, typ proto.ColumnType)) {
	for _, c := range s.cols {
		f(c.name, c.typ)
	}
}

// Rows is the number of rows.
func (s *Set) Rows() int {
	if len(s.cols) == 0 {
		return 0
	}
	return s.cols[0].Rows()
}

// Bytes is about how much memory the values take.
func (s *Set) Bytes() int {
	n := 0
	for _, c := range s.cols {
		n += c.Bytes()
	}
	return n
}

// Reset empties all columns and keeps their memory.
func (s *Set) Reset() {
	for _, c := range s.cols {
		c.Reset()
	}
}

// Take appends the rows lo to hi (exclusive) of src, a set of the same table.
func (s *Set) Take(src *Set, lo, hi int) {
	if lo >= hi {
		return
	}
	for i, c := range s.cols {
		c.Take(src.cols[i].Column, lo, hi)
	}
}

// Input gives the columns as ch-go's client wants them.
func (s *Set) Input() proto.Input {
	in := make(proto.Input, len(s.cols))
	for i, c := range s.cols {
		in[i] = proto.InputColumn{Name: c.name, Data: c.Column}
	}
	return in
}

// Results gives the columns as ch-go's client wants them for a result.
func (s *Set) Results() proto.Results {
	out := make(proto.Results, len(s.cols))
	for i, c := range s.cols {
		out[i] = proto.ResultColumn{Name: c.name, Data: c.Column}
	}
	return out
}

// Encode appends the rows to b as one block of the Native format (revision 0).
func (s *Set) Encode(b *proto.Buffer) {
	b.PutInt(len(s.cols))
	b.PutInt(s.Rows())
	for _, c := range s.cols {
		b.PutString(c.name)
		b.PutString(string(c.typ))
		if c.Rows() == 0 {
			continue
		}
		encodeState(c.Column, b)
		c.EncodeColumn(b)
	}
}

// maxRows bounds what a block claims to hold before memory is taken for it.
const maxRows = 1 << 22

// Decode replaces the set's rows by those of the next block of r in the Native
// format (revision 0). It gives io.EOF where r is at its end. The block's
// columns must be those of the set, in any order; where one is missing its
// values are zero, and one that the set does not have is an error.
func (s *Set) Decode(r *proto.Reader) error {
	n, err := r.Int()
	if err != nil {
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return io.EOF
		}
		return fmt.Errorf("number of columns: %w", err)
	}
	rows, err := r.Int()
	if err != nil {
		return fmt.Errorf("number of rows: %w", err)
	}
	if n < 0 || n > len(s.cols) || rows < 0 || rows > maxRows || n == 0 && rows > 0 {
		return fmt.Errorf("block of %d columns and %d rows, want at most %d columns", n, rows, len(s.cols))
	}
	s.Reset()
	for i := range n {
		if err := s.decodeOne(r, i, rows); err != nil {
			return err
		}
	}
	return s.fill(rows)
}

// decodeOne reads a column; i is its place in the block, most often in the set.
func (s *Set) decodeOne(r *proto.Reader, i, rows int) error {
	name, err := readName(r)
	if err != nil {
		return fmt.Errorf("name of column %d: %w", i, err)
	}
	typ, err := readName(r)
	if err != nil {
		return fmt.Errorf("type of column %s: %w", name, err)
	}
	c, ok := s.find(name, i)
	if !ok {
		return fmt.Errorf("column %q is not known", name)
	}
	if want := c.Type(); proto.ColumnType(typ).Conflicts(want) {
		return fmt.Errorf("column %s: type %s, want %s", name, typ, want)
	}
	if rows == 0 {
		return nil
	}
	if err := decodeState(c, r); err != nil {
		return fmt.Errorf("column %s: state: %w", name, err)
	}
	if err := c.DecodeColumn(r, rows); err != nil {
		return fmt.Errorf("column %s: %w", name, err)
	}
	return nil
}

// maxName bounds the name or type of a column.
const maxName = 1 << 14

func readName(r *proto.Reader) (string, error) {
	n, err := r.StrLen()
	if err != nil {
		return "", err
	}
	if n > maxName {
		return "", fmt.Errorf("%d bytes", n)
	}
	raw, err := readBytes(r, nil, n)
	return string(raw), err
}

func (s *Set) find(name string, guess int) (Column, bool) {
	if s.cols[guess].name == name {
		return s.cols[guess].Column, true
	}
	for _, c := range s.cols {
		if c.name == name {
			return c.Column, true
		}
	}
	return nil, false
}

// fill gives zero values to columns that a block did not have: one that an
// older version of the program wrote to the queue.
func (s *Set) fill(rows int) error {
	for _, c := range s.cols {
		switch c.Rows() {
		case rows:
		case 0:
			if err := zero(c.Column, rows); err != nil {
				return fmt.Errorf("column %s: %w", c.name, err)
			}
		default:
			return fmt.Errorf("column %s: %d rows, want %d", c.name, c.Rows(), rows)
		}
	}
	return nil
}

var errZero = errors.New("no zero value for this column")

func zero(c Column, rows int) error {
	z, ok := c.(interface{ appendZero() })
	if !ok {
		return errZero
	}
	for range rows {
		z.appendZero()
	}
	return nil
}

func (c *Vec[T, S, P]) appendZero() {
	var v T
	c.Append(v)
}

func (c *String) appendZero()            { c.Append("") }
func (c *Dict) appendZero()              { c.Append("") }
func (c *Array[E]) appendZero()          { c.End() }
func (c *Map[V]) appendZero()            { c.End() }
func (c *Nullable[T, S, P]) appendZero() { c.Append(nil) }
