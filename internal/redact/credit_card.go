package redact

// creditCard finds card numbers: 13 to 19 digits whose first say which network
// issued them and whose last is right (Luhn), in one group or in the groups in
// which cards are printed, with any separators. Not: digits behind a decimal
// point, article numbers (EAN), a part of a word or of a longer number.
var creditCard = detector{name: "credit_card", label: "CREDIT_CARD", number: matchCard, normal: appendDigits}

// cardGroups are the groups in which cards are printed.
var cardGroups = [][]int{{4, 4, 4, 4}, {4, 6, 5}, {4, 6, 4}, {4, 4, 4, 4, 3}, {4, 4, 4, 1}, {4, 3, 3, 3}, {4, 5, 6}, {4, 4, 5}, {6, 13}, {8, 8}, {4, 4, 8}, {4, 12}}

func matchCard(in *input, n *number, g, floor int) (start, end int) {
	start = n.groups[g].start
	if start < floor || !cardBoundary(in.text, n, g) {
		return 0, 0
	}
	if last, ok := n.cardEnd(in.text, g); ok && endsNumber(in.text, n, last) {
		end = n.groups[last].end
		if isCard(in.text[start:end]) {
			return start, end
		}
	}
	return 0, 0
}

// cardBoundary reports whether a card can begin with the group g.
func cardBoundary(text string, n *number, g int) bool {
	start := n.groups[g].start
	before := byteAt(text, start-1)
	switch {
	case isASCIILetter(before):
		return false
	case before == '.':
		return start >= 2 && text[start-2]-'0' >= 10 // no decimals
	case g > 0 && n.size(g) != 4 && n.size(g-1) == n.size(g) && before != ' ':
		return false
	}
	return true
}

// endsNumber reports whether a value can end with the group last: no letters, no
// decimals follow.
func endsNumber(text string, n *number, last int) bool {
	end := n.groups[last].end
	after := byteAt(text, end)
	if isASCIILetter(after) || after == '_' && isASCIILetter(byteAt(text, end+1)) {
		return false
	}
	return after != '.' || byteAt(text, end+1)-'0' >= 10
}

// cardEnd returns the last group of a card that begins with the group g.
func (n *number) cardEnd(text string, g int) (last int, ok bool) {
	if size := n.size(g); size >= 13 && size <= 19 {
		return g, true
	}
	for _, sizes := range cardGroups {
		if n.sizes(g, sizes...) && n.evenly(text, g, len(sizes)) {
			return g + len(sizes) - 1, true
		}
	}
	for _, digits := range []int{16, 15} {
		if n.n >= g+digits && n.singles(g, digits) && n.evenly(text, g, digits) && (n.n == g+digits || n.size(g+digits) > 1) {
			return g + digits - 1, true
		}
	}
	return 0, false
}

// evenly reports whether the separators of k groups from g on are of one kind.
func (n *number) evenly(text string, g, k int) bool {
	for m := g + 2; m < g+k; m++ {
		if !sameKind(n.between(text, g+1), n.between(text, m)) {
			return false
		}
	}
	return true
}

func (n *number) singles(g, k int) bool {
	for m := g; m < g+k; m++ {
		if n.size(m) != 1 {
			return false
		}
	}
	return true
}

// isCard reports whether the digits of a text are a card's.
func isCard(text string) bool {
	var buf [19]byte
	if len(text) > 19*4 {
		return false
	}
	digits := appendDigits(buf[:0], text)
	return isNetwork(digits) && luhn(digits) && (len(digits) != 13 || !isEAN(digits))
}

// isNetwork reports whether a network has cards of that length and beginning.
func isNetwork(d []byte) bool {
	first := func(n int) int {
		v := 0
		for _, c := range d[:n] {
			v = v*10 + int(c-'0')
		}
		return v
	}
	if len(d) < 13 {
		return false
	}
	two, three, four := first(2), first(3), first(4)
	switch n := len(d); {
	case d[0] == '4': // Visa
		return n == 13 || n == 16 || n == 19
	case two >= 51 && two <= 55, four >= 2221 && four <= 2720: // Mastercard
		return n == 16
	case two == 34, two == 37: // American Express
		return n == 15
	case four == 6011, two == 65, three >= 644 && three <= 649, two == 60, two == 62, two == 81, two == 82, three == 508: // Discover, RuPay, UnionPay
		return n >= 16
	case four >= 3528 && four <= 3589: // JCB
		return n >= 16
	case three >= 300 && three <= 305, two == 36, two == 38, two == 39: // Diners
		return n == 14 || n == 16
	case four >= 2200 && four <= 2205, four == 9792: // Mir, Troy
		return n == 16 || n == 19
	case four == 5018, four == 5020, four == 5038, four == 5893, four == 6304, four == 6759, four >= 6761 && four <= 6763, two == 50: // Maestro, Elo, Verve
		return n >= 13
	}
	return false
}

// luhn checks the last digit, and that not all are the same.
func luhn(d []byte) bool {
	sum, same := 0, true
	for i := range d {
		v := int(d[len(d)-1-i] - '0')
		same = same && d[i] == d[0]
		if i%2 == 1 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0 && !same
}

// isEAN reports whether 13 digits are an article number.
func isEAN(d []byte) bool {
	sum := 0
	for i, c := range d {
		sum += int(c-'0') * (1 + i%2*2)
	}
	return sum%10 == 0
}
