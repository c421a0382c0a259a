package redact

import "strings"

// matchConnection finds the value behind password= in a query or a connection
// string.
func matchConnection(in *input, floor, i int) (start, end int) {
	text := in.text
	name, from := nameBefore(text, floor, i)
	if name == "" || byteAt(text, i+1) == '=' || !isConnectionPassword(name) {
		if before := byteAt(text, i-4); strings.HasSuffix(text[:i], "sig") && (before == '&' || before == '?') {
			if start, end = spanIf(i+1, in.end(queryBytes, i+1), 20); isReference(text[start:end]) {
				return 0, 0
			}
			return start, end
		}
		return 0, 0
	}
	before := byteAt(text, from-1)
	start = i + 1
	for start < len(text) && text[start] == ' ' && start < i+3 {
		start++
	}
	quote := byteAt(text, start)
	switch {
	case (before == '?' || before == '&') && start == i+1:
		end = in.end(queryBytes, start)
	case !in.isConnection(from, i):
		return 0, 0
	case quote == '\'' || quote == '"' || quote == '{':
		start++
		end = quotedEnd(text, start, quote)
	default:
		end = in.end(optionBytes, start)
		if end > start && text[end-1] == ',' { // {user=ann, password=…, …}
			end--
		}
	}
	if value := text[start:max(start, end)]; start < floor || value == "" || isReference(value) || isTypeName(value) ||
		strings.EqualFold(name, "pass") && len(value) < 6 && isDigits(value) { // pass=12 fail=3
		return 0, 0
	}
	return start, end
}

// isConnectionPassword reports whether a name is one of passwords in queries and
// connection strings.
func isConnectionPassword(name string) bool {
	switch kindOf(name) {
	case weakSecret:
		return true
	case strongSecret:
		return endsFold(name, "accountkey") || endsFold(name, "accesskey") || endsFold(name, "sharedsecret")
	}
	return false
}

// connectionNames are names beside the password of a connection string.
var connectionNames = newVocabulary("server source datasource host hostaddr id userid uid user username dbname database databasename catalog accountname " +
	"endpoint sharedaccesskeyname port driver addr address dsn sslmode")

// connection is what was said of the text around an index.
type connection struct {
	at  int
	yes bool
}

// How far around a name other names are looked for, and how far what was found
// holds.
const (
	connectionReach = 256
	connectionHolds = 128
)

// isConnection reports whether the text around a name, whose = stands at i, holds
// another name of a connection string, on its line.
func (in *input) isConnection(from, i int) bool {
	c := &in.connected
	if c.at > 0 && i-c.at < connectionHolds && i >= c.at && strings.IndexByte(in.text[c.at:i], '\n') < 0 {
		return c.yes
	}
	*c = connection{at: i, yes: namesConnection(in.text, from, i)}
	return c.yes
}

func namesConnection(text string, from, i int) bool {
	start, end := max(0, from-connectionReach), min(len(text), i+connectionReach)
	if n := strings.LastIndexByte(text[start:from], '\n'); n >= 0 {
		start += n + 1
	}
	if n := strings.IndexByte(text[i:end], '\n'); n >= 0 {
		end = i + n
	}
	var buf [24]byte
	for at := start; at < end; at++ {
		if text[at] != '=' || at == i || byteAt(text, at+1) == '"' && text[at-min(at, 2):at] == "id" { // of an element
			continue
		}
		stop := at
		for stop > start && text[stop-1] == ' ' {
			stop--
		}
		word := buf[:0]
		begin := stop
		for begin > start && isASCIILetter(text[begin-1]) && stop-begin < len(buf) {
			begin--
		}
		for _, c := range bytesOf(text[begin:stop]) {
			word = append(word, c|0x20)
		}
		if before := byteAt(text, begin-1); before != '-' && before != '_' && connectionNames.has(word, false) {
			if string(word) != "id" && string(word) != "source" || before == ' ' && isASCIILetter(byteAt(text, begin-2)) {
				return true // User Id, Data Source
			}
		}
	}
	return false
}
