package redact

import "strings"

// usSSN finds social security numbers: 3, 2 and 4 digits with dashes or spaces
// between, of areas, groups and serials that are given out, also of the range for
// advertisements. What is named so needs no separators. Not: a part of a longer
// row, such as a list of numbers.
var usSSN = detector{name: "us_ssn", label: "US_SSN", number: matchSSN, normal: appendDigits}

var ssnWords = newVocabulary("ssn ssns sin social security socialsecurity socialsecuritynumber socsec itin tin taxpayer")

func matchSSN(in *input, n *number, g, floor int) (start, end int) {
	start = n.groups[g].start
	if start < floor || !ssnBoundary(in.text, n, g) {
		return 0, 0
	}
	last := g
	switch {
	case n.sizes(g, 3, 2, 4) && sameKind(n.between(in.text, g+1), n.between(in.text, g+2)):
		last = g + 2
	case n.size(g) != 9:
		return 0, 0
	}
	end = n.groups[last].end
	if !endsNumber(in.text, n, last) || last+1 < n.n && len(n.between(in.text, last+1)) == 1 && !isSpaces(n.between(in.text, last+1)) {
		return 0, 0
	}
	var buf [9]byte
	d := appendDigits(buf[:0], in.text[start:end])
	named := in.introduced(start, ssnWords)
	if last > g {
		sep := n.between(in.text, g+1)
		if !isSpaces(sep) {
			sep = strings.TrimSpace(sep)
		}
		if isDashes(sep) || sep == "." && n.n == 3 || isSpaces(sep) && !n.goesOn(in.text, g, last) {
			named = named || isSSN(d)
		}
	}
	if !named || string(d[5:]) == "0000" {
		return 0, 0
	}
	return start, end
}

// goesOn reports whether blanks and more groups follow the groups from g to last, or
// stand before them.
func (n *number) goesOn(text string, g, last int) bool {
	return g > 0 && isSpaces(n.between(text, g)) || last+1 < n.n && isSpaces(n.between(text, last+1))
}

// ssnBoundary reports whether the group g is the first of a value.
func ssnBoundary(text string, n *number, g int) bool {
	start := n.groups[g].start
	before := byteAt(text, start-1)
	switch {
	case isASCIILetter(before), before == '_' && g > 0, before == '.', before == '/' && g > 0, before == '+':
		return false
	case before == '-':
		return start < 2 || !asciiAlnum(text[start-2])
	}
	return true
}

// isSSN reports whether a number is one that is given out, or shown in
// advertisements.
func isSSN(d []byte) bool {
	area, group, serial := string(d[:3]), string(d[3:5]), string(d[5:])
	if string(d[:8]) == "98765432" {
		return true
	}
	return area != "000" && area != "666" && d[0] != '9' && group != "00" && serial != "0000"
}
