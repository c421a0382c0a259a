package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// secretValue finds what no form tells, by the name it stands under: password=…,
// "api_key": "…", <secret>…</secret>, --token …, {"name": "password", "value": …},
// a column (see columns.go). It belongs to api_key. What stands there must be made
// up: no word, no number, no variable, no path, no address.
var secretValue = detector{
	name: "api_key", label: "SECRET", triggers: "=:>", match: matchSecretValue,
	pairs: []string{"--", " -", "sw", "SW", "ey", "ok", "cr", "ph", "(\"", "('", "_K", "_S", "_T", "_P", "_k"},
}

func matchSecretValue(in *input, floor, i int) (start, end int) {
	text := in.text
	var kind secretKind
	from := i + 1
	switch text[i] {
	case '=', ':':
		kind, from = kindBefore(text, floor, i)
	case '>':
		kind = elementKind(text, floor, i)
		if strings.HasPrefix(text[from:], cdata) {
			from += len(cdata)
		}
	case '-':
		kind, from = optionKind(text, i)
		if kind == noSecret && byteAt(text, i+1) == ' ' && text[i-1] == ' ' {
			kind, from = listKind(text, i), i+1
		}
	case '"', '\'':
		if kind, from = argumentKind(text, i); kind == noSecret {
			kind, from = callKind(text, floor, i), i
		}
	case 'y', 'r', 'h':
		kind, from = isKind(text, floor, i)
	case 'K', 'S', 'T', 'P', 'k':
		if text[i-1] == 'o' {
			kind, from = isKind(text, floor, i)
			break
		}
		kind, from = setKind(text, floor, i)
	default:
		kind, from = saidKind(text, i)
	}
	if kind == noSecret {
		return 0, 0
	}
	start, end = in.valueAt(floor, from, kind)
	if text[i] == '>' && end > 0 && !strings.HasPrefix(text[end:], "</") && !strings.HasPrefix(text[end:], "]]>") && !isCut(text, end) {
		return 0, 0 // no element
	}
	return start, end
}

// kindBefore returns the kind of the name before = or :, and where its value is.
func kindBefore(text string, floor, i int) (secretKind, int) {
	after, before := byteAt(text, i+1), byteAt(text, i-1)
	if after == text[i] || before == '=' || before == '!' || before == '<' || before == '>' && text[i] == '=' || text[i] == ':' && (after == '/' || before == ':') {
		return noSecret, 0
	}
	from := i + 1
	if after == '=' || after == '>' && text[i] == '=' { // := and =>
		from++
	}
	name, at := nameBefore(text, floor, i)
	if name == "" {
		return noSecret, 0
	}
	if name[0] == '-' {
		name = strings.TrimLeft(name, "-")
	}
	kind := kindOf(name)
	if kind == noSecret && (name == "string" || name == "str") { // a type behind the name, as Go writes it
		kind = kindOf(wordBefore(text, floor, at))
	}
	if kind == noSecret && isLastOfTwo(name) && byteAt(text, at-1) == ' ' { // API key:
		if first := wordStart(text, max(floor, at-24), at-1); first < at-1 {
			kind = kindOf(text[first : at+len(name)])
		}
	}
	if kind == noSecret && isValueName(name) {
		if kind = kindOfNeighbour(text, floor, at); kind == noSecret && name == "default" {
			kind = kindOfBlock(text, floor, at)
		}
	}
	if kind == noSecret && name == "name" {
		return partKind(text, from)
	}
	return kind, from
}

func isLastOfTwo(name string) bool {
	return strings.EqualFold(name, "key") || strings.EqualFold(name, "passe")
}

// maxPadding is how many blanks may align what follows a name.
const maxPadding = 40

// nameBefore returns the name before text[i], with blanks, a quote and a bracket
// between, and where it begins.
func nameBefore(text string, floor, i int) (name string, at int) {
	end := i
	for k := 0; end > floor && k < 4 && i-end < maxPadding && strings.IndexByte(" \t\"'`])*:", text[end-1]) >= 0; {
		if end--; text[end] > ' ' || end == i-1 {
			k++
		}
	}
	start := end
	for start > floor && end-start < 64 && (nameBytes[text[start-1]] || text[start-1] >= 0x80) {
		start--
	}
	return text[start:end], start
}

// isValueName reports whether a name says no more than that a value follows.
func isValueName(name string) bool {
	if n := len(name); n > 5 && name[n-1] == 'e' && strings.EqualFold(name[n-5:], "value") {
		return true
	}
	return isAnyOf(name, "value", "val", "v", "default", "data", "content", "text")
}

// isNameName is the same of a name's name.
func isNameName(name string) bool {
	if n := len(name); n > 4 && name[n-1] == 'e' && name[n-4] == 'N' && strings.HasSuffix(name, "Name") || strings.HasSuffix(name, "_name") {
		return true // parameterName
	}
	return isAnyOf(name, "name", "key", "k", "field", "id", "label", "header", "parameter", "param", "property", "variable", "var", "attribute", "env",
		"column", "option", "setting", "type", "kind", "title")
}

func isAnyOf(name string, list ...string) bool {
	for _, s := range list {
		if len(s) == len(name) && s[0] == name[0]|0x20 && strings.EqualFold(s, name) {
			return true
		}
	}
	return false
}

