package cjson

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"unsafe"
)

// MaxDepth is how deep arrays and objects may be nested; beyond it a text is
// ErrDepth. The levels of JSON inside strings count.
const MaxDepth = 128

// Errors of every function of this package. A caller that meets one of them
// treats the text as plain text, not as JSON.
var (
	// ErrSyntax means the text is no JSON value, or is cut off.
	ErrSyntax = errors.New("cjson: no valid JSON")
	// ErrDepth means the text is nested deeper than MaxDepth.
	ErrDepth = errors.New("cjson: nested too deep")
	// ErrNumber means a number that the wanted form cannot hold.
	ErrNumber = errors.New("cjson: number out of range")
)

// A Kind is the type of a JSON value. KindNone stands for "no value here".
type Kind uint8

// The kinds of JSON values.
const (
	KindNone Kind = iota
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

// kindOf tells the kind of value that begins with c.
func kindOf(c byte) Kind {
	switch c {
	case '{':
		return KindObject
	case '[':
		return KindArray
	case '"':
		return KindString
	case 't', 'f':
		return KindBool
	case 'n':
		return KindNull
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return KindNumber
	}
	return KindNone
}

// bytesOf views s as bytes, which must only be read.
func bytesOf(s string) []byte {
	return unsafe.Slice(unsafe.StringData(s), len(s)) //nolint:gosec // Read-only view; saves a copy of every text.
}

// stringOf views b as a string; b must not change while it is in use.
func stringOf(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // As bytesOf.
}

// Valid reports whether s is one JSON value, nested at most MaxDepth deep.
func Valid(s string) bool {
	b := bytesOf(s)
	i, err := skipValue(b, skipSpace(b, 0), 0)
	return err == nil && skipSpace(b, i) == len(b)
}

// skipSpace returns the first index from i on that holds no white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) {
		switch b[i] {
		case ' ', '\n', '\r', '\t':
			i++
		default:
			return i
		}
	}
	return i
}

// traits says what was met inside a string.
type traits uint8

const (
	hasEscape traits = 1 << iota
	hasHigh          // bytes from 0x80 on
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// skipString takes the index after an opening quote and returns that of the
// closing one. It looks at eight bytes at a time.
func skipString(b []byte, i int) (int, traits, error) {
	var t traits
	for i < len(b) {
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			quote, slash := w^(ones*'"'), w^(ones*'\\')
			// The lowest bit set is exact; a borrow can only spoil those above it.
			m := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w | w) & highs
			if m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			break
		}
		switch c := b[i]; {
		case c == '"':
			return i, t, nil
		case c == '\\':
			t |= hasEscape
			n := escapeLen(b[i:])
			if n == 0 {
				return 0, 0, ErrSyntax
			}
			i += n
		case c < 0x20:
			return 0, 0, ErrSyntax
		case c >= 0x80:
			t |= hasHigh
			for i++; i < len(b) && b[i] >= 0x80; {
				i++
			}
		default:
			i++
		}
	}
	return 0, 0, ErrSyntax
}

// escapeLen returns the length of the escape at the start of b, 0 for none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) >= 6 && isHex(b[2]) && isHex(b[3]) && isHex(b[4]) && isHex(b[5]) {
			return 6
		}
	}
	return 0
}

// skipNumber returns the end of the number at i.
func skipNumber(b []byte, i int) (int, error) {
	if i < len(b) && b[i] == '-' {
		i++
	}
	switch {
	case i >= len(b) || !isDigit(b[i]):
		return 0, ErrSyntax
	case b[i] == '0':
		i++
	default:
		i = skipDigits(b, i)
	}
	if i < len(b) && b[i] == '.' {
		n := skipDigits(b, i+1)
		if n == i+1 {
			return 0, ErrSyntax
		}
		i = n
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		n := skipDigits(b, i)
		if n == i {
			return 0, ErrSyntax
		}
		i = n
	}
	return i, nil
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	return i
}

// skipScalar returns the end of the literal, number or string at i.
func skipScalar(b []byte, i int) (int, error) {
	if i >= len(b) {
		return 0, ErrSyntax
	}
	switch b[i] {
	case '"':
		end, _, err := skipString(b, i+1)
		return end + 1, err
	case 't':
		return skipWord(b, i, "true")
	case 'f':
		return skipWord(b, i, "false")
	case 'n':
		return skipWord(b, i, "null")
	}
	return skipNumber(b, i)
}

func skipWord(b []byte, i int, word string) (int, error) {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return 0, ErrSyntax
	}
	return i + len(word), nil
}

// skipValue returns the end of the value at i, which is nested depth deep. It
// keeps its stack in a few words: a bit per level, set for an object.
func skipValue(b []byte, i, depth int) (int, error) {
	var objects [MaxDepth/64 + 1]uint64
	level := 0
	var err error
	for {
		if i < len(b) && (b[i] == '{' || b[i] == '[') {
			if depth+level >= MaxDepth {
				return 0, ErrDepth
			}
			object := b[i] == '{'
			i = skipSpace(b, i+1)
			if i < len(b) && b[i] == closer(object) {
				i++
			} else {
				level++
				if object {
					objects[level/64] |= 1 << (level % 64)
					if i, err = skipKey(b, i); err != nil {
						return 0, err
					}
				} else {
					objects[level/64] &^= 1 << (level % 64)
				}
				continue
			}
		} else if i, err = skipScalar(b, i); err != nil {
			return 0, err
		}
		for {
			if level == 0 {
				return i, nil
			}
			i = skipSpace(b, i)
			if i >= len(b) {
				return 0, ErrSyntax
			}
			object := objects[level/64]&(1<<(level%64)) != 0
			if b[i] == ',' {
				i = skipSpace(b, i+1)
				if object {
					if i, err = skipKey(b, i); err != nil {
						return 0, err
					}
				}
				break
			}
			if b[i] != closer(object) {
				return 0, ErrSyntax
			}
			i++
			level--
		}
	}
}

func closer(object bool) byte {
	if object {
		return '}'
	}
	return ']'
}

// skipKey takes the index of a member's key and returns that of its value.
func skipKey(b []byte, i int) (int, error) {
	if i >= len(b) || b[i] != '"' {
		return 0, ErrSyntax
	}
	end, _, err := skipString(b, i+1)
	if err != nil {
		return 0, err
	}
	return skipColon(b, end+1)
}

func skipColon(b []byte, i int) (int, error) {
	i = skipSpace(b, i)
	if i >= len(b) || b[i] != ':' {
		return 0, ErrSyntax
	}
	return skipSpace(b, i+1), nil
}

func isDigit(c byte) bool { return c-'0' < 10 }

func isHex(c byte) bool { return c-'0' < 10 || c|0x20-'a' < 6 }
