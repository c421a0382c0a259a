package redact

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

// A caption is the name that a text stands under, of an attribute or of a member
// in JSON, and what it says of the text.
type caption struct {
	// text is the name in plain.
	text string
	says
}

type says struct {
	kind   secretKind // what secretValue takes it for
	listed bool       // it is on the key list
	value  bool       // a value of something named beside it
	names  bool       // the name of something beside it
	clean  bool       // nothing is found in the name itself
}

// captions remembers what names say: a document has few, over and over. It is for
// one Redactor at a time.
type captions struct {
	of   *Redactor
	said [128]said
}

type said struct {
	size uint8
	name [maxRemembered]byte
	says
}

// maxRemembered is the longest name that is remembered.
const maxRemembered = 26

// place is where a name is remembered, nil for none.
func (c *captions) place(name string) *said {
	n := len(name)
	if n == 0 || n > maxRemembered {
		return nil
	}
	b := bytesOf(name)
	var h uint64
	switch {
	case n >= 8:
		h = binary.LittleEndian.Uint64(b) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(b[n-8:]), 31)
	case n >= 4:
		h = uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<32
	default:
		h = uint64(b[0]) | uint64(b[n/2])<<8 | uint64(b[n-1])<<16
	}
	const golden = 0x9E3779B97F4A7C15
	return &c.said[(h^uint64(n))*golden>>57]
}

func (e *said) is(name string) bool { return e != nil && string(e.name[:e.size]) == name }

// caption makes a caption of a name as it is written in a document, escapes undone.
func (c *captions) caption(r *Redactor, name string) caption {
	if c.of != r {
		*c = captions{of: r}
	}
	e := c.place(name)
	if e.is(name) {
		return caption{text: name, says: e.says}
	}
	made := r.caption(name)
	if e != nil && made.text == name {
		e.size, e.says = uint8(len(name)), made.says
		copy(e.name[:], name)
	}
	return made
}

// clean remembers that nothing is found in a name.
func (c *captions) clean(name string) {
	if e := c.place(name); e.is(name) {
		e.clean = true
	}
}

// caption is the same without memory.
func (r *Redactor) caption(name string) caption {
	c := caption{text: plainName(name)}
	c.says = says{kind: r.kindOf(c.text), listed: r.keys.match(c.text), value: isValueName(c.text), names: isNameName(c.text)}
	return c
}

// kindOf is the kind of a name where the detector runs that it is for.
func (r *Redactor) kindOf(name string) secretKind {
	if r.secretValue < 0 {
		return noSecret
	}
	return kindOf(name)
}

// plainName is a name without spaces around it and with its spellings undone: what
// it names is the same.
func plainName(name string) string {
	name = strings.TrimSpace(name)
	for i := range len(name) {
		if !spells[name[i]] {
			continue
		}
		if _, n := spelled(name[i:]); n > 0 {
			var v view
			v.undo(name)
			return string(bytes.TrimSpace(v.text))
		}
	}
	return name
}
