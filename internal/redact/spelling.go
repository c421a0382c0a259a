package redact

import (
	"strings"
	"unicode/utf8"
)

// Other spellings of a text that carry the same value: percent-encoding, HTML
// entities, the escapes of JSON and programming languages, full-width forms,
// and characters of no width between the others.

// spellingTriggers are the bytes with which they begin.
const spellingTriggers = "%&\\\xc2\xd9\xdb\xe0\xe2\xef\xf0"

var spells = newByteSet(spellingTriggers)

// maxRounds is how often spellings in spellings are undone: &amp;#64; is two.
const maxRounds = 3

// view is a text with its spellings undone, and where its bytes stood.
type view struct {
	text   []byte
	shifts []shift
	// seen is where users and passwords of URLs were looked for up to.
	seen int
}

// shift says that from one index of a view on, up to the next shift, its bytes
// stand at another index of what it was made of.
type shift struct{ to, from int }

// undo makes the view of a text.
func (v *view) undo(text string) {
	v.text, v.shifts, v.seen = v.text[:0], v.shifts[:0], 0
	from := 0
	for i := 0; i < len(text); {
		if !spells[text[i]] {
			i++
			continue
		}
		r, n := spelled(text[i:])
		if n == 0 {
			i++
			continue
		}
		if text[i] == '%' && i >= v.seen && isDelimiterOfURL(r) {
			if v.seen = userInfoEnd(text, i); v.seen > i { // the delimiters in it are not the URL's
				i = v.seen
				continue
			}
			v.seen = i + 1
		}
		v.text = append(v.text, text[from:i]...)
		v.text = appendSpelled(v.text, r)
		i += n
		from = i
		v.shifts = append(v.shifts, shift{to: len(v.text), from: i})
	}
	v.text = append(v.text, text[from:]...)
}

func isDelimiterOfURL(r rune) bool {
	return r >= 0 && r < utf8.RuneSelf && strings.IndexByte(" :/?#@%\"'<>\\,|`", byte(r)) >= 0
}

// maxUserInfo is how far before and behind a byte the ends of a URL's user and
// password are looked for.
const maxUserInfo = 256

// userInfoEnd returns the @ behind the user and password of a URL that text[i] is a
// byte of, 0 where it is none.
func userInfoEnd(text string, i int) int {
	start := i
	for start > 0 && i-start < maxUserInfo && userInfoBytes[text[start-1]] {
		start--
	}
	if !strings.HasSuffix(text[:start], "://") {
		return 0
	}
	for end := i; end < len(text) && end-i < maxUserInfo; end++ {
		switch {
		case text[end] == '@':
			return end
		case !userInfoBytes[text[end]]:
			return 0
		}
	}
	return 0
}

// userInfoBytes are those that a user and password are made of.
var userInfoBytes = newAlphabetWithout("/?#@\"'<>`\\")

