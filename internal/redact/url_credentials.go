package redact

import "strings"

// urlCredentials finds passwords in URLs (scheme://user:password@host, also cut
// off before its @; a token as the user; a password in the query), in the data
// source names of drivers (user:password@tcp(host), jdbc:oracle:thin:user/password@),
// in connection strings (Server=…;Password=…; host=… password=…) and in curl's
// -u user:password. The user's name stays. Not: ports, variables, placeholders.
var urlCredentials = detector{
	name: "url_credentials", label: "URL_CREDENTIALS", triggers: "@=", pairs: []string{":/", "-u", "-p"}, match: matchURLCredentials,
	normal: appendUnescaped,
}

// maxAuthority is how far the @ of a URL is looked for.
const maxAuthority = 512

func matchURLCredentials(in *input, floor, i int) (start, end int) {
	text := in.text
	switch text[i] {
	case '/':
		if byteAt(text, i+1) != '/' || !asciiAlnum(byteAt(text, i-2)) && byteAt(text, i-2) != '+' {
			return 0, 0
		}
		return matchUserInfo(text, floor, i+2)
	case '@':
		return matchDataSource(in, floor, i)
	case '=':
		return matchConnection(in, floor, i)
	}
	if text[i] == 'p' {
		return matchAttached(text, floor, i)
	}
	return matchOption(text, floor, i)
}

// matchUserInfo finds the password between :// and @.
func matchUserInfo(text string, floor, from int) (start, end int) {
	at, slash := -1, -1
	colon := -1
	i := from
	for ; i < len(text) && i-from < maxAuthority; i++ {
		c := text[i]
		switch {
		case c == '@':
			at = i
		case c == ':' && strings.HasPrefix(text[i:], "://"):
			i = len(text) // another URL
		case c == ':' && colon < 0 && at < 0:
			colon = i
		case c == '/' || c == '?' || c == '#':
			if slash < 0 {
				slash = i
			}
			if at >= 0 || colon < 0 || isPort(text[colon+1:slash]) || strings.HasPrefix(text[colon+1:], "//") {
				i = len(text) // the host is complete: nothing more to come
			}
		case c <= ' ' || strings.IndexByte("\"'`<>\\,|", c) >= 0 && (at >= 0 || colon < 0 || strings.IndexByte("\"'`\\<>", c) >= 0):
			i = len(text)
		}
		if i >= len(text) {
			break
		}
	}
	switch {
	case at >= 0 && colon >= 0:
		start, end = colon+1, at
		if isMadeUpUser(text[from:colon]) { // https://token:x-oauth-basic@host
			start = from
		}
	case at >= 0: // a token alone
		if t := traitsOf(text[from:at]); at-from < 16 || !t.random() {
			return 0, 0
		}
		start, end = from, at
	case colon >= 0 && slash < 0 && isCutAuthority(text, colon):
		start, end = colon+1, len(text)
	default:
		return 0, 0
	}
	if start < floor || start >= end || isReference(text[start:end]) || text[from] == '[' && isLabelled(text[from+1:]) {
		return 0, 0
	}
	return start, end
}

// isMadeUpUser reports whether the user's place in a URL holds a token.
func isMadeUpUser(s string) bool {
	if len(s) < 20 || isReference(s) {
		return false
	}
	t := traitsOf(s)
	return t.symbols+t.wide == 0 && t.random() && (t.turns >= 3 || t.humps >= len(s)/6)
}

// appendUnescaped appends a value with its percent-encoding undone: within a URL it
// is left, lest a password's marks be taken for the URL's.
func appendUnescaped(dst []byte, value string) []byte {
	for i := 0; i < len(value); {
		if value[i] == '%' {
			if r, n := spelledPercent(value[i:]); n > 0 {
				dst = appendSpelled(dst, r)
				i += n
				continue
			}
		}
		dst = append(dst, value[i])
		i++
	}
	return dst
}

// isPort reports whether a text is the number of a port.
func isPort(s string) bool { return len(s) <= 5 && (s == "" || isDigits(s)) }

// isCutAuthority reports whether a text ends within the password behind a colon: no
// port, no part of an address.
func isCutAuthority(text string, colon int) bool {
	rest := strings.TrimSuffix(strings.TrimSuffix(text[colon+1:], "…"), "...")
	if len(rest) < 2 || len(rest) > 128 || isPort(rest) || rest[0] == ':' {
		return false
	}
	for i := range len(rest) {
		if c := rest[i]; c <= ' ' || strings.IndexByte("\"'`<>()[]{},;", c) >= 0 {
			return false
		}
	}
	t := traitsOf(rest)
	return t.digits > 0 || t.symbols > 0 || t.upper > 0
}

// maxThin is how far before its @ a data source begins.
const maxThin = 160

