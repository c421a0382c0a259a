package redact

import (
	"encoding/base64"
	"strings"
)

// jwt finds JSON web tokens, signed or encrypted: a header in base64, which is a
// JSON object, a dot, and what follows it, however much of it is left. Not:
// another JSON object in base64, such as a cursor.
var jwt = detector{name: "jwt", label: "JWT", pairs: []string{"yJ", "yA"}, match: matchJWT}

// minHeader is the shortest header: {"alg":1}.
const minHeader = 12

func matchJWT(in *input, floor, i int) (start, end int) {
	text := in.text
	start = i - 2
	if start < floor || text[start] != 'e' || base64URLBytes[byteAt(text, start-1)] {
		return 0, 0
	}
	end = in.end(base64URLBytes, start)
	switch {
	case end-start < minHeader:
		return 0, 0
	case byteAt(text, end) != '.':
		if !isCut(text, end) || !isHeader(text[start:end], true) {
			return 0, 0
		}
		return start, end
	case !isHeader(text[start:end], false):
		return 0, 0
	}
	parts := 0
	for ; parts < 4 && byteAt(text, end) == '.'; parts++ {
		next := base64URLBytes.end(text, end+1)
		if next == end+1 && byteAt(text, next) != '.' { // an unsigned one ends in a dot
			break
		}
		end = next
	}
	if parts == 0 && !isCut(text, end+1) {
		return 0, 0
	}
	return start, end
}

// isHeader reports whether the beginning of a base64 text is that of an object;
// named: of one that names an algorithm, a type or a key.
func isHeader(text string, named bool) bool {
	var buf [96]byte
	n := min(len(text)/4*4, 128)
	got, err := base64.RawURLEncoding.Decode(buf[:], bytesOf(text[:n]))
	if err != nil {
		return false
	}
	s := strings.TrimLeft(stringOf(buf[1:max(got, 1)]), " \r\n\t")
	if buf[0] != '{' || s == "" || s[0] != '"' {
		return false
	}
	if !named {
		return len(s) > 2 && isASCIILetter(s[1])
	}
	for _, name := range []string{`"alg"`, `"typ"`, `"kid"`, `"enc"`, `"cty"`, `"x5t"`} {
		if strings.HasPrefix(s, name) {
			return true
		}
	}
	return false
}
