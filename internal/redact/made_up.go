package redact

import "strings"

// isSecret reports whether what stands under a secret's name is one. A long value is
// judged by its beginning, and must hold no space.
func isSecret(s string, kind secretKind) bool {
	judged := s[:min(len(s), maxJudged)]
	return isMadeUp(judged, kind) && strings.IndexByte(s[len(judged):], ' ') < 0
}

func isMadeUp(s string, kind secretKind) bool {
	if len(s) < 6 || strings.IndexByte(s, ' ') >= 0 || isReference(s) || isPlace(s) {
		return false
	}
	t := traitsOf(s)
	if isSpelledOut(s, &t) && (kind != weakSecret || t.digits == 0 || t.upper == 0) {
		return false
	}
	if kind == weakSecret {
		return isPassword(s, &t)
	}
	if len(s) >= 24 && t.symbols+t.wide == 0 && t.digits > 0 && t.lower+t.upper > 0 && isAllHex(s) {
		return true
	}
	if len(s) < 12 || t.wide > 0 || isDate(s) {
		return false
	}
	return t.random() && (len(s) >= 16 || t.turns >= 3) || t.mixed(strings.ContainsAny(s, "!@#$%^&*~"))
}

func isAllHex(s string) bool {
	for i := range len(s) {
		if !isHex(s[i]) {
			return false
		}
	}
	return true
}

// isPassword reports whether a text is a password rather than a word, a number or
// an expression of code.
func isPassword(s string, t *traits) bool {
	letters := t.lower + t.upper + t.wide
	switch {
	case letters == 0:
		return t.symbols == 0 && t.digits >= 6 && t.entropy > 1
	case t.digits > 0:
		return !isDate(s)
	case t.symbols > 0:
		inner := strings.Trim(s, ".,:;!?()-_/")
		if strings.ContainsAny(inner, "!@#$%^&*+=~?|") && (t.upper > 0 || t.symbols > 1) {
			return true
		}
		return len(s) >= 20 && t.symbols <= 2 && t.humps >= len(s)/5 && t.entropy > 3.5
	}
	return t.humps > 1 && len(s) >= 10 && t.entropy > 3 && t.humps >= len(s)/4
}

// isSpelledOut reports whether a text is words with marks between: a name of a
// thing, an expression of code, with a short number at most.
func isSpelledOut(s string, t *traits) bool {
	if t.wide > 0 || strings.ContainsAny(s, "!@#$%^&*+=~?|") {
		return false
	}
	if t.symbols == 0 {
		return false
	}
	for s != "" {
		end := strings.IndexAny(s, "_-./:")
		if end < 0 {
			end = len(s)
		}
		part := s[:end]
		s = s[min(end+1, len(s)):]
		p := traitsOf(part)
		switch {
		case part == "":
		case p.digits == 0 && (p.humps <= 1 || len(part) < 8), p.digits == len(part) && len(part) <= 4:
		case p.digits <= 2 && p.turns <= 1 && isASCIILetter(part[0]) && p.humps <= 1: // v2, sha256
		default:
			return false
		}
	}
	return true
}

// isPlace reports whether a text says where something is: a URL, a path, an ARN.
func isPlace(s string) bool {
	return strings.Contains(s, "://") || strings.HasPrefix(s, "arn:") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, "../") ||
		s[0] == '/' && strings.Count(s, "/") > 1 && !isBase64(s) || len(s) > 2 && s[1] == ':' && s[2] == '\\' || strings.Contains(s, "()") ||
		strings.HasPrefix(s, "vault:") || strings.HasPrefix(s, "op:") || strings.HasPrefix(s, "ssm:") || strings.HasPrefix(s, "env.") || strings.HasPrefix(s, "process.env")
}

// isBase64 reports whether what begins as a path is base64.
func isBase64(s string) bool {
	t := traitsOf(s)
	return len(s) >= 24 && t.turns >= 4 && t.humps >= 4 && base64Bytes.end(s, 0) >= len(s)-2 && strings.IndexByte(strings.TrimRight(s, "="), '=') < 0
}

// isDate reports whether a text begins as a date does.
func isDate(s string) bool {
	return len(s) >= 10 && isDigits(s[:4]) && (s[4] == '-' || s[4] == '/') && isDigits(s[5:7]) && s[7] == s[4]
}
