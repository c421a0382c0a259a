package cjson

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

const replacement = string(utf8.RuneError)

// AppendText appends the value of raw, a JSON string with its quotes, decoded.
// Escapes are undone; a surrogate without its partner, and each byte that is no
// valid UTF-8, becomes U+FFFD. Any other value is appended as written.
func AppendText(dst []byte, raw string) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return append(dst, raw...)
	}
	return appendDecoded(dst, raw[1:len(raw)-1], hasEscape|hasHigh)
}

// AppendDecoded appends the inside of a JSON string, without its quotes, decoded.
// Unlike AppendText it leaves bytes that are no valid UTF-8, and it takes any
// text: a backslash that begins no escape is dropped.
func AppendDecoded(dst []byte, inner string) []byte {
	return appendDecoded(dst, inner, hasEscape)
}

// Text is AppendText that returns a string, a slice of raw where it can be.
func Text(raw string) string {
	if len(raw) < 2 || raw[0] != '"' {
		return raw
	}
	inner := raw[1 : len(raw)-1]
	return decoded(inner, traitsOf(inner))
}

// AppendQuoted appends text as a JSON string in the form of RFC 8785: only what
// must be escaped is. Each byte that is no valid UTF-8 becomes U+FFFD.
func AppendQuoted(dst []byte, text string) []byte {
	dst = append(dst, '"')
	dst = appendEscaped(dst, text)
	return append(dst, '"')
}

func traitsOf(inner string) traits {
	var t traits
	if strings.IndexByte(inner, '\\') >= 0 {
		t |= hasEscape
	}
	for i := range len(inner) {
		if inner[i] >= utf8.RuneSelf {
			return t | hasHigh
		}
	}
	return t
}

// decoded returns the text of a string's inside; a slice of it where it can.
func decoded(inner string, t traits) string {
	if t&hasEscape == 0 && (t&hasHigh == 0 || utf8.ValidString(inner)) {
		return inner
	}
	return string(appendDecoded(make([]byte, 0, len(inner)), inner, t))
}

// sparse is how many bytes without an escape are copied one by one before the
// next escape is searched for: in JSON inside JSON they stand close together.
const sparse = 24

// appendDecoded appends the text of a string's inside, which must not share memory
// with dst.
func appendDecoded(dst []byte, inner string, t traits) []byte {
	if t == hasEscape|hasHigh && utf8.ValidString(inner) {
		t = hasEscape // pieces between escapes are then valid too
	}
	if t != hasEscape {
		return appendRepaired(dst, inner, t)
	}
	// Eight bytes are copied at a time, whatever is in them; what follows a backslash
	// is written over.
	from, n := len(dst), 0
	dst = slices.Grow(dst, len(inner))
	out := dst[from:cap(dst)]
	for i := 0; i < len(inner); {
		if i+8 <= len(inner) && n+8 <= len(out) {
			word := binary.LittleEndian.Uint64(bytesOf(inner[i:]))
			binary.LittleEndian.PutUint64(out[n:], word)
			slash := word ^ ones*'\\'
			found := (slash - ones) &^ slash & highs
			if found == 0 {
				i, n = i+8, n+8
				continue
			}
			skip := bits.TrailingZeros64(found) / 8
			i, n = i+skip, n+skip
		} else if inner[i] != '\\' {
			out[n] = inner[i]
			i, n = i+1, n+1
			continue
		}
		if i+1 == len(inner) {
			out[n] = '\\'
			n++
			break
		}
		switch c := inner[i+1]; c {
		case 'u', 'b', 'f', 'n', 'r', 't':
			r, rest := unescape(inner[i:])
			i = len(inner) - len(rest)
			dst = utf8.AppendRune(dst[:from+n], r)
			if n = len(dst) - from; cap(dst)-len(dst) < len(rest) { // only a broken \u gets longer
				dst = slices.Grow(dst, 2*len(rest))
			}
			out = dst[from:cap(dst)]
		case '"', '\\', '/':
			out[n] = c
			i, n = i+2, n+1
		default:
			i++
		}
	}
	return dst[:from+n]
}

