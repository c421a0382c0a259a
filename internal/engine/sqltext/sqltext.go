// Package sqltext reads just enough of a ClickHouse statement to run it safely
// on the embedded engine: is it one statement, does it select or insert, and
// where does the data of an INSERT begin.
//
// The engine itself runs every statement that a text holds, and takes data for
// SQL from the first blank line on; it opens any file and address its process
// can. So what cannot be told for certain is refused. The checks are a second
// line of defence: text from outside must not become SQL in the first place.
//
// text → tokens → Statement. No I/O; work is linear in the length of the text.
package sqltext

import (
	"fmt"
	"strings"
)

// Codes of ClickHouse that Parse answers with.
const (
	CodeSyntax       = 62  // SYNTAX_ERROR
	CodeAccessDenied = 497 // ACCESS_DENIED
	CodeOutfile      = 358 // INTO_OUTFILE_NOT_ALLOWED
	CodeUnsupported  = 48  // NOT_IMPLEMENTED
)

// Error is a refusal, worded and numbered as a server's would be.
type Error struct {
	Code    int
	Message string
}

func (e *Error) Error() string { return e.Message }

func syntaxError(pos int, format string, args ...any) *Error {
	return &Error{Code: CodeSyntax, Message: fmt.Sprintf("Syntax error: failed at position %d: ", pos+1) + fmt.Sprintf(format, args...)}
}

// Kind says how a statement has to be run.
type Kind uint8

const (
	// Other statements are run as they stand and answer with little.
	Other Kind = iota
	// Select statements have a result of any size.
	Select
	// InsertData is an INSERT whose rows are data in some format.
	InsertData
)

// Statement is one statement, read.
type Statement struct {
	Kind Kind
	// Text is the statement without a closing semicolon; of InsertData only
	// the part before FORMAT.
	Text string
	// Format is what a FORMAT clause names, empty without one. InsertData
	// without one reads Values.
	Format string
	// Data is what follows the FORMAT clause of InsertData in the same text.
	Data string
}

// Parse reads the one statement in text. It answers with an *Error where there
// are several, none, or one that the engine must not run.
func Parse(text string) (Statement, error) {
	p := parser{lexer: lexer{text: text}}
	if err := p.advance(); err != nil {
		return Statement{}, err
	}
	return p.statement()
}

// parser holds the current token and the two before it.
type parser struct {
	lexer
	tok, prev, prev2 token
	depth            int // of round, square and curly brackets
}

// advance steps to the next token and refuses what no statement may hold.
func (p *parser) advance() error {
	tok, err := p.next()
	if err != nil {
		return err
	}
	p.prev2, p.prev, p.tok = p.prev, p.tok, tok
	switch tok.kind {
	case tokenPunct:
		return p.punct(p.text[tok.start])
	case tokenQuoted:
		return checkName(p.text[tok.start+1 : tok.end-1])
	case tokenWord:
		if p.is(p.prev, "INTO") && p.keyword("OUTFILE") {
			return &Error{Code: CodeOutfile, Message: "INTO OUTFILE is not allowed"}
		}
	}
	return nil
}

func (p *parser) punct(c byte) error {
	switch c {
	case '(':
		p.depth++
		// Behind a dot it is a table of that name with its columns.
		if (p.prev.kind == tokenWord || p.prev.kind == tokenQuoted) && !p.isPunct(p.prev2, '.') && reachesOut(p.bare(p.prev)) {
			return &Error{Code: CodeAccessDenied, Message: fmt.Sprintf(
				"Not enough privileges: %s reads or writes outside the engine", p.bare(p.prev))}
		}
	case '[', '{':
		p.depth++
	case ')', ']', '}':
		if p.depth--; p.depth < 0 {
			return syntaxError(p.tok.start, "unmatched %q", c)
		}
	}
	return nil
}

func (p *parser) bare(t token) string { return strings.Trim(p.text[t.start:t.end], "`\"") }

// is reports whether t is the given keyword, in any case.
func (p *parser) is(t token, keyword string) bool {
	return t.kind == tokenWord && strings.EqualFold(p.text[t.start:t.end], keyword)
}

// keyword reports whether the current token is one of the keywords, and not the
// name behind a dot.
func (p *parser) keyword(keywords ...string) bool {
	if p.tok.kind != tokenWord || p.isPunct(p.prev, '.') {
		return false
	}
	for _, k := range keywords {
		if p.is(p.tok, k) {
			return true
		}
	}
	return false
}

func (p *parser) isPunct(t token, c byte) bool { return t.kind == tokenPunct && p.text[t.start] == c }

func (p *parser) statement() (Statement, error) {
	first := p.tok
	switch {
	case first.kind == tokenEnd, p.isPunct(first, ';'):
		return Statement{}, syntaxError(0, "empty query")
	case p.keyword("INSERT"):
		return p.insert()
	case p.keyword("SELECT", "WITH", "FROM") || p.isPunct(first, '('):
		return p.selection()
	}
	return p.other()
}

// selection reads a SELECT. WITH may also introduce an INSERT … SELECT.
func (p *parser) selection() (Statement, error) {
	s := Statement{Kind: Select}
	format, end, err := p.rest(func() error {
		if p.depth == 0 && p.keyword("INSERT") {
			s.Kind = Other
		}
		return nil
	})
	if err != nil {
		return Statement{}, err
	}
	s.Text, s.Format = p.text[:end], format
	return s, nil
}

// rest reads on to the end of the statement, showing each token to see. It
// returns the format that a closing clause names, and where the text ends. An
// INSERT with data inside another statement is refused: where such data ends,
// the engine would go on with SQL.
func (p *parser) rest(see func() error) (format string, end int, err error) {
	inserts := false
	for p.tok.kind != tokenEnd && !p.isPunct(p.tok, ';') {
		if err := see(); err != nil {
			return "", 0, err
		}
		switch {
		case p.keyword("INSERT"):
			inserts = true
		case inserts && p.keyword("FORMAT", "VALUES", "INFILE"):
			return "", 0, errNestedData
		case p.depth == 0 && p.tok.kind == tokenWord && p.is(p.prev, "FORMAT") && !p.isPunct(p.prev2, '.'):
			format = p.text[p.tok.start:p.tok.end]
		case !p.keyword("SETTINGS") && p.is(p.prev2, "FORMAT"):
			format = "" // it was a column of that name
		}
		if err := p.advance(); err != nil {
			return "", 0, err
		}
	}
	end = p.tok.start
	return format, end, p.nothingAfter()
}

// nothingAfter checks that only blanks, comments and semicolons follow.
func (p *parser) nothingAfter() error {
	if p.depth != 0 {
		return syntaxError(p.tok.start, "unmatched parentheses")
	}
	for p.isPunct(p.tok, ';') {
		if err := p.advance(); err != nil {
			return err
		}
	}
	if p.tok.kind != tokenEnd {
		return &Error{Code: CodeSyntax, Message: fmt.Sprintf(
			"Syntax error (Multi-statements are not allowed): failed at position %d (end of query)", p.tok.start+1)}
	}
	return nil
}
