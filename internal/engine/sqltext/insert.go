package sqltext

import "strings"

// errNestedData refuses INSERT … SELECT … FROM input(…) FORMAT … and the like,
// whose data would have to stand in the text of the query.
var errNestedData = &Error{Code: CodeUnsupported, Message: "an INSERT cannot have both a SELECT and data (quote a column named format)"}

// insert reads an INSERT up to the word that decides its form.
func (p *parser) insert() (Statement, error) {
	for p.tok.kind != tokenEnd {
		switch {
		case p.isPunct(p.tok, ';'):
			end := p.tok.start
			return Statement{Kind: InsertData, Text: p.text[:end]}, p.nothingAfter()
		case p.depth == 1 && p.isPunct(p.prev, '(') && p.keyword("SELECT", "WITH"):
			return p.insertSelect()
		case p.depth > 0:
		case p.keyword("INFILE"):
			return Statement{}, &Error{Code: CodeAccessDenied, Message: "Not enough privileges: FROM INFILE is not allowed"}
		case p.keyword("VALUES"):
			return p.values()
		case p.keyword("FORMAT"):
			return p.insertFormat()
		case p.keyword("SELECT", "WITH", "WATCH"), p.keyword("FROM") && !p.followedBy("INFILE"):
			return p.insertSelect()
		}
		if err := p.advance(); err != nil {
			return Statement{}, err
		}
	}
	if p.depth != 0 {
		return Statement{}, syntaxError(p.tok.start, "unmatched parentheses")
	}
	return Statement{Kind: InsertData, Text: p.text}, nil
}

// followedBy looks one token ahead.
func (p *parser) followedBy(keyword string) bool {
	ahead := p.lexer
	tok, err := ahead.next()
	return err == nil && p.is(tok, keyword)
}

// insertSelect reads INSERT … SELECT, which must hold no data: FORMAT would
// begin it.
func (p *parser) insertSelect() (Statement, error) {
	_, end, err := p.rest(func() error {
		if p.depth == 0 && p.tok.kind == tokenWord && p.is(p.prev, "FORMAT") {
			return errNestedData
		}
		return nil
	})
	if err != nil {
		return Statement{}, err
	}
	return Statement{Kind: Other, Text: p.text[:end]}, nil
}

// values checks that what follows VALUES is a list of tuples and nothing else.
// Such a statement is run as it stands: blank lines inside its literals are
// safe, and behind the last tuple there is nothing that could be run as SQL.
func (p *parser) values() (Statement, error) {
	tuples := 0
	for {
		if err := p.advance(); err != nil {
			return Statement{}, err
		}
		switch {
		case p.tok.kind == tokenEnd || p.isPunct(p.tok, ';'):
			end := p.tok.start
			if p.depth != 0 {
				return Statement{}, syntaxError(end, "unmatched parentheses")
			}
			if err := p.nothingAfter(); err != nil {
				return Statement{}, err
			}
			if tuples == 0 { // the tuples are in the body of the request
				return Statement{Kind: InsertData, Text: p.text[:end], Format: "Values"}, nil
			}
			return Statement{Kind: Other, Text: p.text[:end]}, nil
		case p.depth > 0 || p.isPunct(p.tok, ')') || p.isPunct(p.tok, ','):
			if p.depth == 1 && p.isPunct(p.tok, '(') {
				tuples++
			}
		default:
			return Statement{}, syntaxError(p.tok.start, "expected a list of tuples after VALUES")
		}
	}
}

// insertFormat splits the statement from the data behind FORMAT name.
func (p *parser) insertFormat() (Statement, error) {
	end := p.tok.start
	if err := p.advance(); err != nil {
		return Statement{}, err
	}
	if p.tok.kind != tokenWord {
		return Statement{}, syntaxError(p.tok.start, "expected the name of a format")
	}
	s := Statement{Kind: InsertData, Text: p.text[:end], Format: p.text[p.tok.start:p.tok.end]}
	data := strings.TrimLeft(p.text[p.tok.end:], " \t\r")
	data = strings.TrimPrefix(data, "\n")
	if strings.Trim(data, "; \t\r\n") != "" {
		s.Data = data
	}
	return s, nil
}