// maxNeighbour is how far before a value the name of its name may begin.
const maxNeighbour = 96

// kindOfNeighbour returns the kind of what is named before a value: name: X, on
// the line before, or name="X" before value=.
func kindOfNeighbour(text string, floor, at int) secretKind {
	low := max(floor, at-maxNeighbour)
	window := text[low:at]
	n := strings.LastIndexAny(window, ":=")
	if n < 1 {
		return noSecret
	}
	if name, _ := nameBefore(text, low, low+n); !isNameName(name) {
		return noSecret
	}
	return kindOf(strings.Trim(window[n+1:], " \t\r\n\"'`,;-{}"))
}

// valueAt returns the value that begins at an index, if it is a secret of a kind.
func (in *input) valueAt(floor, from int, kind secretKind) (start, end int) {
	text := in.text
	start = from
	for start < len(text) && start < from+3 && (text[start] == ' ' || text[start] == '\t') {
		start++
	}
	start = skipBlockMark(text, start)
	if start < len(text)-1 && strings.IndexByte("bruf", text[start]|0x20) >= 0 && (text[start+1] == '"' || text[start+1] == '\'') {
		start++ // b'…' in Python
	}
	quote := byteAt(text, start)
	quoted := quote == '"' || quote == '\'' || quote == '`'
	if quoted {
		start++
		end = quotedEnd(text, start, quote)
	} else {
		end = in.bareEnd(start)
	}
	if typ := text[start:end]; !quoted && isTypeName(typ) { // a declaration in code: its value follows the type
		for k := end; k < len(text) && k < end+3; k++ {
			if text[k] == '=' {
				return in.valueAt(floor, k+1, kind)
			}
		}
	}
	if start < floor || start >= end {
		return 0, 0
	}
	after := byteAt(text, end)
	if !quoted && (after == '(' || after == '[') {
		return 0, 0
	}
	judged := min(end, start+maxJudged)
	if n := asciiEnd(text, start, judged); !quoted && n < judged && isSecret(text[start:n], kind) { // no space before another script
		return start, n
	}
	if isSecret(text[start:end], kind) {
		return start, end
	}
	for _, or := range []string{" || ", " ?? ", " or "} { // process.env.KEY || "…"
		if at := end + len(or); !quoted && strings.HasPrefix(text[end:], or) && (byteAt(text, at) == '"' || byteAt(text, at) == '\'') {
			return in.valueAt(floor, at, kind)
		}
	}
	return 0, 0
}

// asciiEnd returns where another script begins in text[start:end].
func asciiEnd(text string, start, end int) int {
	for start < end && text[start] < utf8.RuneSelf {
		start++
	}
	return start
}

// skipBlockMark returns where the text of a YAML block begins whose | or > stands
// at i.
func skipBlockMark(text string, i int) int {
	c := byteAt(text, i)
	if c != '|' && c != '>' {
		return i
	}
	at := i + 1
	if c = byteAt(text, at); c == '-' || c == '+' {
		at++
	}
	if byteAt(text, at) == '\r' {
		at++
	}
	if byteAt(text, at) != '\n' {
		return i
	}
	for at++; byteAt(text, at) == ' ' && at-i < maxPadding; {
		at++
	}
	return at
}

// bareEnd returns where a value without quotes ends. Where one begins inside of the
// last that was asked for it ends where that does.
func (in *input) bareEnd(i int) int {
	if b := &in.bare; i <= b.from || i >= b.to {
		b.from, b.to = i, bareEnd(in.text, i)
	}
	return in.bare.to
}

// bareEnd returns where a value without quotes ends: at a blank or a quote, or at a
// mark that what follows shows to be none of its own.
func bareEnd(text string, i int) int {
	start := i
	for ; i < len(text) && text[i] > ' '; i++ {
		next := byteAt(text, i+1)
		switch text[i] {
		case '"', '\'', '`', '<', '|', '\\':
			return i
		case ';', '(':
			return i
		case '&', ',', ')', '}', ']', '.', '!', '?', ':':
			if next <= ' ' || next >= utf8.RuneSelf || next == '"' || next == '\'' || next == '<' || next == '`' || next == text[i] || text[i] != '.' && strings.IndexByte(",;)}].", next) >= 0 {
				if text[i] == '!' && i > start && (next == 0 || next == '\n') {
					continue // passwords like to end so
				}
				return i
			}
			if (text[i] == '&' || text[i] == ',') && startsPair(text, i+1) {
				return i
			}
		case 0xE2, 0xE3, 0xD8: // marks of other scripts
			if r, _ := utf8.DecodeRuneInString(text[i:]); unicode.IsPunct(r) {
				return i
			}
		}
	}
	return i
}

// startsPair reports whether name= or name: begins at i.
func startsPair(text string, i int) bool {
	end := nameBytes.end(text, i)
	c := byteAt(text, end)
	return end > i && end-i < 40 && (c == '=' || c == ':')
}

// isTypeName reports whether a word is a type's name, as behind a colon in code.
func isTypeName(s string) bool {
	var buf [16]byte
	if len(s) > len(buf) {
		return false
	}
	switch string(appendFolded(buf[:0], s)) {
	case "string", "str", "bytes", "secretstr", "text", "varchar", "char", "optional[str]", "any", "object", "bool", "boolean", "int", "number", "none", "null", "undefined":
		return true
	}
	return false
}
