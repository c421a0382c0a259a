package cjson

import (
	"strconv"
	"strings"
	"time"
)

// isHexID reports whether s is a UUID or 16 and more hex digits.
func isHexID(s string) bool {
	if len(s) < 16 {
		return false
	}
	if isUUID(s) {
		return true
	}
	for i := range len(s) {
		if !isHex(s[i]) {
			return false
		}
	}
	return true
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch i {
		case 8, 13, 18, 23:
			if s[i] != '-' {
				return false
			}
		default:
			if !isHex(s[i]) {
				return false
			}
		}
	}
	return true
}

func isDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// isZero reports whether a number, as written, is 0.
func isZero(num string) bool {
	for i := range len(num) {
		switch c := num[i]; {
		case c|0x20 == 'e':
			return true
		case c != '0' && c != '.' && c != '-':
			return false
		}
	}
	return true
}

// unixTime reads a number as seconds, milli-, micro- or nanoseconds since 1970,
// told apart by its digits (10, 13, 16, 19: the years 2001 to 2286), and returns
// nanoseconds.
func unixTime(num string) (int64, bool) {
	whole, fraction, _ := strings.Cut(num, ".")
	if !isDigits(whole) || fraction != "" && !isDigits(fraction) || whole[0] == '0' {
		return 0, false
	}
	v, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return 0, false
	}
	switch len(whole) {
	case 10:
		f := min(len(fraction), 9)
		nanos, _ := strconv.ParseInt(fraction[:f]+"000000000"[f:], 10, 64)
		if v > 9_223_372_036-1 {
			return 0, false
		}
		return v*second + nanos, true
	case 13:
		if v > 9_223_372_036_854-1 {
			return 0, false
		}
		return v * 1_000_000, true
	case 16:
		if v > 9_223_372_036_854_775-1 {
			return 0, false
		}
		return v * 1_000, true
	case 19:
		return v, true
	}
	return 0, false
}

// parseTime reads a text that is a time and nothing else: ISO 8601 (without a
// zone: UTC), a Unix time, or the form of HTTP headers. It returns Unix
// nanoseconds.
func parseTime(text string) (int64, bool) {
	if len(text) > 64 || len(text) < 10 {
		return 0, false
	}
	if n := isoLen(text); n == len(text) {
		return isoTime(text)
	}
	if isDigit(text[0]) {
		return unixTime(text)
	}
	for _, layout := range [...]string{time.RFC1123, time.RFC1123Z} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UnixNano(), true
		}
	}
	return 0, false
}

// isoTime reads what isoLen measured.
func isoTime(text string) (int64, bool) {
	digits := func(from, n int) int {
		v := 0
		for i := from; i < from+n && i < len(text); i++ {
			v = v*10 + int(text[i]-'0')
		}
		return v
	}
	var year, month, day, hour, minutes, sec, i int
	if text[4] == '-' {
		year, month, day = digits(0, 4), digits(5, 2), digits(8, 2)
		hour, minutes, i = digits(11, 2), digits(14, 2), 16
		if i < len(text) && text[i] == ':' {
			sec, i = digits(17, 2), 19
		}
	} else {
		year, month, day = digits(0, 4), digits(4, 2), digits(6, 2)
		hour, minutes, sec, i = digits(9, 2), digits(11, 2), digits(13, 2), 15
	}
	nanos := 0
	if i < len(text) && (text[i] == '.' || text[i] == ',') {
		scale := 100_000_000
		for i++; i < len(text) && isDigit(text[i]); i++ {
			nanos += int(text[i]-'0') * scale
			scale /= 10
		}
	}
	at := time.Date(year, time.Month(month), day, hour, minutes, sec, nanos, time.UTC)
	if year < 1700 || year > 2260 {
		return 0, false
	}
	zone := strings.TrimLeft(text[i:], " ")
	if zone == "" || zone[0] == 'Z' || zone[0] == 'z' {
		return at.UnixNano(), true
	}
	from := i + len(text[i:]) - len(zone)
	offset := digits(from+1, 2) * 3600
	if len(zone) > 3 {
		offset += digits(len(text)-2, 2) * 60
	}
	if zone[0] == '-' {
		offset = -offset
	}
	return at.UnixNano() - int64(offset)*second, true
}