// appendRepaired is appendDecoded where invalid UTF-8 is to be replaced.
func appendRepaired(dst []byte, inner string, t traits) []byte {
	for t&hasEscape != 0 {
		n := strings.IndexByte(inner, '\\')
		if n < 0 || n+1 == len(inner) {
			break
		}
		dst = appendUTF8(dst, inner[:n], t)
		var r rune
		r, inner = unescape(inner[n:])
		dst = utf8.AppendRune(dst, r)
	}
	return appendUTF8(dst, inner, t)
}

// appendUTF8 appends s with every invalid byte replaced.
func appendUTF8(dst []byte, s string, t traits) []byte {
	if t&hasHigh == 0 || utf8.ValidString(s) {
		return append(dst, s...)
	}
	for _, r := range s {
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// unescape decodes the escape at the start of s, which is whole unless it is a
// lone "\u" at the end of a broken string, and returns what follows it.
func unescape(s string) (rune, string) {
	switch c := s[1]; c {
	case 'b':
		return '\b', s[2:]
	case 'f':
		return '\f', s[2:]
	case 'n':
		return '\n', s[2:]
	case 'r':
		return '\r', s[2:]
	case 't':
		return '\t', s[2:]
	case 'u':
		r, ok := unescapeUnit(s)
		if !ok {
			return utf8.RuneError, s[2:]
		}
		s = s[6:]
		if r < 0xD800 || r >= 0xE000 {
			return r, s
		}
		low, ok := unescapeUnit(s)
		if r >= 0xDC00 || !ok || low < 0xDC00 || low >= 0xE000 {
			return utf8.RuneError, s
		}
		return (r-0xD800)<<10 + (low - 0xDC00) + 0x10000, s[6:]
	default:
		return rune(c), s[2:]
	}
}

func unescapeUnit(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for i := 2; i < 6; i++ {
		c := s[i]
		switch {
		case isDigit(c):
			c -= '0'
		case isHex(c):
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

const hexDigits = "0123456789abcdef"

// asIs tells the ASCII characters that a string holds as they are.
var asIs = func() (table [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// appendEscaped appends text with the escapes of RFC 8785, section 3.2.2.2.
func appendEscaped(dst []byte, text string) []byte {
	from := 0
	for i := 0; i < len(text); {
		c := text[i]
		if asIs[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, text[from:i]...), replacement...)
				from = i + 1
			}
			i += n
			continue
		}
		dst = appendEscape(append(dst, text[from:i]...), c)
		i++
		from = i
	}
	return append(dst, text[from:]...)
}

// appendEscape appends an ASCII character that a string cannot hold as it is.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// appendCanonical appends the inside of a valid string, as written, in the form
// of RFC 8785, without decoding it first.
func appendCanonical(dst []byte, inner string, t traits) []byte {
	if t&hasHigh != 0 && !utf8.ValidString(inner) {
		return appendEscaped(dst, string(appendDecoded(nil, inner, t)))
	}
	if t&hasEscape == 0 {
		return append(dst, inner...)
	}
	for i := 0; i < len(inner); {
		stop := min(len(inner), i+sparse)
		for i < stop && inner[i] != '\\' {
			dst = append(dst, inner[i])
			i++
		}
		if i == stop {
			n := strings.IndexByte(inner[i:], '\\')
			if n < 0 {
				return append(dst, inner[i:]...)
			}
			dst = append(dst, inner[i:i+n]...)
			i += n
		}
		switch c := inner[i+1]; c {
		case 'u':
			r, rest := unescape(inner[i:])
			i = len(inner) - len(rest)
			if r < utf8.RuneSelf && !asIs[r] {
				dst = appendEscape(dst, byte(r))
			} else {
				dst = utf8.AppendRune(dst, r)
			}
		case '/':
			dst = append(dst, c)
			i += 2
		default:
			dst = append(dst, '\\', c)
			i += 2
		}
	}
	return dst
}
