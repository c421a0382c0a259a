package redact

import "strings"

// phone finds telephone numbers: E.164 (+ or 00, a country's code, 7 to 15
// digits, with or without separators), and national ones whose separators,
// brackets or leading 0 make them one. Other rows of digits count where they are
// called a telephone number. Not: dates, amounts, ranges, parts of longer rows.
var phone = detector{name: "phone", label: "PHONE", number: matchPhone, normal: appendPhone}

var phoneWords = newVocabulary("phone phones telephone tel mobile mob cell cellphone cellular fax whatsapp sms msisdn dial handy telefon telefone " +
	"telefono teléfono téléphone móvil movil celular portable rufnummer mobil mobilfunk handynummer telefonnummer gsm landline hotline " +
	"телефон тел моб сотов 电话 電話 电話 手机 手機 携帯 连络 전화 휴대폰 연락처 फोन मोबाइल هاتف جوال موبايل טלפון נייד τηλέφωνο โทร điện")

// idWords say that a number in a telephone number's form is none.
var idWords = newVocabulary("nhs nino order orders invoice invoices ticket tickets case ref reference tracking shipment parcel serial part sku isbn issn po rma lot " +
	"batch claim routing isrc imei booking reservation confirmation transaction txn receipt quote patent docket bestellung bestellnummer rechnung " +
	"auftrag commande facture pedido factura заказ заказа счет 订单 注文 주문")

// How many digits a number has.
const (
	minPhone = 7
	maxPhone = 15
)

func matchPhone(in *input, n *number, g, floor int) (start, end int) {
	p := phoneAt(in.text, n, g)
	if p.start < floor {
		return 0, 0
	}
	last := p.lastInternational()
	if last < 0 {
		last = p.lastNational()
	}
	if last >= 0 && !p.plus && in.introduced(p.start, idWords) {
		last = -1
	}
	if last < 0 && p.free && g == 0 && (in.introduced(p.start, phoneWords) || isCalled(in.text[:p.start])) {
		last = p.lastNamed()
	}
	if last < 0 {
		return 0, 0
	}
	return p.start, n.groups[last].end
}

// calls are the words before a number that say to whom it belongs.
var calls = []string{"call me", "call us", "call him", "call her", "call back", "reach me", "reach us", "ring me", "text me", "text us", "contact me", "contact us"}

// isCalled reports whether a text ends in call me at and the like.
func isCalled(text string) bool {
	const gap = len(" back on: ")
	near := text[max(0, len(text)-gap-1):]
	for near != "" && !isASCIILetter(near[len(near)-1]) {
		near = near[:len(near)-1]
	}
	if near == "" {
		return false
	}
	var buf [32]byte
	tail := buf[:0]
	for _, c := range bytesOf(text[max(0, len(text)-len(buf)):]) {
		tail = append(tail, foldLetter(c))
	}
	for _, words := range calls {
		if n := strings.LastIndex(stringOf(tail), words); n >= 0 && len(tail)-n-len(words) <= gap {
			return true
		}
	}
	return false
}

// phoneCandidate is a row of digits seen as a telephone number from one group on.
type phoneCandidate struct {
	text string
	*number
	g int
	// start is where the number begins, with its + and bracket.
	start int
	plus  bool // + before it
	open  bool // an opening bracket before its first or second group
	free  bool // stands on its own, as far as what is before it goes
}

func phoneAt(text string, n *number, g int) phoneCandidate {
	p := phoneCandidate{text: text, number: n, g: g, start: n.groups[g].start}
	if byteAt(text, p.start-1) == '(' && byteAt(text, n.groups[g].end) == ')' {
		p.open = true
		p.start--
	}
	if byteAt(text, p.start-1) == '+' {
		p.plus = true
		p.start--
		if n.size(g) <= 4 && byteAt(text, p.start-1) == '(' && byteAt(text, n.groups[g].end) == ')' {
			p.start--
		}
	}
	before := byteAt(text, p.start-1)
	switch {
	case asciiAlnum(before), before == '.' && p.start >= 2 && (asciiAlnum(text[p.start-2]) || text[p.start-2] == '.'), before == '#', before == '$', before == '_', before == '%':
	case before == '-', before == '/', before == '+':
		p.free = p.start < 2 || !asciiAlnum(text[p.start-2]) && text[p.start-2] != '/'
	default:
		p.free = true
	}
	if p.plus && isASCIIDigit(before) {
		p.free = false
	}
	return p
}

// count counts the digits of the groups from g to last.
func (p *phoneCandidate) count(last int) int {
	digits := 0
	for k := p.g; k <= last; k++ {
		digits += p.size(k)
	}
	return digits
}

// digit returns the digit k of the number.
func (p *phoneCandidate) digit(k int) byte {
	for g := p.g; g < p.n; g++ {
		if k < p.size(g) {
			return p.text[p.groups[g].start+k]
		}
		k -= p.size(g)
	}
	return 0
}

