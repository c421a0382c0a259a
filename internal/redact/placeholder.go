package redact

import "strings"

// A pseudonym is [LABEL:id check]: 16 hex digits of the value's HMAC and 4 of
// the HMAC of label and id, by which a tenant's Redactor knows its own again. So
// a text that was redacted before (by a gateway, or a retry) stays as it is,
// while one that only looks like ours is marked: [EMAIL:…?]. A mask [EMAIL] says
// nothing about a value, so nobody can pose with it and it is left.
const (
	idDigits    = 16
	checkDigits = 4
	hexDigits   = "0123456789abcdef"
	notOurs     = "?]"
)

// ownPlaceholder finds what looks like one of our pseudonyms; the scan decides
// whether it is one.
var ownPlaceholder = detector{triggers: "[", match: matchPlaceholder}

// matchPlaceholder returns the pseudonym, ours or not, that begins at text[i].
func matchPlaceholder(in *input, floor, i int) (start, end int) {
	return placeholderAt(in.text, floor, i)
}

// placeholderAt is matchPlaceholder on a text alone.
func placeholderAt(text string, floor, i int) (start, end int) {
	if i < floor {
		return 0, 0
	}
	rest := text[i+1:]
	n := labelLen(rest)
	const size = 1 + idDigits + checkDigits + 1
	if n < 2 || n > maxLabel || len(rest) < n+size || rest[n] != ':' || rest[n+size-1] != ']' {
		return 0, 0
	}
	for _, c := range []byte(rest[n+1 : n+size-1]) {
		if strings.IndexByte(hexDigits, c) < 0 {
			return 0, 0
		}
	}
	return i, i + 1 + n + size
}

// isOurs reports whether a pseudonym in our form was made under the tenant's key.
func (t *Tenant) isOurs(placeholder string) bool {
	colon := strings.IndexByte(placeholder, ':')
	id := colon + 1 + idDigits
	var want [checkDigits]byte
	t.check(&want, label(placeholder[1:colon]), placeholder[colon+1:id])
	return string(want[:]) == placeholder[id:id+checkDigits]
}

// isOwn reports whether a text is one pseudonym of ours, or a mask, and nothing
// else.
func (t *Tenant) isOwn(text string) bool {
	if text == "" || text[0] != '[' {
		return false
	}
	if n := labelLen(text[1:]); n >= 2 && n <= maxLabel && n+2 == len(text) && text[n+1] == ']' {
		return true
	}
	_, end := placeholderAt(text, 0, 0)
	return end == len(text) && t.isOurs(text)
}
