package cjson

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// Canonical appends src in the canonical form of RFC 8785 (JCS): members sorted
// by the UTF-16 code units of their names, no white space, the fewest escapes,
// numbers as ECMAScript writes doubles. It is the form whose SHA-256 senders
// state in agent.call.arguments.hash. Of members with one name the last counts.
// A number beyond a double is ErrNumber. On an error dst is returned as it was.
func Canonical(dst []byte, src string) ([]byte, error) {
	return encode(dst, src, encoder{form: formRFC8785})
}

// AppendExact appends src in the exact form: as Canonical, but numbers are exact
// decimals (1, 1.0 and 1e0 are one, 2^63 and 2^63+1 are two), and a string that
// is wholly an object or array is replaced by it, MaxUnfold levels deep. It is
// the form in which what means the same is written the same; model outputs are
// compared in it.
func AppendExact(dst []byte, src string) ([]byte, error) {
	return encode(dst, src, encoder{form: formExact})
}

// MaxUnfold is how many levels of JSON inside JSON strings are looked into.
const MaxUnfold = 8

// form is what an encoder writes.
type form uint8

const (
	formRFC8785 form = iota
	formExact
	formArguments
	formResult
)

// encoder writes one text. What grows is kept in scratch and used again.
type encoder struct {
	form form
	// start is the span's start in Unix nanoseconds, for formArguments.
	start int64
	// keepIDs: request ids count (they are all that the arguments have).
	keepIDs bool
	// values counts the values that are news, ids the request ids replaced.
	values, ids int
	unfolded    int
	*scratch
}

// scratch holds the buffers of one encoder. It holds no pointers into sources.
type scratch struct {
	members []member // of all open objects, a stack
	moved   []byte   // an object's members while they are sorted
	text    []byte   // decoded strings of all open unfoldings, a stack
	name    [2 * maxName]byte
}

// member is one written member of an object: offsets into the output.
type member struct {
	key, keyEnd, end int
	escaped          bool
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// maxScratch is the size beyond which buffers are not kept for the next text.
const maxScratch = 1 << 20

func encode(dst []byte, src string, e encoder) ([]byte, error) {
	e.scratch = scratches.Get().(*scratch)
	defer putScratch(e.scratch)
	b := bytesOf(src)
	from := len(dst)
	i := skipSpace(b, 0)
	out, i, err := e.value(dst, b, i, 0, classNone)
	if err == nil && skipSpace(b, i) != len(b) {
		err = ErrSyntax
	}
	if err != nil {
		return dst[:from], err
	}
	if e.ids > 0 && e.values == 0 && !e.keepIDs {
		// Request ids are no news beside other arguments only.
		again := encoder{form: e.form, start: e.start, keepIDs: true, scratch: e.scratch}
		out, _, err = again.value(out[:from], b, skipSpace(b, 0), 0, classNone)
	}
	return out, err
}

func putScratch(s *scratch) {
	if cap(s.moved)+cap(s.text)+cap(s.members)*32 > maxScratch {
		return
	}
	s.members, s.moved, s.text = s.members[:0], s.moved[:0], s.text[:0]
	scratches.Put(s)
}

// value writes the value at b[i], which is the value of a field of class c, and
// returns the index after it.
func (e *encoder) value(dst, b []byte, i, depth int, c class) ([]byte, int, error) {
	if i >= len(b) {
		return dst, i, ErrSyntax
	}
	switch b[i] {
	case '{':
		return e.object(dst, b, i, depth)
	case '[':
		return e.array(dst, b, i, depth, c)
	case '"':
		return e.str(dst, b, i, depth, c)
	case 't', 'f', 'n':
		e.values++
		end, err := skipScalar(b, i)
		if err != nil {
			return dst, i, err
		}
		return append(dst, b[i:end]...), end, nil
	}
	end, err := skipNumber(b, i)
	if err != nil {
		return dst, i, err
	}
	num := stringOf(b[i:end])
	if c != classNone && e.noNewsNumber(c, num) {
		return append(dst, c.marker()), end, nil
	}
	e.values++
	if e.form == formRFC8785 {
		dst, err = appendDouble(dst, num)
	} else {
		dst, err = appendExact(dst, num)
	}
	return dst, end, err
}

func (e *encoder) array(dst, b []byte, i, depth int, c class) ([]byte, int, error) {
	if depth >= MaxDepth {
		return dst, i, ErrDepth
	}
	dst = append(dst, '[')
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == ']' {
		e.values++
		return append(dst, ']'), i + 1, nil
	}
	for {
		var err error
		if dst, i, err = e.value(dst, b, i, depth+1, c); err != nil {
			return dst, i, err
		}
		i = skipSpace(b, i)
		switch {
		case i >= len(b):
			return dst, i, ErrSyntax
		case b[i] == ']':
			return append(dst, ']'), i + 1, nil
		case b[i] != ',':
			return dst, i, ErrSyntax
		}
		dst = append(dst, ',')
		i = skipSpace(b, i+1)
	}
}

func (e *encoder) object(dst, b []byte, i, depth int) ([]byte, int, error) {
	if depth >= MaxDepth {
		return dst, i, ErrDepth
	}
	dst = append(dst, '{')
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		e.values++
		return append(dst, '}'), i + 1, nil
	}
	first, from, sorted := len(e.members), len(dst), true
	for {
		var err error
		var m member
		if dst, i, m, err = e.member(dst, b, i, depth); err != nil {
			e.members = e.members[:first]
			return dst, i, err
		}
		if n := len(e.members); n > first && sorted {
			sorted = compareKeys(dst, e.members[n-1], m) < 0
		}
		e.members = append(e.members, m)
		i = skipSpace(b, i)
		if i >= len(b) || b[i] != ',' && b[i] != '}' {
			e.members = e.members[:first]
			return dst, i, ErrSyntax
		}
		if b[i] == '}' {
			break
		}
		dst = append(dst, ',')
		i = skipSpace(b, i+1)
	}
	if !sorted {
		dst = e.sort(dst, from, first)
	}
	e.members = e.members[:first]
	return append(dst, '}'), i + 1, nil
}

