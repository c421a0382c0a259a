package cjson

import "strings"

// appendNews appends a text, escaped, with what is no news by its form replaced
// by marks. All forms hold a digit, so it looks at words that do.
func appendNews(dst []byte, text string) []byte {
	from := 0
	for i := nextDigit(text, 0); i < len(text); i = nextDigit(text, i) {
		start := i
		for start > from && isAlnum(text[start-1]) {
			start--
		}
		begin, end, c := noNewsAt(text, from, start)
		if c == classNone {
			i = wordEnd(text, i)
			continue
		}
		dst = appendEscaped(dst, text[from:begin])
		dst = append(dst, c.marker())
		i, from = end, end
	}
	return appendEscaped(dst, text[from:])
}

func nextDigit(text string, i int) int {
	for i < len(text) && !isDigit(text[i]) {
		i++
	}
	return i
}

func wordEnd(text string, i int) int {
	for i < len(text) && isAlnum(text[i]) {
		i++
	}
	return i
}

// noNewsAt looks at the word that starts at start and holds a digit, and at what
// stands before it down to from. It returns what to replace, and its class.
func noNewsAt(text string, from, start int) (begin, end int, c class) {
	s := text[start:]
	if isDigit(s[0]) && (start == 0 || text[start-1] != ':' && text[start-1] != '.') {
		if n := isoLen(s); n > 0 {
			return start, start + n, classClock
		}
		if n := clockLen(s); n > 0 {
			return start, start + n, classClock
		}
	}
	begin = hexStart(text, from, start)
	word, rest := wordBefore(text[from:begin])
	switch word {
	case "pid", "ppid":
		if n := wordEnd(s, 0); begin == start && isDigits(s[:n]) && !isZero(s[:n]) {
			return start, start + n, classPID
		}
	case "took", "elapsed", "duration", "latency":
		if n := durationLen(s, false); begin == start && n > 0 {
			return start, start + n, classDuration
		}
	case "in":
		if n := durationLen(s, true); begin == start && n > 0 {
			return start, start + n, classDuration
		}
	case "id":
		word, _ = wordBefore(rest)
		if word != "request" && word != "req" && word != "trace" && word != "correlation" {
			break
		}
		fallthrough
	case "request", "req", "requestid", "request_id", "request-id", "req_id", "req-id", "trace_id", "traceid",
		"correlation_id", "correlationid", "correlation-id", "x-request-id":
		if n := hexLen(text[begin:]); n > 0 && begin+n > start {
			return begin, begin + n, classRequestID
		}
	}
	return 0, 0, classNone
}

// hexStart moves start back over groups of a UUID that hold no digit, which the
// search for digits passed over.
func hexStart(text string, from, start int) int {
	begin := start
	for begin > from && begin > start-36 && (text[begin-1] == '-' || isHex(text[begin-1])) {
		begin--
	}
	if begin < start && len(text)-begin >= 36 && isUUID(text[begin:begin+36]) {
		return begin
	}
	return start
}

// wordBefore returns the word that ends the text before a few separators, in
// lower case, and what goes before it. Words that are too long are none.
func wordBefore(text string) (word, rest string) {
	const maxGap, maxWord = 4, 14
	end := len(text)
	for end > 0 && len(text)-end < maxGap && strings.IndexByte(" :=#('\"_-[\t", text[end-1]) >= 0 {
		end--
	}
	if end == len(text) || end == 0 || !endsKeyword[text[end-1]] {
		return "", text
	}
	start := end
	for start > 0 && end-start <= maxWord && (isAlnum(text[start-1]) || text[start-1] == '_' || text[start-1] == '-') {
		start--
	}
	if end-start > maxWord {
		return "", text
	}
	return lowerWord(text[start:end]), text[:start]
}

// endsKeyword tells the letters with which a word of noNewsAt ends: most words
// before a number are none after one look.
var endsKeyword = [256]bool{
	'd': true, 'D': true, 'k': true, 'K': true, 'n': true, 'N': true, 'y': true, 'Y': true, 't': true, 'T': true, 'q': true, 'Q': true,
	'e': true, 'E': true,
}

// lowerWord returns the word of noNewsAt that equals s without case, "" for none.
func lowerWord(s string) string {
	for _, word := range [...]string{
		"pid", "ppid", "took", "elapsed", "duration", "latency", "in", "id", "request", "req", "trace", "correlation",
		"requestid", "request_id", "request-id", "req_id", "req-id", "trace_id", "traceid", "correlation_id",
		"correlationid", "correlation-id", "x-request-id",
	} {
		if len(s) == len(word) && strings.EqualFold(s, word) {
			return word
		}
	}
	return ""
}

// hexLen returns the length of the id at the start of s: a UUID, or hex digits,
// 16 and more, or four and more that are no plain number and no plain word.
func hexLen(s string) int {
	if len(s) >= 36 && isUUID(s[:36]) && !startsAlnum(s[36:]) {
		return 36
	}
	n, digits := 0, 0
	for n < len(s) && isHex(s[n]) {
		if isDigit(s[n]) {
			digits++
		}
		n++
	}
	if startsAlnum(s[n:]) || n < 4 || n < 16 && (digits == 0 || digits == n) {
		return 0
	}
	return n
}

// durationLen returns the length of the duration at the start of s: numbers,
// each with its unit. Where short is set, only what says by itself that it was
// measured: a fraction, or a unit below the second.
func durationLen(s string, short bool) int {
	total, measured := 0, false
	for {
		i := skipDigits(bytesOf(s), total)
		if i == total {
			break
		}
		if end := fractionEnd(s, i); end > i {
			i, measured = end, true
		}
		unit := i
		if unit < len(s) && s[unit] == ' ' {
			unit++
		}
		n, small := unitLen(s[unit:])
		if n == 0 {
			break
		}
		measured = measured || small
		total = unit + n
	}
	if short && !measured {
		return 0
	}
	return total
}

// unitLen returns the length of the unit of time at the start of s, and whether
// it is one below the second.
func unitLen(s string) (n int, small bool) {
	for n < len(s) && (s[n]|0x20-'a' < 26 || s[n] >= 0x80) && n < 13 {
		n++
	}
	switch s[:n] {
	case "ms", "msec", "msecs", "millis", "millisecond", "milliseconds", "us", "µs", "μs", "ns", "microseconds", "nanoseconds":
		return n, true
	case "s", "sec", "secs", "second", "seconds", "m", "min", "mins", "minute", "minutes", "h", "hr", "hrs", "hour", "hours",
		"d", "day", "days":
		return n, false
	}
	return 0, false
}
