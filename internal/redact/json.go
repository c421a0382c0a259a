package redact

import (
	"encoding/binary"
	"math/bits"
	"strings"
)

// looksJSON reports whether a text begins as an object, array or string.
func looksJSON(s string) bool {
	i := skipSpace(s, 0)
	if i == len(s) || s[i] != '"' {
		return i < len(s) && (s[i] == '{' || s[i] == '[' && !isLabelled(s[i+1:]) && beginsArray(s, i))
	}
	end, _ := stringEnd(s, i+1)
	if end < 0 {
		return true
	}
	after := skipSpace(s, end+1)
	return after == len(s) || s[after] == ':' // or the inside of an object
}

// beginsArray reports whether what follows the bracket at i can stand in an array:
// not so in [INFO] and [12:00:01].
func beginsArray(s string, i int) bool {
	for i < len(s) && s[i] == '[' {
		i = skipSpace(s, i+1)
	}
	if i == len(s) {
		return true
	}
	switch c := s[i]; {
	case c == '"', c == '{', c == ']':
		return true
	case c == '-', c-'0' < 10:
		for i < len(s) && (s[i]-'0' < 10 || strings.IndexByte("+-.eE", s[i]) >= 0) {
			i++
		}
	default:
		n := i
		for i < len(s) && s[i]-'a' < 26 {
			i++
		}
		if w := s[n:i]; i < len(s) && w != "true" && w != "false" && w != "null" {
			return false
		}
	}
	i = skipSpace(s, i)
	if i < len(s) && s[i] == ']' { // [3] in prose
		i = skipSpace(s, i+1)
		return i == len(s) || strings.IndexByte(",]}[{", s[i]) >= 0
	}
	return i == len(s) || s[i] == ','
}

// isLabelled reports whether a placeholder goes on behind its bracket.
func isLabelled(s string) bool {
	n := labelLen(s)
	return n >= 2 && n < len(s) && (s[n] == ':' || s[n] == ']')
}

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\r' || s[i] == '\t') {
		i++
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// stringEnd returns the closing quote of the string whose inside begins at i, and
// whether it has a backslash; -1 where it is cut off. It takes any escapes, and
// looks at eight bytes at a time.
func stringEnd(s string, i int) (end int, escaped bool) {
	b := bytesOf(s)
	for i < len(b) {
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			quote, slash := w^(ones*'"'), w^(ones*'\\')
			if m := ((quote-ones)&^quote | (slash-ones)&^slash) & highs; m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			break
		}
		switch b[i] {
		case '"':
			return i, escaped
		case '\\':
			escaped = true
			i += 2
		default:
			i++
		}
	}
	return -1, escaped
}

// nextQuote returns the next quote from i on, the text's length for none. It is
// mostly close.
func nextQuote(s string, i int) int {
	for stop := min(len(s), i+8); i < stop; i++ {
		if s[i] == '"' {
			return i
		}
	}
	if n := strings.IndexByte(s[i:], '"'); n >= 0 {
		return i + n
	}
	return len(s)
}