// member writes one member: name, colon, value.
func (e *encoder) member(dst, b []byte, i, depth int) ([]byte, int, member, error) {
	var m member
	if i >= len(b) || b[i] != '"' {
		return dst, i, m, ErrSyntax
	}
	end, t, err := skipString(b, i+1)
	if err != nil {
		return dst, i, m, err
	}
	m.key = len(dst)
	dst = append(dst, '"')
	dst = appendCanonical(dst, stringOf(b[i+1:end]), t)
	m.keyEnd = len(dst)
	dst = append(dst, '"', ':')
	key := dst[m.key+1 : m.keyEnd]
	m.escaped = t&hasEscape != 0 && bytes.IndexByte(key, '\\') >= 0
	if i, err = skipColon(b, end+1); err != nil {
		return dst, i, m, err
	}
	c := classNone
	if e.form >= formArguments {
		c = e.classOf(key)
	}
	dst, i, err = e.value(dst, b, i, depth+1, c)
	m.end = len(dst)
	return dst, i, m, err
}

// sort rewrites dst[from:], the members of an object from e.members[first] on,
// in order, and leaves out those that a later one of their name replaces.
func (e *encoder) sort(dst []byte, from, first int) []byte {
	members := e.members[first:]
	slices.SortFunc(members, func(a, b member) int {
		if n := compareKeys(dst, a, b); n != 0 {
			return n
		}
		return a.key - b.key
	})
	// Nested objects are done, so one buffer serves all levels.
	e.moved = append(e.moved[:0], dst[from:]...)
	out := dst[:from]
	for n, m := range members {
		if n+1 < len(members) && sameKey(e.moved, from, m, members[n+1]) {
			continue
		}
		if len(out) > from {
			out = append(out, ',')
		}
		out = append(out, e.moved[m.key-from:m.end-from]...)
	}
	return out
}

func sameKey(moved []byte, from int, a, b member) bool {
	return bytes.Equal(moved[a.key-from:a.keyEnd-from], moved[b.key-from:b.keyEnd-from])
}

