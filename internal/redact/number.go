package redact

import (
	"strings"
	"unicode/utf8"
)

// maxGroups is how many groups of digits are looked at together: a card in
// single digits has 19.
const maxGroups = 40

// number is a row of digit groups with separators between them, such as a card,
// a telephone number, a date or an address of IPv4.
type number struct {
	groups [maxGroups]struct{ start, end int }
	n      int
	digits int
	// full: the row goes on behind the last group.
	full bool
}

// last is the last byte of the row.
func (n *number) last() int { return n.groups[n.n-1].end - 1 }

// size is the number of digits in a group.
func (n *number) size(g int) int { return n.groups[g].end - n.groups[g].start }

// sizes reports whether the groups from g on have these sizes, and there are as
// many.
func (n *number) sizes(g int, want ...int) bool {
	if g+len(want) > n.n {
		return false
	}
	for k, size := range want {
		if n.size(g+k) != size {
			return false
		}
	}
	return true
}

// between is the separator before group g.
func (n *number) between(text string, g int) string {
	return text[n.groups[g-1].end:n.groups[g].start]
}

// read reads the row whose first digit is text[i].
func (n *number) read(text string, i int) {
	n.n, n.digits, n.full = 0, 0, false
	for {
		start := i
		for i < len(text) && text[i]-'0' < 10 {
			i++
		}
		n.groups[n.n].start, n.groups[n.n].end = start, i
		n.n++
		n.digits += i - start
		next := separators(text, i)
		if next == len(text) || next == i || text[next]-'0' >= 10 {
			return
		}
		if n.n == maxGroups {
			n.full = true
			return
		}
		i = next
	}
}

// minWorth is the fewest digits of a value: a short telephone number, and an
// address of IPv4 has four groups.
const minWorth = 7

// shortNumber returns where the number at i ends if it is one in which nothing is
// found, as most are: no row, and too short. Otherwise it returns 0.
func shortNumber(text string, i int) int {
	end := i + 1
	for end < len(text) && isASCIIDigit(text[end]) {
		end++
	}
	switch {
	case end-i >= minWorth, end < len(text) && (text[end] >= utf8.RuneSelf || isSeparator[text[end]]):
		return 0
	case beginsIBAN(text, i, end-i):
		return 0
	}
	return end
}

// beginsIBAN reports whether so many digits at i can be the check digits of an IBAN
// whose bank has letters, and what follows them.
func beginsIBAN(text string, i, digits int) bool {
	return digits >= 2 && isASCIILetter(byteAt(text, i-1)) && isASCIILetter(byteAt(text, i-2)) &&
		(digits == 2 || !asciiAlnum(byteAt(text, i-3)) || byteAt(text, i-3)|0x20 == 'n' && byteAt(text, i-4)|0x20 == 'a')
}

// worth reports whether any detector could find something in the row.
func (n *number) worth(in *input) bool {
	start := n.groups[0].start
	switch {
	case n.digits >= minWorth:
		return n.n != 3 || n.digits != 8 || !n.isDate(in.text)
	case n.n >= 4:
		return true
	}
	return beginsIBAN(in.text, start, n.size(0))
}

// isDate reports whether three groups are a date such as 2024-05-15.
func (n *number) isDate(text string) bool {
	g := &n.groups[0]
	year := text[g.start:g.end]
	return n.size(0) == 4 && n.size(1) == 2 && (strings.HasPrefix(year, "20") || strings.HasPrefix(year, "19")) && n.size(2) == 2 &&
		(g.start == 0 || !asciiAlnum(text[g.start-1]))
}

// inRow reports whether a byte can stand in a row of digit groups.
func inRow(c byte) bool { return c >= utf8.RuneSelf || isASCIIDigit(c) || isSeparator[c] }

// separators returns where the separators that stand at i end, i for none: at
// most three characters.
func separators(text string, i int) int {
	for k := 0; k < 3 && i < len(text); k++ {
		c := text[i]
		if c < utf8.RuneSelf {
			if !isSeparator[c] {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if !isWideSeparator(r) {
			return i
		}
		i += size
	}
	return i
}

var isSeparator = [128]bool{' ': true, '-': true, '.': true, '/': true, '(': true, ')': true, '_': true, '+': true, '~': true}

// isWideSeparator reports whether a character outside ASCII is a space, a dash or
// a middle dot.
func isWideSeparator(r rune) bool {
	return r == 0xA0 || r == 0xB7 || r >= 0x2000 && r <= 0x200A || r >= 0x2010 && r <= 0x2015 || r == 0x2022 || r == 0x202F || r == 0x205F ||
		r == 0x2212 || r == 0x3000 || r == 0x30FB || r == 0xFF0D
}

// isSpaces and isDashes tell separators of one kind.
func isSpaces(sep string) bool {
	for _, r := range sep {
		switch {
		case r == ' ', r == '+', r == 0xA0, r >= 0x2000 && r <= 0x200A, r == 0x202F, r == 0x205F, r == 0x3000:
		default:
			return false
		}
	}
	return true
}

func isDashes(sep string) bool {
	for _, r := range sep {
		if r != '-' && (r < 0x2010 || r > 0x2015) && r != 0x2212 && r != 0xFF0D {
			return false
		}
	}
	return true
}

// sameKind reports whether two separators are of one kind, blanks around left
// aside.
func sameKind(a, b string) bool {
	if a == b {
		return true
	}
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	return a == b || isSpaces(a) && isSpaces(b) || isDashes(a) && isDashes(b) && a != "" && b != ""
}

// listed reports whether the groups from g to last stand in a list of numbers with
// blanks between: many more groups, in other sizes.
func (n *number) listed(text string, g, last int) bool {
	k := last - g + 1
	if n.n-k <= maxBeside {
		return false
	}
	before, behind := g > 0 && isSpaces(n.between(text, g)), last+1 < n.n && isSpaces(n.between(text, last+1))
	if !before && !behind {
		return false
	}
	for m := range n.n { // the same form again and again is none
		if n.size(m) != n.size(g+(m-g%k+k)%k) {
			return true
		}
	}
	return false
}

// maxBeside is how many groups may stand beside a value: an expiry date, a check
// number, a line's number.
const maxBeside = 3

// appendDigits appends the digits of a value.
func appendDigits(dst []byte, value string) []byte {
	for i := range len(value) {
		if value[i]-'0' < 10 {
			dst = append(dst, value[i])
		}
	}
	return dst
}

func asciiAlnum(c byte) bool { return isASCIILetter(c) || c-'0' < 10 }

// byteAt returns the byte at i, 0 outside the text.
func byteAt(text string, i int) byte {
	if i < 0 || i >= len(text) {
		return 0
	}
	return text[i]
}
