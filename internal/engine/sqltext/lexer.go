package sqltext

import "strings"

// tokenKind says what a token is, as far as splitting statements needs it.
type tokenKind uint8

const (
	tokenEnd    tokenKind = iota // behind the text
	tokenWord                    // a keyword, name or number, unquoted
	tokenQuoted                  // `name` or "name"
	tokenString                  // 'text'
	tokenPunct                   // one byte of anything else
)

// token is a piece of the text, at [start, end).
type token struct {
	kind       tokenKind
	start, end int
}

// lexer cuts a statement into tokens the way ClickHouse's own lexer does, and
// refuses what the two might read differently: text outside quotes that is not
// ASCII (ClickHouse takes some of it for blanks, quotes or a minus), heredocs,
// the vertical delimiter \G and control bytes.
type lexer struct {
	text string
	pos  int
}

func (l *lexer) next() (token, error) {
	if err := l.skipBlanks(); err != nil {
		return token{}, err
	}
	start := l.pos
	if start == len(l.text) {
		return token{kind: tokenEnd, start: start, end: start}, nil
	}
	switch c := l.text[start]; {
	case c == '\'':
		return l.quoted(c, tokenString)
	case c == '"' || c == '`':
		return l.quoted(c, tokenQuoted)
	case isWordByte(c):
		for l.pos < len(l.text) && isWordByte(l.text[l.pos]) {
			l.pos++
		}
		return token{kind: tokenWord, start: start, end: l.pos}, nil
	case c >= 0x80 || c < ' ' || c == 0x7f || c == '\\' || c == '$':
		return token{}, syntaxError(start, "unexpected %q outside quotes", c)
	default:
		l.pos++
		return token{kind: tokenPunct, start: start, end: l.pos}, nil
	}
}

// quoted reads to the closing quote. A backslash takes the byte after it along;
// a doubled quote is read as two adjacent tokens, which is the same to us.
func (l *lexer) quoted(quote byte, kind tokenKind) (token, error) {
	start := l.pos
	for l.pos++; l.pos < len(l.text); l.pos++ {
		switch l.text[l.pos] {
		case '\\':
			l.pos++
		case quote:
			l.pos++
			return token{kind: kind, start: start, end: l.pos}, nil
		}
	}
	l.pos = len(l.text)
	return token{}, syntaxError(start, "unclosed quote")
}

// skipBlanks passes over white space and comments.
func (l *lexer) skipBlanks() error {
	for l.pos < len(l.text) {
		rest := l.text[l.pos:]
		switch {
		case isBlank(rest[0]):
			l.pos++
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "# "), strings.HasPrefix(rest, "#!"):
			if end := strings.IndexByte(rest, '\n'); end >= 0 {
				l.pos += end + 1
			} else {
				l.pos = len(l.text)
			}
		case strings.HasPrefix(rest, "/*"):
			end := blockComment(rest)
			if end < 0 {
				return syntaxError(l.pos, "unclosed comment")
			}
			l.pos += end
		default:
			return nil
		}
	}
	return nil
}

// blockComment is the length of the comment that text starts with, -1 where it
// is not closed. Comments nest.
func blockComment(text string) int {
	depth := 0
	for i := 0; i+1 < len(text); {
		switch text[i : i+2] {
		case "/*":
			depth++
			i += 2
		case "*/":
			depth--
			i += 2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return -1
}

func isBlank(c byte) bool {
	return c == ' ' || (c >= '\t' && c <= '\r')
}

func isWordByte(c byte) bool {
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
}
