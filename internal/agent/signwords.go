package agent

import (
	"encoding/json"
	"strings"
)

// lostWords are signs of a lost answer: what was asked may have happened.
var lostWords = [...]string{
	"timeout", "timed out", "time out", "etimedout", "took too long", "deadline", "cancelled", "canceled", "cancellation", "abort",
	"connection reset", "reset by peer", "econnreset", "connection lost", "lost connection", "connection closed", "connection was closed",
	"connection was lost", "socket hang up", "broken pipe", "epipe", "server disconnected", "remote end closed",
	"no answer", "did not answer", "no response", "did not respond",
	"bad gateway", "service unavailable", "internal server error",
}

// rejectWords are the words of a rejection: certainly not applied.
var rejectWords = [...]string{
	"validation", "invalid", "must be", "missing", "required", "schema", "forbidden", "denied", "not allowed",
	"not found", "no such", "does not exist", "already exists", "syntax error", "failed to apply", "rolled back", "deadlock",
	"circuit open", "circuit breaker open", "circuit breaker is open", "not sent", "rate limit", "too many requests", "quota",
	"too long", "too large", "context length",
	"connection refused", "econnrefused",
	"enotfound", "getaddrinfo", "name or service not known", "name resolution", "could not resolve", "eai again", "dns",
	"tls handshake", "ssl handshake", "certificate verify failed",
}

// wordSign finds the first kind of sign that a normalised error text has. Words
// in own are of the call's name and do not count.
func wordSign(text string, own []string, exitCodes bool) Sign {
	if text == "" {
		return SignNone
	}
	code := codeInText(text)
	if code == 408 || code == 425 || code >= 500 {
		return SignLost
	}
	for _, w := range lostWords {
		if hasWord(text, w, own) {
			return SignLost
		}
	}
	if exitCodes {
		if n, ok := exitCode(text); ok && n != 0 {
			switch n {
			case 124, 137, 143: // timeout(1), SIGKILL, SIGTERM
				return SignLost
			}
			return SignRejected
		}
	}
	if code >= 400 {
		return SignRejected
	}
	for _, w := range &rejectWords {
		if hasWord(text, w, own) {
			return SignRejected
		}
	}
	if noneFound(text) {
		return SignRejected
	}
	return SignNone
}

// hasWord looks for a word at the start of a word of the text.
func hasWord(text, word string, own []string) bool {
	for _, o := range own {
		if strings.HasPrefix(word, o) {
			return false
		}
	}
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		if (i == 0 || !isLetter(text[i-1])) && !negated(text[:i], word) {
			return true
		}
		from = i + len(word)
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' }

// negated: the words before it turn the sign around.
func negated(before, word string) bool {
	switch word {
	case "cancelled", "canceled", "abort":
		for _, w := range [...]string{"already ", "already been ", "not be ", "n't be "} {
			if strings.HasSuffix(before, w) {
				return true
			}
		}
	case "too long":
		return strings.HasSuffix(before, "took ")
	}
	return false
}

// noneFound: "no … found" within one sentence.
func noneFound(text string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], "no ")
		if i < 0 {
			return false
		}
		i += from
		from = i + 3
		if i > 0 && isLetter(text[i-1]) {
			continue
		}
		rest := text[from:]
		if end := strings.IndexAny(rest, ".;\n"); end >= 0 {
			rest = rest[:end]
		}
		if len(rest) > 100 {
			rest = rest[:100]
		}
		if strings.Contains(rest, " found") {
			return true
		}
	}
}

// codeInText reads an HTTP status that an error text names as one; 0 if none.
func codeInText(text string) int {
	for _, w := range [...]string{"status code ", "http ", "http status ", "http error ", "status: ", "status code: "} {
		if i := strings.Index(text, w); i >= 0 && (i == 0 || !isLetter(text[i-1])) {
			d := text[i+len(w):]
			if len(d) >= 3 && d[0] >= '4' && d[0] <= '5' && isDigit(d[1]) && isDigit(d[2]) && (len(d) == 3 || !isDigit(d[3])) {
				return int(d[0]-'0')*100 + int(d[1]-'0')*10 + int(d[2]-'0')
			}
		}
	}
	return 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// exitCode reads the number after "exit code" or "exit status".
func exitCode(text string) (int, bool) {
	for _, w := range [...]string{"exit code", "exit status", "exited with code", "exited with status"} {
		_, after, found := strings.Cut(text, w)
		if !found {
			continue
		}
		d := strings.TrimLeft(after, " :=")
		n, digits := 0, 0
		for digits < len(d) && digits < 6 && isDigit(d[digits]) {
			n = 10*n + int(d[digits]-'0')
			digits++
		}
		if digits > 0 {
			return n, true
		}
	}
	return 0, false
}

// plain lower-cases a text and reads _ as a space.
func plain(s string) string {
	return strings.ReplaceAll(strings.ToLower(s), "_", " ")
}

// spaced is plain for a class name: NotFoundError reads "not found error".
func spaced(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if i > 0 && c >= 'A' && c <= 'Z' && (s[i-1] >= 'a' && s[i-1] <= 'z' || i+1 < len(s) && s[i+1] >= 'a' && s[i+1] <= 'z' && s[i-1] != ' ') {
			out.WriteByte(' ')
		}
		out.WriteByte(c)
	}
	return plain(out.String())
}

// withoutTrace cuts a stack trace off: from Traceback, or at the first line
// that starts with "at ".
func withoutTrace(s string) string {
	if i := strings.Index(s, "Traceback"); i >= 0 {
		s = s[:i]
	}
	for from := 0; from < len(s); {
		line := s[from:]
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), "at ") && from > 0 {
			return s[:from]
		}
		i := strings.IndexByte(line, '\n')
		if i < 0 {
			break
		}
		from += i + 1
	}
	return s
}

// ownWords are the words of a tool's name, which an error may repeat.
func ownWords(tool string) []string {
	if tool == "" {
		return nil
	}
	var own []string
	for _, w := range strings.FieldsFunc(spaced(tool), func(r rune) bool { return r == ' ' || r == '-' || r == '.' || r == '/' || r == ':' }) {
		if len(w) > 3 {
			own = append(own, w)
		}
	}
	return own
}

// maxArguments bounds how much of a call's arguments is looked up in its error.
const maxArguments = 64 << 10

// withoutCall takes out of an error what repeats the call's arguments: their
// string values, and their names where they stand in quotes.
func withoutCall(text, tool, arguments string) string {
	if tool != "" {
		text = strings.ReplaceAll(text, tool, " ")
	}
	if text == "" || arguments == "" || len(arguments) > maxArguments {
		return text
	}
	d := json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber()
	type open struct{ object, value bool }
	var stack []open
	for range 1000 {
		t, err := d.Token()
		if err != nil {
			break
		}
		top := len(stack) - 1
		isName := top >= 0 && stack[top].object && !stack[top].value
		switch t := t.(type) {
		case json.Delim:
			if t == '}' || t == ']' {
				stack = stack[:top]
			} else {
				stack = append(stack, open{object: t == '{'})
				if top >= 0 {
					stack[top].value = false
				}
				continue
			}
			if top = len(stack) - 1; top >= 0 {
				stack[top].value = false
			}
			continue
		case string:
			switch {
			case isName && len(t) > 2:
				for _, q := range [...]string{"'", `"`, "`"} {
					text = strings.ReplaceAll(text, q+t+q, " ")
				}
			case !isName && len(t) > 3:
				text = strings.ReplaceAll(text, t, " ")
			}
		}
		if top >= 0 {
			stack[top].value = isName
		}
	}
	return text
}
