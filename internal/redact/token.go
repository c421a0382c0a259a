package redact

import (
	"math"
	"strings"
)

// alphabet is a set of bytes that tokens are made of.
type alphabet [256]bool

func newAlphabet(extra string) *alphabet {
	a := &alphabet{}
	for c := range 128 {
		a[c] = asciiAlnum(byte(c))
	}
	for i := range len(extra) {
		a[extra[i]] = true
	}
	return a
}

// newByteSet makes the set of the bytes given.
func newByteSet(bytes string) *alphabet {
	a := &alphabet{}
	for i := range len(bytes) {
		a[bytes[i]] = true
	}
	return a
}

// newAlphabetWithout makes the set of all bytes but blanks, control characters and
// those given.
func newAlphabetWithout(bytes string) *alphabet {
	a := &alphabet{}
	for c := ' ' + 1; c < 256; c++ {
		a[c] = strings.IndexByte(bytes, byte(c)) < 0
	}
	return a
}

var (
	alnumBytes     = newAlphabet("")
	wordBytes      = newAlphabet("_")
	base64URLBytes = newAlphabet("-_")
	base64Bytes    = newAlphabet("+/")
	credentialByte = newAlphabet("-._~+/=")
	queryBytes     = newAlphabetWithout("&#\"'<>`;)]}|,\\")
	optionBytes    = newAlphabetWithout(";\"'`<>")
	nameBytes      = newAlphabet("_.-")
)

// end returns where the bytes of the alphabet that begin at i end.
func (a *alphabet) end(text string, i int) int {
	for i < len(text) && a[text[i]] {
		i++
	}
	return i
}

// endsFold reports whether a text ends in letters of either case.
func endsFold(text, letters string) bool {
	return len(text) >= len(letters) && strings.EqualFold(text[len(text)-len(letters):], letters)
}

// appendFolded appends a text with its ASCII letters small.
func appendFolded(dst []byte, s string) []byte {
	for i := range len(s) {
		dst = append(dst, foldLetter(s[i]))
	}
	return dst
}

// isCut reports whether a value that ends at end may have been cut off there: the
// text ends, or says that it was.
func isCut(text string, end int) bool {
	rest := text[end:]
	return rest == "" || strings.HasPrefix(rest, "...") || strings.HasPrefix(rest, "…") || strings.HasPrefix(rest, "[truncated") || strings.HasPrefix(rest, "<truncated")
}

// traits are what tells a made-up text from words.
type traits struct {
	lower, upper, digits, symbols, wide int
	// turns counts the changes between letters and digits.
	turns int
	// humps counts the capitals that follow a small letter.
	humps   int
	entropy float64 // bits per byte
}

func traitsOf(s string) traits {
	var t traits
	s = s[:min(len(s), maxSecret)]
	var counts [256]uint16
	for i := range len(s) {
		c := s[i]
		counts[c]++
		switch {
		case c-'a' < 26:
			t.lower++
		case c-'A' < 26:
			t.upper++
			if i > 0 && s[i-1]-'a' < 26 {
				t.humps++
			}
		case isASCIIDigit(c):
			t.digits++
		case c < 0x80:
			t.symbols++
		default:
			t.wide++
		}
		if i > 0 && (isASCIIDigit(c) && isASCIILetter(s[i-1]) || isASCIILetter(c) && isASCIIDigit(s[i-1])) {
			t.turns++
		}
	}
	for _, n := range &counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			t.entropy -= p * math.Log2(p)
		}
	}
	return t
}

// mixed reports whether a text has all kinds of bytes, and marks that words do not
// have, or often another kind than the one before.
func (t *traits) mixed(marks bool) bool {
	return t.digits > 0 && t.lower > 0 && t.upper > 0 && (marks || t.turns >= 2 && (t.humps >= 2 || t.symbols > 0)) && t.entropy >= 3.2
}

// random reports whether a text of letters and digits is made up, not written.
func (t *traits) random() bool {
	letters := t.lower + t.upper
	n := letters + t.digits + t.symbols + t.wide
	switch {
	case t.entropy < 2.8 || letters < 3:
		return false
	case t.digits > 0 && t.turns >= 4:
		return true
	case t.digits > 0 && t.lower > 0 && t.upper > 0 && (t.turns >= 3 || t.turns >= 2 && n >= 16 && t.humps >= 2):
		return true
	}
	return n >= 20 && t.lower > 0 && t.upper > 0 && t.humps >= n/8 && t.entropy > 3.9
}
