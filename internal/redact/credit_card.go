package redact

// creditCard finds card numbers: 13 to 19 digits whose first say which network
// issued them and whose last is right (Luhn), in one group or in the groups in
// which cards are printed, with any separators. What is called a card may have 12
// digits, and be of any network. Not: digits behind a decimal point, article
// numbers (EAN), what is called an order's or the like, a part of a word, of a
// longer number or of a list of numbers.
var creditCard = detector{name: "credit_card", label: "CREDIT_CARD", number: matchCard, normal: appendDigits}

// isNoNetwork tells the digits with which no card begins.
var isNoNetwork = newByteSet("017")

// cardGroups are the groups in which cards are printed.
var cardGroups = [][]int{
	{4, 4, 4, 4, 3},
	{4, 4, 4, 4, 2},
	{4, 4, 4, 4, 1},
	{4, 4, 4, 4},
	{4, 6, 5},
	{4, 6, 4},
	{4, 4, 4, 1},
	{4, 3, 3, 3},
	{4, 5, 6},
	{4, 4, 5},
	{6, 13},
	{8, 8},
	{4, 4, 8},
	{4, 12},
	{4, 4, 4},
}

// How many digits cards have. Those with fewer than 13 must be called one.
const (
	minNamedCard = 12
	maxCard      = 19
)

var cardWords = newVocabulary("card cards creditcard debitcard cardnumber ccnumber cardno pan cc ccn visa mastercard maestro amex kreditkarte kartennummer kreditkartennummer " +
	"carte tarjeta cartão karta карта карты картой 卡号 信用卡 カード 카드 بطاقة")

func matchCard(in *input, n *number, g, floor int) (start, end int) {
	start = n.groups[g].start
	if start < floor || isNoNetwork[in.text[start]] || !cardBoundary(in.text, n, g) {
		return 0, 0
	}
	if size := n.size(g); size >= minNamedCard && size <= maxCard {
		return in.card(n, g, g)
	}
	for _, sizes := range cardGroups {
		if last := g + len(sizes) - 1; n.sizes(g, sizes...) && n.evenly(in.text, g, len(sizes)) && (len(sizes) == 4 && sizes[3] == 4 || !n.listed(in.text, g, last)) {
			if start, end = in.card(n, g, last); end > 0 {
				return start, end
			}
		}
	}
	for _, digits := range []int{16, 15} {
		if n.n >= g+digits && n.singles(g, digits) && n.evenly(in.text, g, digits) && (n.n == g+digits || n.size(g+digits) > 1) {
			return in.card(n, g, g+digits-1)
		}
	}
	return 0, 0
}

// orderWords say that a number in a card's form is none.
var orderWords = newVocabulary("order orders invoice invoices ticket tickets tracking shipment parcel serial part sku isbn imei bestellung bestellnummer rechnung " +
	"auftrag commande facture pedido factura заказ заказа 订单 注文 주문")

// card returns where the groups from g to last stand, if they are a card's: of a
// network that has such ones, or called a card; and no order's.
func (in *input) card(n *number, g, last int) (start, end int) {
	start, end = n.groups[g].start, n.groups[last].end
	if !endsNumber(in.text, n, last) {
		return 0, 0
	}
	var buf [maxCard]byte
	digits := appendDigits(buf[:0], in.text[start:end])
	switch {
	case !luhn(digits):
	case in.introduced(start, cardWords):
		return start, end
	case !isNetwork(digits), g == last && len(digits) == 13 && isEAN(digits), g == last && in.introduced(start, orderWords):
	default:
		return start, end
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

// evenly reports whether the separators of k groups from g on are of one kind.
func (n *number) evenly(text string, g, k int) bool {
	first := n.between(text, g+1)
	for m := g + 2; m < g+k; m++ {
		if sep := n.between(text, m); sep != first && !sameKind(first, sep) {
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
	case four == 6011, two == 65, three >= 644 && three <= 649, two == 60, two == 62, two == 81, two == 82, three == 508, three >= 636 && three <= 639: // Discover, RuPay, UnionPay, Elo, InstaPayment
		return n >= 16
	case four >= 3528 && four <= 3589: // JCB
		return n >= 16
	case three >= 300 && three <= 305, two == 36, two == 38, two == 39: // Diners
		return n == 14 || n == 16
	case four >= 2200 && four <= 2205, four == 9792, four == 8600, four == 9860: // Mir, Troy, UzCard, Humo
		return n == 16 || n == 19
	case four == 5893, four == 6304, four == 6390, four == 6759, four >= 6761 && four <= 6763, four == 6767, two == 50: // Maestro, Elo, Verve
		return n >= 13
	case two >= 56 && two <= 58, two == 67: // Maestro
		return n == 16
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
