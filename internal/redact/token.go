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

// maxJudged is how much of a value is looked at to tell whether it is made up.
const maxJudged = 256

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
	s = s[:min(len(s), maxJudged)]
	var counts [256]uint16
	var classes [5]int
	var steps [5][5]int // from a byte's class to the next one's
	before := wideByte
	for i := range len(s) {
		class := classOf[s[i]]
		counts[s[i]]++
		classes[class]++
		steps[before][class]++
		before = class
	}
	t.lower, t.upper, t.digits, t.symbols, t.wide = classes[lowerByte], classes[upperByte], classes[digitOf10], classes[symbolByte], classes[wideByte]
	t.turns = steps[lowerByte][digitOf10] + steps[upperByte][digitOf10] + steps[digitOf10][lowerByte] + steps[digitOf10][upperByte]
	t.humps = steps[lowerByte][upperByte]
	sum := 0.0
	for i := range len(s) {
		sum += countLogs[counts[s[i]]]
		counts[s[i]] = 0
	}
	if s != "" {
		const rounding = 1e-9 // a whole number stays not above itself
		t.entropy = math.Log2(float64(len(s))) - sum/float64(len(s)) - rounding
	}
	return t
}

// mixed reports whether a text has all kinds of bytes, and marks that words do not
// have, or often another kind than the one before.
func (t *traits) mixed(marks bool) bool {
	return t.digits > 0 && t.lower > 0 && t.upper > 0 && (marks || t.turns >= 2 && (t.humps >= 2 || t.symbols > 0)) && t.entropy >= 3.2
}

// The classes of bytes that traits count.
const (
	lowerByte uint8 = iota
	upperByte
	digitOf10
	symbolByte
	wideByte
)

var classOf = func() (table [256]uint8) {
	for c := range table {
		switch {
		case byte(c)-'a' < 26:
			table[c] = lowerByte
		case byte(c)-'A' < 26:
			table[c] = upperByte
		case isASCIIDigit(byte(c)):
			table[c] = digitOf10
		case c < 0x80:
			table[c] = symbolByte
		default:
			table[c] = wideByte
		}
	}
	return table
}()

// countLogs is n·log2(n).
var countLogs = func() (table [maxJudged + 1]float64) {
	for n := 2; n < len(table); n++ {
		table[n] = float64(n) * math.Log2(float64(n))
	}
	return table
}()

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