// origin returns where v.text[i] stood.
func (v *view) origin(i int) int {
	low, high := 0, len(v.shifts)
	for low < high {
		mid := (low + high) / 2
		if v.shifts[mid].to <= i {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == 0 {
		return i
	}
	s := v.shifts[low-1]
	return i - s.to + s.from
}

// What spelled returns beyond characters.
const (
	nothing  = -1    // a character of no width
	rawBytes = -1024 // minus a byte: %C3 is half a character
)

func appendSpelled(dst []byte, r rune) []byte {
	switch {
	case r == nothing:
		return dst
	case r <= rawBytes:
		return append(dst, byte(rawBytes-r))
	}
	return utf8.AppendRune(dst, r)
}

// spelled returns the character that another spelling at the start of s stands
// for, and the spelling's length; 0 for none.
func spelled(s string) (r rune, n int) {
	switch s[0] {
	case '%':
		return spelledPercent(s)
	case '&':
		return spelledEntity(s)
	case '\\':
		return spelledEscape(s)
	case 0xC2:
		if strings.HasPrefix(s, "\u00ad") {
			return nothing, 2
		}
	case 0xD9, 0xDB, 0xE0, 0xF0:
		c, size := utf8.DecodeRuneInString(s)
		if r = spelledDigit(c); r != 0 {
			return r, size
		}
	case 0xE2:
		if strings.HasPrefix(s, "\u2024") { // one dot leader
			return '.', 3
		}
		if len(s) >= 3 && (s[1] == 0x80 && (s[2] >= 0x8B && s[2] <= 0x8F || s[2] >= 0xAA && s[2] <= 0xAE) || s[1] == 0x81 && s[2] >= 0xA0 && s[2] <= 0xAF && s[2] != 0xA5) {
			return nothing, 3
		}
	case 0xEF:
		if strings.HasPrefix(s, "\ufeff") || len(s) >= 3 && s[1] == 0xB8 && s[2] >= 0x80 && s[2] <= 0x8F {
			return nothing, 3
		}
		switch c, size := utf8.DecodeRuneInString(s); {
		case c >= 0xFF01 && c <= 0xFF5E:
			return c - 0xFEE0, size
		case c == 0xFE6B: // small forms
			return '@', size
		case c == 0xFE52:
			return '.', size
		}
	}
	return 0, 0
}

// digitZeros are the zeros of scripts whose digits count as ours: Arabic, Persian,
// Devanagari, Bengali, Gurmukhi, Gujarati, Tamil, Telugu, Kannada, Malayalam, Thai,
// Lao.
var digitZeros = [...]rune{0x660, 0x6F0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xE50, 0xED0}

// spelledDigit returns the digit that a digit of another script stands for, 0 for
// none.
func spelledDigit(r rune) rune {
	if r >= 0x1D7CE && r <= 0x1D7FF { // mathematical
		return '0' + (r-0x1D7CE)%10
	}
	for _, zero := range digitZeros {
		if r >= zero && r <= zero+9 {
			return '0' + r - zero
		}
	}
	return 0
}

// spelledPercent undoes %40, %2540 at once, and %u0040 of JavaScript's escape.
func spelledPercent(s string) (rune, int) {
	if strings.HasPrefix(s, "%u") {
		return spelledUnit(s)
	}
	n := 1
	for strings.HasPrefix(s[n:], "25") && n+4 <= len(s) && isHex(s[n+2]) && isHex(s[n+3]) {
		n += 2
	}
	if n+2 > len(s) || !isHex(s[n]) || !isHex(s[n+1]) {
		return 0, 0
	}
	c := unhex(s[n])<<4 | unhex(s[n+1])
	if c < utf8.RuneSelf {
		return c, n + 2
	}
	return rawBytes - c, n + 2
}

// maxEntity bounds a number's entity, which may have zeros before it.
const maxEntity = 40

// spelledEntity undoes &#64; &#x40; and the names that hide marks.
func spelledEntity(s string) (rune, int) {
	if strings.HasPrefix(s, "&#") {
		end := strings.IndexByte(s[:min(len(s), maxEntity)], ';')
		if end < 2 {
			return 0, 0
		}
		return numericEntity(s[2:end]), end + 1
	}
	end := strings.IndexByte(s[:min(len(s), 12)], ';')
	if end < 2 {
		return 0, 0
	}
	name := s[1:end]
	switch name {
	case "amp":
		return '&', end + 1
	case "commat":
		return '@', end + 1
	case "period":
		return '.', end + 1
	case "lowbar":
		return '_', end + 1
	case "plus":
		return '+', end + 1
	case "colon":
		return ':', end + 1
	case "sol":
		return '/', end + 1
	case "lt":
		return '<', end + 1
	case "gt":
		return '>', end + 1
	case "quot":
		return '"', end + 1
	case "apos":
		return '\'', end + 1
	case "nbsp":
		return ' ', end + 1
	case "hyphen", "dash":
		return '-', end + 1
	case "shy", "zwnj", "zwj":
		return nothing, end + 1
	}
	return 0, 0
}

func numericEntity(digits string) rune {
	base := rune(10)
	if digits != "" && digits[0]|0x20 == 'x' {
		base, digits = 16, digits[1:]
	}
	var r rune
	for i := range len(digits) {
		if !isHex(digits[i]) || base == 10 && digits[i] > '9' || r > utf8.MaxRune {
			return utf8.RuneError
		}
		r = r*base + unhex(digits[i])
	}
	return r
}

// spelledEscape undoes \u0040, \u{40}, \U00000040, \x40 and the short escapes.
func spelledEscape(s string) (rune, int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case '"', '\\', '/', '\'':
		return rune(s[1]), 2
	case 'x':
		if len(s) >= 4 && isHex(s[2]) && isHex(s[3]) {
			return unhex(s[2])<<4 | unhex(s[3]), 4
		}
	case 'u':
		if strings.HasPrefix(s, `\u{`) {
			digits, _, ok := strings.Cut(s[3:min(len(s), 12)], "}")
			return spelledCode(digits, ok && digits != "", len(digits)+4)
		}
		return spelledUnit(s)
	case 'U':
		return spelledCode(s[2:min(len(s), 10)], len(s) >= 10, 10)
	}
	return 0, 0
}

// spelledUnit undoes four digits behind two bytes.
func spelledUnit(s string) (rune, int) {
	return spelledCode(s[2:min(len(s), 6)], len(s) >= 6, 6)
}

// spelledCode is the character of a number in hexadecimal digits, whose spelling
// is n bytes long.
func spelledCode(digits string, ok bool, n int) (rune, int) {
	var r rune
	for i := range len(digits) {
		if !isHex(digits[i]) || r > utf8.MaxRune {
			return 0, 0
		}
		r = r<<4 | unhex(digits[i])
	}
	switch {
	case !ok || r > utf8.MaxRune:
		return 0, 0
	case r >= 0x200B && r <= 0x200F || r >= 0x2060 && r <= 0x2064 || r == 0xFEFF || r == 0xAD:
		return nothing, n
	case r >= 0xFF01 && r <= 0xFF5E:
		r -= 0xFEE0
	}
	return r, n
}

func isHex(c byte) bool { return c-'0' < 10 || c|0x20-'a' < 6 }

func unhex(c byte) rune {
	if c <= '9' {
		return rune(c - '0')
	}
	return rune(c|0x20-'a') + 10
}
