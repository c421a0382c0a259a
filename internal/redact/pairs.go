package redact

import "strings"

// pairState follows what names what in JSON two steps away: {"name": "password",
// "value": …}, in either order, and ["password", …].
type pairState struct {
	// kind is what the object's name member says of its value member.
	kind secretKind
	// listed: the name is on the key list.
	listed bool
	// first: the string before was the first of an array, or an option of a
	// program in one, and named so.
	first, option bool
	// outer is the kind of the object that begins next: {"token": {"value": …}}.
	outer secretKind
	// opened: an array began before this string.
	opened bool
}

// mark takes in what stands before a string.
func (p *pairState) mark(between string) {
	p.opened = false
	for i := len(between) - 1; i >= 0; i-- {
		switch between[i] {
		case '[':
			p.opened = i == len(between)-1 || strings.TrimSpace(between[i+1:]) == ""
			p.clear()
			return
		case '{':
			outer := p.outer
			p.clear()
			p.kind = outer
			return
		case '}', ']':
			p.clear()
			return
		}
	}
}

func (p *pairState) clear() {
	p.kind, p.outer, p.listed, p.first, p.option = noSecret, noSecret, false, false, false
}

// enters takes in that an object follows: its value is that of the name it stands
// under.
func (p *pairState) enters(under caption) {
	if p.outer = under.kind; p.outer == noSecret && under.value {
		p.outer = p.kind
	}
}

// by is who found the value that goes.
func (p *pairState) by(t *Tenant) int {
	if p.listed {
		p.listed = false
		return t.secrets()
	}
	return t.r.secretValue
}

// named takes in a string that names something.
func (p *pairState) named(t *Tenant, name string) bool {
	if len(name) < 2 || len(name) > 64 {
		return false
	}
	name = plainName(name)
	listed, kind := t.r.keys.match(name), t.r.kindOf(name)
	if !listed && kind == noSecret {
		return false // "type": "string" says nothing
	}
	p.listed, p.kind = listed, kind
	return true
}

// secret reports whether the value at an index, of the member under, is a secret for
// what another member of its object says.
func (p *pairState) secret(t *Tenant, s string, under caption, value int) bool {
	if !under.value || value >= len(s) {
		return false
	}
	if !p.listed && p.kind == noSecret && !p.ahead(t, s, value) {
		return false
	}
	return p.goes(s, value)
}

// goes reports whether the value at an index goes: any under a listed name, else
// one that is made up.
func (p *pairState) goes(s string, value int) bool {
	kind := p.kind
	if s[value] != '{' { // an object is entered
		p.kind = noSecret
	}
	if p.listed {
		return true
	}
	if s[value] != '"' {
		return false
	}
	end, _ := stringEnd(s, value+1)
	if end < 0 {
		end = len(s)
	}
	return isSecret(s[value+1:end], kind)
}

// maxAhead is how far behind a value its name is looked for.
const maxAhead = 160

// ahead looks for the name behind a value.
func (p *pairState) ahead(t *Tenant, s string, value int) bool {
	if s[value] != '"' {
		return false
	}
	at, _ := stringEnd(s, value+1)
	if at < 0 {
		return false
	}
	limit := min(len(s), at+maxAhead)
	for at++; at < limit; {
		open := nextQuote(s[:limit], at)
		if open == limit || strings.ContainsAny(s[at:open], "{}[]") {
			return false
		}
		end, _ := stringEnd(s[:limit], open+1)
		if end < 0 {
			return false
		}
		name := s[open+1 : end]
		at = end + 1
		if !isNameName(name) {
			continue
		}
		open = nextQuote(s[:limit], at)
		if open == limit || strings.Trim(s[at:open], ": \t\r\n") != "" {
			continue
		}
		if end, _ = stringEnd(s[:limit], open+1); end < 0 {
			return false
		}
		return p.named(t, s[open+1:end])
	}
	return false
}

// value takes in a string that is no name of a member, and reports whether it goes
// for what stands before it in its array.
func (p *pairState) value(t *Tenant, s string, under caption, open, end int) bool {
	if p.first {
		p.first = false
		next := skipSpace(s, end+1)
		if next < len(s) && s[next] == ']' || p.option {
			return p.goes(s, open)
		}
	}
	p.option = false
	text := s[open+1 : end]
	if len(text) > 2 && text[0] == '-' && strings.IndexByte(text, '=') < 0 {
		p.option = p.named(t, strings.TrimLeft(text, "-"))
		p.first = p.option
		return false
	}
	switch {
	case p.opened:
		p.first = p.named(t, text)
	case under.names:
		p.named(t, text)
	}
	return false
}