// matchDataSource finds the password before @tcp(, @unix( and behind thin:user/.
func matchDataSource(in *input, floor, at int) (start, end int) {
	text := in.text
	rest := text[at+1:]
	start = at
	if strings.HasPrefix(rest, "tcp(") || strings.HasPrefix(rest, "unix(") || strings.HasPrefix(rest, "tcp6(") {
		for start > floor && at-start < 128 && text[start-1] > ' ' && text[start-1] != ':' && strings.IndexByte("\"'`", text[start-1]) < 0 {
			start--
		}
		if byteAt(text, start-1) != ':' || start == at || isReference(text[start:at]) {
			return 0, 0
		}
		return start, at
	}
	const thin = "thin:"
	if low := max(floor, at-maxThin, in.thinSought); low < at {
		if n := strings.LastIndex(text[low:at], thin); n >= 0 {
			in.thin = low + n + len(thin)
		}
		in.thinSought = at - len(thin) + 1
	}
	if in.thin-len(thin) >= max(floor, at-maxThin) && in.thin > 0 {
		user := text[in.thin:at]
		if slash := strings.IndexByte(user, '/'); slash > 0 && !strings.ContainsAny(user, " \t\n\"'") && !isReference(user[slash+1:]) && slash+1 < len(user) {
			return at - len(user) + slash + 1, at
		}
	}
	return 0, 0
}

func spanIf(start, end, least int) (int, int) {
	if end-start < least {
		return 0, 0
	}
	return start, end
}

// maxQuoted is the longest value in quotes.
const maxQuoted = 4096

// quotedEnd returns where a quoted value ends that begins at i: at the quote, at
// the end of the line or of the text.
func quotedEnd(text string, i int, quote byte) int {
	if quote == '{' {
		quote = '}'
	}
	for start := i; i < len(text) && text[i] != quote && text[i] != '\n' && text[i] != '\r' && i-start < maxQuoted; {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		i++
	}
	return min(i, len(text))
}

// matchOption finds the password in curl's -u user:password and --user.
func matchOption(text string, floor, i int) (start, end int) {
	if before := byteAt(text, i-2); before == '-' {
		if !strings.HasPrefix(text[i:], "user") {
			return 0, 0
		}
		i += len("user") - 1
	} else if i > 1 && before != ' ' {
		return 0, 0
	}
	at := i + 1
	if c := byteAt(text, at); c != ' ' && c != '=' && c != '"' && c != '\'' {
		return 0, 0
	}
	for at < len(text) && at < i+4 && strings.IndexByte(" ='\"", text[at]) >= 0 {
		at++
	}
	quote := text[at-1]
	for end = at; end < len(text) && end-at < maxAuthority && text[end] > ' ' && text[end] != quote && text[end] != '"' && text[end] != '\''; end++ {
		if text[end] == ':' && start == 0 {
			start = end + 1
		}
	}
	if start == 0 || start < floor || end-start < 2 || isReference(text[start:end]) || isDigits(text[at:start-1]) && isDigits(text[start:end]) {
		return 0, 0 // docker run -u 1000:1000
	}
	return start, end
}

// matchAttached finds the password in mysql's -pPassword and in sshpass -p.
func matchAttached(text string, floor, i int) (start, end int) {
	if byteAt(text, i-2) != ' ' {
		return 0, 0
	}
	window := text[max(0, i-64):i]
	start = i + 1
	switch {
	case strings.Contains(window, "sshpass"):
		if byteAt(text, start) == ' ' {
			start++
		}
	case !strings.Contains(window, "mysql") && !strings.Contains(window, "mariadb"):
		return 0, 0
	}
	if c := byteAt(text, start); c == '"' || c == '\'' {
		start++
	}
	end = start
	for end < len(text) && end-start < maxName && optionBytes[text[end]] {
		end++
	}
	if start < floor || end-start < 3 || isReference(text[start:end]) {
		return 0, 0
	}
	return start, end
}

// isReference reports whether a value says where a secret is, or that there was
// one, and is none: ${VAR}, $1, {{var}}, <password>, %s, ****, our placeholders.
func isReference(s string) bool {
	s = strings.Trim(s[:min(len(s), maxJudged)], `"'`)
	if s == "" {
		return true
	}
	switch s[0] {
	case '$', '{', '<', '[', '#':
		if s[0] != '$' && s[0] != '#' || len(s) > 1 && (s[1] == '{' || s[1] == '(' || isASCIILetter(s[1]) && isIdentifier(s[1:]) || len(s) <= 3 && isDigits(s[1:])) {
			return true
		}
	case '%':
		if len(s) <= 3 || s[len(s)-1] == '%' || s[1] == '(' || s[1] == '{' {
			return true
		}
	case ':':
		if isIdentifier(s[1:]) {
			return true
		}
	}
	masked := 0
	for i := range len(s) {
		switch s[i] {
		case '*', 'x', 'X', '.', '-', '_', '?':
			masked++
		}
	}
	if masked == len(s) || strings.Contains(s, "****") || strings.Contains(s, "•••") || strings.Contains(s, "{{") || strings.Contains(s, "${") {
		return true
	}
	for i := strings.IndexByte(s, '['); i >= 0; {
		if n := labelLen(s[i+1:]); n >= 2 && i+1+n < len(s) && (s[i+1+n] == ':' || s[i+1+n] == ']') {
			return true // a placeholder of ours, or one like it
		}
		next := strings.IndexByte(s[i+1:], '[')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return false
}

// isIdentifier reports whether a text is a name in code: letters, digits and _.
func isIdentifier(s string) bool {
	for i := range len(s) {
		if !asciiAlnum(s[i]) && s[i] != '_' {
			return false
		}
	}
	return s != "" && !isASCIIDigit(s[0])
}
