package redact

import "unicode/utf8"

// iban finds account numbers: a country's letters, check digits that are right,
// and as many letters and digits as the country's have, with or without
// separators. One that is cut off at the end of the text counts where it is
// called an IBAN.
var iban = detector{name: "iban", label: "IBAN", number: matchIBAN, normal: appendIBAN}

var ibanWords = newVocabulary("iban account acct konto kontonummer")

// ibanLengths holds country and length of all IBANs.
const ibanLengths = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 " +
	"FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 " +
	"MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 " +
	"TN24 TR26 UA29 VA22 VG24 XK20 YE30"

const maxIBAN = 34

func matchIBAN(in *input, n *number, g, floor int) (start, end int) {
	text, check := in.text, n.groups[g].start
	letters := check
	if s := byteAt(text, check-1); (s == ' ' || s == '-') && g == 0 {
		letters-- // DE 89 …
	}
	start = letters - 2
	if g > 0 || start < floor || start < 0 || !isASCIILetter(text[start]) || !isASCIILetter(text[start+1]) {
		return 0, 0
	}
	if before := byteAt(text, start-1); asciiAlnum(before) && !endsFold(text[:start], "iban") {
		return 0, 0
	}
	size := ibanLength(text[start : start+2])
	if size == 0 {
		return 0, 0
	}
	var buf [maxIBAN]byte
	value, end := readIBAN(buf[:0], text, start, size)
	switch {
	case len(value) == size && asciiAlnum(byteAt(text, end)):
		return 0, 0
	case len(value) == size && ibanCheck(value):
		return start, end
	case end == len(text) && len(value) >= 8 && len(value) < size && in.introduced(start, ibanWords):
		return start, end
	}
	return 0, 0
}

// ibanLength returns how long a country's IBANs are, 0 for none.
func ibanLength(country string) int {
	c := [2]byte{country[0] &^ 0x20, country[1] &^ 0x20}
	for at := 0; at+4 <= len(ibanLengths); at += 5 {
		if ibanLengths[at] == c[0] && ibanLengths[at+1] == c[1] {
			return int(ibanLengths[at+2]-'0')*10 + int(ibanLengths[at+3]-'0')
		}
	}
	return 0
}

// readIBAN reads letters and digits with separators between, size at most.
func readIBAN(dst []byte, text string, start, size int) (value []byte, end int) {
	for i := start; i < len(text) && len(dst) < size; {
		c := text[i]
		if asciiAlnum(c) {
			if c >= 'a' {
				c &^= 0x20
			}
			dst = append(dst, c)
			i++
			end = i
			continue
		}
		next := separators(text, i)
		if next == i || next == len(text) || !asciiAlnum(text[next]) {
			return dst, end
		}
		i = next
	}
	return dst, end
}

// ibanCheck checks the check digits: the rest by 97 is 1.
func ibanCheck(v []byte) bool {
	rest := 0
	for i := range v {
		c := v[(i+4)%len(v)]
		if c <= '9' {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest == 1 && v[2]-'0' < 10 && v[3]-'0' < 10
}

// appendIBAN appends letters and digits, in capitals.
func appendIBAN(dst []byte, value string) []byte {
	for i := range len(value) {
		c := value[i]
		if c >= utf8.RuneSelf || !asciiAlnum(c) {
			continue
		}
		if c >= 'a' {
			c &^= 0x20
		}
		dst = append(dst, c)
	}
	return dst
}
