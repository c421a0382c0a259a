package redact

import (
	"encoding/base64"
	"strings"
)

// bearer finds the credentials behind Bearer and Basic: a token that is no word,
// and the base64 of user:password. Behind an Authorization header anything that
// can be one counts, and other schemes too.
var bearer = detector{
	name: "bearer", label: "BEARER", match: matchBearer,
	pairs: []string{"be", "Be", "BE", "ba", "Ba", "BA", "ok", "OK", "pi", "PI"},
}

// schemes are names of schemes behind an Authorization header. The first two are
// looked for everywhere.
var schemes = []string{"bearer", "basic", "token", "apikey", "api-key"}

const (
	minToken  = 8
	minNaming = 3 // behind an Authorization header
)

func matchBearer(in *input, floor, i int) (start, end int) {
	text := in.text
	at := i - 1
	switch text[i] | 0x20 {
	case 'e', 'a':
		if c := byteAt(text, i+1) | 0x20; c != 'a' && c != 's' {
			return 0, 0
		}
	default:
		at-- // of token and apikey
	}
	if at < floor {
		return 0, 0
	}
	for n, scheme := range schemes {
		if len(text)-at <= len(scheme) || text[at]|0x20 != scheme[0] || !strings.EqualFold(text[at:at+len(scheme)], scheme) {
			continue
		}
		if before := byteAt(text, at-1); asciiAlnum(before) || before == '_' || before == '-' {
			return 0, 0
		}
		headed := in.isAuthorization(at)
		if n > 1 && !headed {
			return 0, 0
		}
		start = at + len(scheme)
		for start < len(text) && start-at < len(scheme)+4 && strings.IndexByte(" \t+:=\"'", text[start]) >= 0 {
			start++
		}
		if start == at+len(scheme) {
			return 0, 0
		}
		end = in.end(credentialByte, start)
		for end > start && text[end-1] == '.' {
			end--
		}
		if headed && end-start >= minNaming && !isWordToken(text[start:end]) && text[end-1] != ':' {
			return start, end
		}
		if n == 0 && isBearerToken(text[start:end]) || n == 1 && isBasic(text[start:end], isCut(text, end)) {
			return start, end
		}
		return 0, 0
	}
	return 0, 0
}

// isAuthorization reports whether a scheme at an index stands behind the name of
// an Authorization header.
func (in *input) isAuthorization(at int) bool {
	name := strings.TrimRight(in.text[max(0, at-24):at], " \t\"':=>,([")
	if name == "" && at < 8 {
		name = in.under.text
	}
	const header = "authorization"
	return len(name) >= len(header) && strings.EqualFold(name[len(name)-len(header):], header)
}

// isWordToken reports whether a token is the word of a sentence.
func isWordToken(s string) bool {
	if len(s) >= 16 {
		return false
	}
	for i := range len(s) {
		if s[i]-'a' >= 26 && (i != 0 || s[i]-'A' >= 26) {
			return false
		}
	}
	return true
}

// isBearerToken reports whether what follows Bearer is a token.
func isBearerToken(s string) bool {
	s = s[:min(len(s), maxJudged)]
	if len(s) < minToken || isWordToken(s) {
		return false
	}
	t := traitsOf(s)
	switch {
	case t.digits > 0 && t.lower+t.upper > 0:
		return t.turns > 1 || len(s) >= 16 || !strings.ContainsAny(s, "/=+")
	case t.lower > 0 && t.upper > 0 && t.humps > 1:
		return len(s) >= 16
	}
	return len(s) >= 20 && t.symbols < len(s)/6 && t.entropy > 3
}

// isBasic reports whether a text is the base64 of user:password, or, where it was
// cut off, its beginning.
func isBasic(s string, cut bool) bool {
	if len(s) < 4 || len(s) > 2048 {
		return false
	}
	raw := strings.TrimRight(s, "=")
	var buf [2048]byte
	n, err := base64.RawStdEncoding.Decode(buf[:], bytesOf(raw[:len(raw)/4*4]))
	if err != nil {
		return false
	}
	if rest := raw[len(raw)/4*4:]; len(rest) > 1 {
		more, err := base64.RawStdEncoding.Decode(buf[n:], bytesOf(rest))
		if err == nil {
			n += more
		}
	}
	colon := false
	for _, c := range buf[:n] {
		if c < ' ' {
			return false
		}
		colon = colon || c == ':'
	}
	return colon || cut && len(s) >= 12 && !isWordToken(s)
}
