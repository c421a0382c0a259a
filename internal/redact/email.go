package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// email finds addresses at their @: a local part of letters and digits of any
// script with . _ - + ' ! # $ ^ ~ between them, and a domain of two and more
// labels that ends as one can. Not: package@1.2.3, icon@2x.png, git@host:path,
// user@host without a dot, the user before a URL's host, x@w.reshape(2).
var email = detector{name: "email", label: "EMAIL", triggers: "@", match: matchEmail, normal: appendLower}

func matchEmail(in *input, floor, i int) (start, end int) {
	text := in.text
	if start = localStart(text, floor, i); start == i {
		start = quotedLocalStart(text, floor, i)
	}
	if start == i {
		return 0, 0
	}
	end = domainEnd(text, i+1)
	if end == 0 {
		return 0, 0
	}
	switch {
	case end < len(text) && text[end] == '(' && !isCommonTopLevel(text[:end]):
		return 0, 0 // a call in code
	case text[start:i] == "git" && end < len(text) && text[end] == ':':
		return 0, 0
	case strings.HasSuffix(text[:start], "://"):
		return 0, 0
	}
	return start, end
}

// localStart returns where the local part before text[at] begins, at for none.
// Where its last letter is Latin it does not go on into another script: such
// text is often written without a space before an address.
func localStart(text string, floor, at int) int {
	start, latin := at, false
	for i := at; i > floor; {
		r, n := lastRune(text, floor, i)
		if i == at {
			latin = isLatin(r)
		}
		switch {
		case isWord(r) && (!latin || isLatin(r)), r == '_':
			start = i - n
		case r < utf8.RuneSelf && strings.IndexByte(".-+'!#$^~", byte(r)) >= 0 && i < at:
			// Only between letters: start moves with the next one.
		case (r == '-' || r == '+' || r == '.' || r == '~') && i == at:
		default:
			return start
		}
		i -= n
	}
	return start
}

// maxLocal is the longest local part.
const maxLocal = 64

// quotedLocalStart is localStart for "john doe"@example.com.
func quotedLocalStart(text string, floor, at int) int {
	if at-floor < 3 || text[at-1] != '"' {
		return at
	}
	for i := at - 2; i >= floor && at-i <= maxLocal && text[i] >= ' ' && text[i] != ','; i-- {
		if text[i] == '"' {
			if i == at-2 || i > floor && text[i-1] > ' ' && strings.IndexByte("<(:=[>", text[i-1]) < 0 {
				return at
			}
			return i
		}
	}
	return at
}

// domainEnd returns where the domain at text[from] ends, 0 for none.
func domainEnd(text string, from int) int {
	end, labels := 0, 0
	first := ""
	for i := from; ; {
		n := labelEnd(text, i)
		if n == i {
			break
		}
		l := text[i:n]
		labels++
		switch {
		case labels == 1:
			first = l
		case labels == 2 && isDigits(first) && isDigits(l[:1]):
			return 0 // a version
		}
		if labels > 1 && isTopLevel(l) {
			end = n
		}
		if n == len(text) || text[n] != '.' {
			break
		}
		i = n + 1
	}
	return end
}

// labelEnd returns the end of the domain label at i: letters and digits, with
// hyphens between them.
func labelEnd(text string, i int) int {
	end, latin := i, false
	for n := i; n < len(text); {
		r, size := utf8.DecodeRuneInString(text[n:])
		if n == i {
			latin = isLatin(r)
		}
		switch {
		case isWord(r) && (!latin || isLatin(r)):
			end = n + size
		case r == '-' && n > i:
		default:
			return end
		}
		n += size
	}
	return end
}

// isTopLevel reports whether a label can end a domain, and is no file's ending.
func isTopLevel(l string) bool {
	if len(l) > 4 && strings.EqualFold(l[:4], "xn--") {
		return true
	}
	for i, r := range l {
		if r < utf8.RuneSelf && !isASCIILetter(byte(r)) {
			return i > 0 && l[0] >= utf8.RuneSelf
		}
	}
	if len(l) < 2 || len(l) > 63 {
		return false
	}
	var buf [64]byte
	switch string(appendFolded(buf[:0], l)) {
	case "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "css", "scss", "js", "mjs", "cjs", "ts", "tsx", "jsx", "json", "html",
		"xml", "yaml", "yml", "txt", "pdf", "csv", "log", "exe", "dll", "jar", "tgz", "gz", "whl", "lock", "toml":
		return false
	}
	return true
}

// isCommonTopLevel reports whether a domain ends as most do, and as no method's
// name does.
func isCommonTopLevel(domain string) bool {
	last := domain[strings.LastIndexByte(domain, '.')+1:]
	var buf [4]byte
	if len(last) > len(buf) {
		return false
	}
	switch string(appendFolded(buf[:0], last)) {
	case "com", "org", "net", "edu", "gov", "mil", "info", "biz", "io", "ai", "app", "dev", "de", "uk", "fr", "nl", "eu", "us", "ca", "jp", "cn", "in",
		"br", "au", "ch", "at", "se", "no", "dk", "fi", "es", "it", "pl", "ru":
		return true
	}
	return false
}

// isWord reports whether r is a letter, a mark or a digit of any script.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return isASCIILetter(byte(r)) || r >= '0' && r <= '9'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r))
}

// isLatin: ASCII and Latin letters with marks.
func isLatin(r rune) bool {
	return r < 0x250 || r >= 0x300 && r < 0x370 || r >= 0x1E00 && r < 0x1F00
}

func isASCIILetter(c byte) bool { return c|0x20-'a' < 26 }

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i]-'0' >= 10 {
			return false
		}
	}
	return s != ""
}

// appendLower appends a value in lower case.
func appendLower(dst []byte, value string) []byte {
	for _, r := range value {
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
	}
	return dst
}