// isoLen returns the length of the date with a time at the start of s, 0 for
// none: 2025-03-02T08:00:11.5+01:00, with a space for the T, without seconds,
// or 20250302T080011Z.
func isoLen(s string) int {
	n := 0
	switch {
	case matches(s, "dddd-dd-ddTdd:dd") || matches(s, "dddd-dd-dd dd:dd"):
		if s[5] > '1' || s[8] > '3' || s[11] > '2' || s[14] > '5' {
			return 0
		}
		n = 16
		if matches(s[n:], ":dd") {
			n = fractionEnd(s, n+3)
		}
	case matches(s, "ddddddddTdddddd"):
		n = fractionEnd(s, 15)
	default:
		return 0
	}
	switch rest := s[n:]; {
	case rest == "":
		return n
	case rest[0]|0x20 == 'z' && !startsAlnum(rest[1:]):
		return n + 1
	case rest[0] == '+' || rest[0] == '-':
		return n + offsetLen(rest)
	case rest[0] == ' ' && len(rest) > 1 && (rest[1] == '+' || rest[1] == '-'):
		if o := offsetLen(rest[1:]); o > 0 {
			return n + 1 + o
		}
	case isAlnum(rest[0]):
		return 0
	}
	return n
}

// offsetLen returns the length of a zone's offset: +01:00, +0100, +01.
func offsetLen(s string) int {
	for _, pattern := range [...]string{"dd:dd", "dddd", "dd"} {
		if len(s) > 1 && matches(s[1:], pattern) && !startsAlnum(s[1+len(pattern):]) {
			return 1 + len(pattern)
		}
	}
	return 0
}

// fractionEnd returns the end of a fraction of a second at i.
func fractionEnd(s string, i int) int {
	if i+1 < len(s) && (s[i] == '.' || s[i] == ',') && isDigit(s[i+1]) {
		for i++; i < len(s) && isDigit(s[i]); {
			i++
		}
	}
	return i
}

// matches reports whether s begins with the pattern: d is a digit, all else
// itself.
func matches(s, pattern string) bool {
	if len(s) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		if pattern[i] == 'd' {
			if !isDigit(s[i]) {
				return false
			}
		} else if s[i] != pattern[i] {
			return false
		}
	}
	return true
}

// clockLen returns the length of the hh:mm:ss at the start of s, 0 for none.
func clockLen(s string) int {
	if !matches(s, "dd:dd:dd") || s[0] > '2' || s[3] > '5' || s[6] > '5' {
		return 0
	}
	n := fractionEnd(s, 8)
	if n < len(s) && (isAlnum(s[n]) && s[n] != 'Z' || s[n] == ':') {
		return 0
	}
	if n < len(s) && s[n] == 'Z' {
		n++
	}
	return n
}

// isInstant reports whether text is one time with its day, or hh:mm:ss.
func isInstant(text string) bool {
	return len(text) >= 8 && len(text) <= 48 && (isoLen(text) == len(text) || clockLen(text) == len(text))
}

// isClockText reports whether the text of a field named as a clock is a time.
func isClockText(text string) bool {
	if len(text) > 48 {
		return false
	}
	if _, ok := unixTime(text); ok {
		return true
	}
	for i := 2; i+2 < len(text); i++ {
		if text[i] == ':' && matches(text[i-2:], "dd:dd") {
			return true
		}
	}
	return isoLen(text) > 0
}

// isDurationText reports whether the text of a field named as a duration is one.
func isDurationText(text string) bool {
	if len(text) > 48 {
		return false
	}
	return isDigit(text[0]) || len(text) > 1 && (text[0] == 'P' || text[0] == '.') && (isDigit(text[1]) || text[1] == 'T')
}

func isAlnum(c byte) bool { return isDigit(c) || c|0x20-'a' < 26 }

func startsAlnum(s string) bool { return s != "" && isAlnum(s[0]) }