// lastInternational returns the last group of a number with + or 00.
func (p *phoneCandidate) lastInternational() int {
	skip := 0
	switch {
	case p.plus && (p.free || isSpaceOrMark(byteAt(p.text, p.start-1))):
	case p.free && p.size(p.g) >= 2 && strings.HasPrefix(p.text[p.groups[p.g].start:], "00") && p.digit(2) != '0' && p.g+1 < p.n:
		skip = 2
	default:
		return -1
	}
	code := callingCode(p, skip)
	if code == 0 {
		return -1
	}
	for last := p.n - 1; last >= p.g; last-- {
		digits := p.count(last) - skip
		if digits > maxPhone || !p.joined(last) {
			continue
		}
		if digits < 8 {
			return -1
		}
		switch {
		case p.digit(skip) == '1':
			if digits != 11 || p.digit(skip+1) < '2' || p.digit(skip+4) < '2' {
				continue
			}
		case skip > 0 && (digits < 10 || p.pairs(p.n-1)): // 00 59 01 …: a list
			return -1
		}
		if endsNumber(p.text, p.number, last) && (p.plus || !p.listed(p.text, p.g, last)) {
			return last
		}
	}
	return -1
}

// joined reports whether the separators up to the group last are ones of
// telephone numbers: no more than a bracket, a dash and blanks.
func (p *phoneCandidate) joined(last int) bool {
	for k := p.g + 1; k <= last; k++ {
		sep := p.between(p.text, k)
		if strings.ContainsAny(sep, "_~") || strings.Contains(sep, "+") && sep != "+" || strings.Count(sep, ".")+strings.Count(sep, "/") > 1 || sep == ". " {
			return false
		}
	}
	return true
}

func isSpaceOrMark(c byte) bool { return !asciiAlnum(c) }

func isASCIIDigit(c byte) bool { return c-'0' < 10 }

// callingCode returns the length of the country's code, 0 for none.
func callingCode(p *phoneCandidate, skip int) int {
	a, b := p.digit(skip), p.digit(skip+1)
	switch {
	case a == '1', a == '7':
		return 1
	case a < '2' || a > '9' || b == 0:
		return 0
	}
	switch string([]byte{a, b}) {
	case "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46", "47", "48", "49", "51", "52", "53", "54", "55", "56",
		"57", "58", "60", "61", "62", "63", "64", "65", "66", "81", "82", "84", "86", "90", "91", "92", "93", "94", "95", "98":
		return 2
	case "28", "83", "89": // not given out
		return 0
	}
	return 3
}

// lastNational returns the last group of a number in a country's own form.
func (p *phoneCandidate) lastNational() int {
	if !p.free && !p.open || p.g > 0 && !p.open && !isSpaces(p.between(p.text, p.g)) {
		return -1
	}
	for _, f := range nationalForms {
		last := p.g + len(f.sizes) - 1
		if p.sizes(p.g, f.sizes...) && p.joined(last) && f.plan.has(p) && p.alone(last) && !p.listed(p.text, p.g, last) {
			return last
		}
	}
	if p.digit(0) == '0' && p.free && p.g == 0 || p.open && p.free {
		return p.lastTrunk()
	}
	return -1
}

// alone reports whether nothing that belongs to the number follows the group
// last.
func (p *phoneCandidate) alone(last int) bool {
	if !endsNumber(p.text, p.number, last) {
		return false
	}
	if last+1 == p.n {
		return true
	}
	sep := p.between(p.text, last+1)
	return len(sep) > 1 || sep == "/" || isSpaces(sep) && p.size(last+1) != p.size(last)
}

// nationalForm is a row of groups that is a telephone number of a plan, where the
// plan has such ones.
type nationalForm struct {
	plan  numberPlan
	sizes []int
}

type numberPlan uint8

const (
	planNorthAmerica numberPlan = iota
	planNorthAmericaLong
	planChina
	planRussia
	planRussiaLong
	planBrazil
	planIndia
)

var nationalForms = []nationalForm{
	{planNorthAmericaLong, []int{1, 3, 3, 4}},
	{planNorthAmerica, []int{3, 3, 4}},
	{planChina, []int{3, 4, 4}},
	{planRussiaLong, []int{1, 3, 3, 2, 2}},
	{planRussia, []int{3, 3, 2, 2}},
	{planBrazil, []int{2, 5, 4}},
	{planIndia, []int{5, 5}},
}