// compareKeys orders two written members by the UTF-16 code units of their names.
func compareKeys(dst []byte, a, b member) int {
	x, y := dst[a.key+1:a.keyEnd], dst[b.key+1:b.keyEnd]
	if a.escaped || b.escaped {
		return compareEscaped(x, y)
	}
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	if n == len(x) || n == len(y) {
		return len(x) - len(y)
	}
	return utf16Rank(x[n]) - utf16Rank(y[n])
}

// compareEscaped is compareKeys where a name holds escapes.
func compareEscaped(x, y []byte) int {
	for len(x) > 0 && len(y) > 0 {
		var p, q byte
		p, x = nextByte(x)
		q, y = nextByte(y)
		if p != q {
			return utf16Rank(p) - utf16Rank(q)
		}
	}
	return len(x) - len(y)
}

// nextByte takes a byte of a canonical string's inside. Its escapes stand for
// ASCII only.
func nextByte(s []byte) (byte, []byte) {
	if s[0] != '\\' {
		return s[0], s[1:]
	}
	r, rest := unescape(stringOf(s))
	return byte(r), s[len(s)-len(rest):]
}

// utf16Rank orders lead bytes of UTF-8 as UTF-16 orders their characters: those
// beyond the basic plane, written with surrogates, go before U+E000 to U+FFFF.
func utf16Rank(c byte) int {
	switch {
	case c >= 0xF0:
		return int(c) - 2
	case c >= 0xEE:
		return int(c) + 0x10
	}
	return int(c)
}

// str writes the string at b[i].
func (e *encoder) str(dst, b []byte, i, depth int, c class) ([]byte, int, error) {
	end, t, err := skipString(b, i+1)
	if err != nil {
		return dst, i, err
	}
	inner := stringOf(b[i+1 : end])
	if e.form == formRFC8785 {
		dst = append(dst, '"')
		dst = appendCanonical(dst, inner, t)
		return append(dst, '"'), end + 1, nil
	}
	if e.unfolded < MaxUnfold && looksNested(inner) {
		if out, ok := e.unfold(dst, inner, t, depth, c); ok {
			return out, end + 1, nil
		}
	}
	return e.leaf(dst, inner, t, depth, c), end + 1, nil
}

// looksNested reports whether the inside of a string, as written, may be that of
// an object or array: its ends are brackets, or escapes that can hide them.
func looksNested(inner string) bool {
	s := strings.Trim(inner, " ")
	n := len(s)
	if n < 2 || s[0] != '{' && s[0] != '[' && s[0] != '\\' {
		return false
	}
	return s[n-1] == '}' || s[n-1] == ']' || s[n-2] == '\\' || n >= 6 && s[n-6] == '\\'
}

// isNested reports whether text begins and ends as an object or array does.
func isNested(b []byte) bool {
	i, n := skipSpace(b, 0), len(b)
	for n > i && skipSpace(b[n-1:n], 0) == 1 {
		n--
	}
	return n-i >= 2 && (b[i] == '{' && b[n-1] == '}' || b[i] == '[' && b[n-1] == ']')
}

// unfold writes the JSON that a string holds. It reports false, and leaves dst
// as it was, where the string is none.
func (e *encoder) unfold(dst []byte, inner string, t traits, depth int, c class) ([]byte, bool) {
	mark, from := len(e.text), len(dst)
	values, ids := e.values, e.ids
	if t&hasEscape != 0 {
		e.text = appendDecoded(e.text, inner, t)
		inner = stringOf(e.text[mark:])
	}
	b := bytesOf(inner)
	if !isNested(b) {
		e.text = e.text[:mark]
		return dst, false
	}
	e.unfolded++
	out, i, err := e.value(dst, b, skipSpace(b, 0), depth, c)
	e.unfolded--
	e.text = e.text[:mark]
	if err != nil || skipSpace(b, i) != len(b) {
		e.values, e.ids = values, ids
		return dst[:from], false
	}
	return out, true
}
