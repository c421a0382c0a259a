package redact

import "strings"

// The forms in which a name stands before its value but for name=value and
// name: value.

// optionKind returns the kind of a program's --option or -option, and where its value is.
func optionKind(text string, i int) (secretKind, int) {
	if byteAt(text, i-2) == '-' || !isASCIILetter(byteAt(text, i+1)) {
		return noSecret, 0
	}
	end := i + 1
	for end < len(text) && end-i < maxName && (asciiAlnum(text[end]) || text[end] == '-' || text[end] == '_') {
		end++
	}
	if byteAt(text, end) != ' ' || end == i+1 {
		return noSecret, 0
	}
	return kindOf(text[i+1 : end]), end + 1
}

// saidKind is the kind of password is …, seen at the w of password.
func saidKind(text string, i int) (secretKind, int) {
	const word = "password"
	if i < 4 || len(text) < i+4 || !strings.EqualFold(text[i-4:i+4], word) {
		return noSecret, 0
	}
	rest := text[i+4:]
	for _, verb := range []string{" is: ", " is ", " was ", " to ", " = ", " -> ", " → "} {
		if strings.HasPrefix(rest, verb) {
			return weakSecret, i + 4 + len(verb)
		}
	}
	if len(rest) > 1 && rest[0] == ' ' && asciiAlnum(rest[1]) { // of .netrc
		return strongSecret, i + 5
	}
	if strings.HasPrefix(rest, ` "`) || strings.HasPrefix(rest, " '") || strings.HasPrefix(rest, " `") {
		return weakSecret, i + 5
	}
	return noSecret, 0
}

// minItem is how long an item of a list must be; most begin with a shorter word.
const minItem = 8

// listKind is the kind of a list in YAML, seen at the dash of an item.
func listKind(text string, i int) secretKind {
	for k := i + 2; k < i+2+minItem; k++ {
		if byteAt(text, k) <= ' ' {
			return noSecret
		}
	}
	floor := max(0, i-2*maxNeighbour)
	line := i
	for line > floor && text[line-1] == ' ' {
		line--
	}
	for line > floor && text[line-1] == '\n' {
		line--
		start := floor + strings.LastIndexByte(text[floor:line], '\n') + 1
		above := strings.TrimLeft(text[start:line], " ")
		if strings.HasPrefix(above, "- ") {
			line = start
			continue
		}
		if strings.HasSuffix(above, ":") && nameBytes.end(above, 0) == len(above)-1 {
			return kindOf(above[:len(above)-1])
		}
		break
	}
	return noSecret
}

// maxWordEnd is how many letters of those words may follow the byte that they are
// seen at: edentials.
const maxWordEnd = 9

// isKind is the kind of API key is …, seen at a byte of key, token, secret,
// credential or passphrase.
func isKind(text string, floor, i int) (secretKind, int) {
	most := i + 1 + maxWordEnd
	for i++; i < min(len(text), most) && text[i]-'a' < 26; {
		i++
	}
	if i++; byteAt(text, i-1) != ' ' || byteAt(text, i) != 'i' || byteAt(text, i+1) != 's' {
		return noSecret, 0
	}
	from := i + 3
	switch rest := text[i:min(len(text), i+4)]; {
	case strings.HasPrefix(rest, "is: "):
		from++
	case !strings.HasPrefix(rest, "is "):
		return noSecret, 0
	}
	name, at := nameBefore(text, floor, i)
	if name == "" {
		return noSecret, 0
	}
	kind := kindOf(name)
	if before := wordBefore(text, floor, at); kind == noSecret && before != "" {
		kind = kindOf(text[at-1-len(before) : at+len(name)])
	}
	if kind != noSecret {
		kind = strongSecret // many things are said of a password
	}
	return kind, from
}

// wordBefore returns the name that ends before the blank at text[at-1].
func wordBefore(text string, floor, at int) string {
	if at-1 <= floor || text[at-1] != ' ' {
		return ""
	}
	start := at - 1
	for start > floor && at-start < maxPadding && nameBytes[text[start-1]] {
		start--
	}
	return text[start : at-1]
}

// setKind is the kind of a name with a blank behind it, as ENV API_KEY … and set
// aws_secret_access_key …, seen at the byte behind a _ in it.
func setKind(text string, floor, i int) (secretKind, int) {
	end := i
	for end < len(text) && end-i < maxPadding && wordBytes[text[end]] {
		end++
	}
	if byteAt(text, end) != ' ' || byteAt(text, end+1) <= ' ' {
		return noSecret, 0
	}
	start := i
	for start > floor && i-start < maxPadding && wordBytes[text[start-1]] {
		start--
	}
	if kindOf(text[start:end]) == noSecret {
		return noSecret, 0
	}
	return strongSecret, end + 1
}

// callKind is the kind of setPassword("…") and of key: Some("…"), seen at the quote.
func callKind(text string, floor, i int) secretKind {
	name, at := nameBefore(text, floor, i-1)
	if name == "" {
		return noSecret
	}
	kind := kindOf(name)
	if kind == noSecret && isAnyOf(name, "some", "secret", "secretstr", "from", "new") {
		for at > floor && text[at-1] == ' ' {
			at--
		}
		if c := byteAt(text, at-1); at > floor && (c == ':' || c == '=') {
			if outer, _ := nameBefore(text, floor, at-1); outer != "" {
				kind = kindOf(outer)
			}
		}
	}
	if kind != noSecret {
		kind = strongSecret
	}
	return kind
}

// argumentKind is the kind of ("password", "…"), seen at the first quote, and where
// the second argument is.
func argumentKind(text string, i int) (secretKind, int) {
	quote, end := text[i], nameBytes.end(text, i+1)
	if byteAt(text, end) != quote || byteAt(text, end+1) != ',' || end-i > maxPadding {
		return noSecret, 0
	}
	next := end + 2
	for byteAt(text, next) == ' ' && next < end+4 {
		next++
	}
	if byteAt(text, next) != quote || kindOf(text[i+1:end]) == noSecret {
		return noSecret, 0
	}
	return strongSecret, next
}

// kindOfBlock is the kind of a block's name: variable "password" { default = "…" }.
func kindOfBlock(text string, floor, at int) secretKind {
	const block = `variable "`
	window := text[max(floor, at-2*maxNeighbour):at]
	n := strings.LastIndex(window, block)
	if n < 0 {
		return noSecret
	}
	name, rest, _ := strings.Cut(window[n+len(block):], `"`)
	if strings.IndexByte(rest, '}') >= 0 {
		return noSecret
	}
	return kindOf(name)
}

// partKind is the kind of a form's part: name="password", an empty line, and the
// value.
func partKind(text string, from int) (secretKind, int) {
	if byteAt(text, from) != '"' {
		return noSecret, 0
	}
	name, rest, ok := strings.Cut(text[from+1:min(len(text), from+maxNeighbour)], `"`)
	if !ok {
		return noSecret, 0
	}
	line := len(rest) - len(strings.TrimLeft(rest, "\r\n"))
	if line < 2 || strings.Count(rest[:line], "\n") != 2 {
		return noSecret, 0
	}
	return kindOf(name), from + 1 + len(name) + 1 + line
}