// has reports whether a number in the plan's groups is one of its own.
func (plan numberPlan) has(p *phoneCandidate) bool {
	switch plan {
	case planNorthAmerica:
		return p.northAmerican(0)
	case planNorthAmericaLong:
		return p.digit(0) == '1' && p.northAmerican(1)
	case planChina:
		return p.digit(0) == '1' && p.digit(1) >= '3' && p.even()
	case planRussia:
		return p.dashed(p.g+2) && p.dashed(p.g+3) && p.digit(0) >= '3'
	case planRussiaLong:
		return p.digit(0) == '8' || p.digit(0) == '7'
	case planBrazil:
		return p.open || p.digit(2) == '9' && p.dashed(p.g+2) && !p.dashed(p.g+1)
	case planIndia:
		return p.n == 2 && p.digit(0) >= '6' && isSpaces(p.between(p.text, p.g+1))
	}
	return false
}

// northAmerican reports whether the ten digits from the digit k on, in the last
// three groups, are a number of the North American plan.
func (p *phoneCandidate) northAmerican(k int) bool {
	return p.digit(k) >= '2' && p.digit(k+3) >= '2' && (p.open || k > 0 && strings.Contains(p.between(p.text, p.g+1), "(") || p.even())
}

// even reports whether the separators behind the first are of one kind.
func (p *phoneCandidate) even() bool {
	last := p.n - p.g
	return p.evenly(p.text, p.g, min(last, 3)) || strings.ContainsAny(p.between(p.text, p.g+1), "/)")
}

func (p *phoneCandidate) dashed(g int) bool { return isDashes(p.between(p.text, g)) }

// lastTrunk returns the last group of a number with a leading 0 or an area code in
// brackets: 9 to 12 digits in two groups and more.
func (p *phoneCandidate) lastTrunk() int {
	first := p.size(p.g)
	if first < 2 || first > 6 || p.digit(0) == '0' && p.digit(1) == '0' || p.sizes(p.g, 3, 2, 4) { // that is a social security number
		return -1
	}
	for last := min(p.n-1, p.g+5); last > p.g; last-- {
		digits := p.count(last)
		if digits < 9 || digits > 12 || !p.joined(last) || !p.alone(last) || p.dated(last) || !p.evenTail(last) {
			continue
		}
		switch {
		case p.open:
			if after := p.between(p.text, p.g+1); !strings.HasPrefix(after, ")") || digits-first < 6 {
				return -1
			}
			if first == 4 && (p.digit(0) == '1' || p.digit(0) == '2') {
				return -1 // a year
			}
		case digits > 11, last == p.g+1 && (p.size(last) < 5 || p.between(p.text, last) == "."):
			continue
		case last > p.g+1 && p.size(p.g+1) < 2, p.size(last) < 2:
			continue
		case p.n > 5 && p.pairs(p.n-1): // bytes
			return -1
		}
		return last
	}
	return -1
}

// pairs reports whether all groups up to last have two digits.
func (p *phoneCandidate) pairs(last int) bool {
	for k := 0; k <= last; k++ {
		if p.size(k) != 2 {
			return false
		}
	}
	return true
}

// evenTail reports whether the separators behind the second group are of one kind.
func (p *phoneCandidate) evenTail(last int) bool {
	for k := p.g + 3; k <= last; k++ {
		if !sameKind(p.between(p.text, p.g+2), p.between(p.text, k)) {
			return false
		}
	}
	return true
}

// dated reports whether a group is a year beside months or days.
func (p *phoneCandidate) dated(last int) bool {
	for k := p.g; k <= last; k++ {
		year := p.text[p.groups[k].start:p.groups[k].end]
		if len(year) == 4 && (strings.HasPrefix(year, "19") || strings.HasPrefix(year, "20")) && !p.open &&
			(k > p.g && p.size(k-1) == 2 && p.size(p.g) == 2 && k <= p.g+2) {
			return true
		}
	}
	return false
}

// lastNamed returns the last group of a number that is called one.
func (p *phoneCandidate) lastNamed() int {
	for last := p.n - 1; last >= p.g; last-- {
		if digits := p.count(last); digits >= minPhone && digits <= maxPhone && p.joined(last) && endsNumber(p.text, p.number, last) && !p.isDate(p.text) {
			return last
		}
	}
	return -1
}

// appendPhone appends the digits, with + before an international number. A
// national number of North America is written as an international one.
func appendPhone(dst []byte, value string) []byte {
	from := len(dst)
	international := strings.HasPrefix(strings.TrimLeft(value, "("), "+")
	value = strings.Replace(value, "(0)", "", 1)
	dst = appendDigits(dst, value)
	d := dst[from:]
	switch {
	case international:
	case len(d) > 2 && d[0] == '0' && d[1] == '0':
		copy(d, d[2:])
		dst = dst[:len(dst)-2]
	case len(d) == 11 && d[0] == '1' && d[1] >= '2':
	case len(d) == 10 && d[0] >= '2' && d[3] >= '2':
		dst = append(dst, 0)
		copy(dst[from+1:], dst[from:])
		dst[from] = '1'
	default:
		return dst
	}
	dst = append(dst, 0)
	copy(dst[from+1:], dst[from:])
	dst[from] = '+'
	return dst
}
