package canon

import "encoding/binary"

// writer appends the primitives of the facts encoding.
type writer struct{ b []byte }

func (w *writer) byte(v byte)      { w.b = append(w.b, v) }
func (w *writer) uint(v uint64)    { w.b = binary.AppendUvarint(w.b, v) }
func (w *writer) int(v int64)      { w.b = binary.AppendVarint(w.b, v) }
func (w *writer) raw(v []byte)     { w.b = append(w.b, v...) }
func (w *writer) str(v string)     { w.uint(uint64(len(v))); w.b = append(w.b, v...) }
func (w *writer) fixed64(v uint64) { w.b = binary.LittleEndian.AppendUint64(w.b, v) }
func (w *writer) strs(list []string) {
	w.uint(uint64(len(list)))
	for _, s := range list {
		w.str(s)
	}
}

// parser reads them back. After the first thing that does not fit, everything
// reads as zero and bad is set.
type parser struct {
	b   []byte
	bad bool
}

func (p *parser) byte() byte {
	if len(p.b) == 0 {
		p.fail()
		return 0
	}
	v := p.b[0]
	p.b = p.b[1:]
	return v
}

func (p *parser) uint() uint64 {
	v, n := binary.Uvarint(p.b)
	if n <= 0 {
		p.fail()
		return 0
	}
	p.b = p.b[n:]
	return v
}

func (p *parser) int() int64 {
	v, n := binary.Varint(p.b)
	if n <= 0 {
		p.fail()
		return 0
	}
	p.b = p.b[n:]
	return v
}

func (p *parser) fixed64() uint64 {
	if len(p.b) < 8 {
		p.fail()
		return 0
	}
	v := binary.LittleEndian.Uint64(p.b)
	p.b = p.b[8:]
	return v
}

func (p *parser) raw(dst []byte) {
	if len(p.b) < len(dst) {
		p.fail()
		return
	}
	copy(dst, p.b)
	p.b = p.b[len(dst):]
}

func (p *parser) str() string {
	n := p.count(1)
	if n == 0 {
		return ""
	}
	s := string(p.b[:n])
	p.b = p.b[n:]
	return s
}

// count reads a number of things that take at least size bytes each, and fails
// if so many cannot follow: so no count makes anything large.
func (p *parser) count(size int) int {
	n := p.uint()
	if n > uint64(len(p.b)/size) { // a length
		p.fail()
		return 0
	}
	return int(n) // bounded by the length
}

func (p *parser) strs(dst []string) []string {
	for range p.count(1) {
		dst = append(dst, p.str())
	}
	return dst
}

func (p *parser) fail() { p.b, p.bad = nil, true }
