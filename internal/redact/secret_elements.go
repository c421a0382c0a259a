package redact

import "strings"

// Secrets in XML and HTML: as the text of an element whose name, attribute or
// neighbour names one.

const cdata = "<![CDATA["

// elementKind returns the kind of an element's name before its >.
func elementKind(text string, floor, i int) secretKind {
	name, at := nameBefore(text, floor, i)
	if name == "" || at <= floor {
		return noSecret
	}
	if quote := text[at-1]; (quote == '"' || quote == '\'') && byteAt(text, at-2) == '=' {
		return attributeKind(text, floor, i)
	}
	if text[at-1] != '<' || byteAt(text, at-2) == ':' { // a password in a URL that is only described
		return noSecret
	}
	if kind := kindOf(name); kind != noSecret || !isValueName(name) && !isAnyOf(name, "string", "td", "dd") {
		return kind
	}
	// <name>password</name> <value>
	low := max(floor, at-maxNeighbour)
	window := text[low : at-1]
	end := strings.LastIndex(window, "</")
	if end < 0 {
		return noSecret
	}
	open := strings.LastIndexByte(window[:end], '>')
	if open < 0 {
		return noSecret
	}
	if outer, _ := nameBefore(text, low, low+open); !isNameName(outer) && !isAnyOf(outer, "th", "dt") {
		return noSecret
	}
	return kindOf(strings.TrimSpace(window[open+1 : end]))
}

// attributeKind returns the kind that a tag's attribute says, of the tag whose >
// stands at i: <entry key="password">.
func attributeKind(text string, floor, i int) secretKind {
	tag := text[max(floor, i-maxNeighbour):i]
	tag = tag[strings.LastIndexByte(tag, '<')+1:]
	for _, attribute := range []string{" name=", " key=", " id="} {
		n := strings.Index(tag, attribute)
		if n < 0 {
			continue
		}
		value := tag[n+len(attribute):]
		if end := strings.IndexByte(value[1:], value[0]); end >= 0 {
			return kindOf(value[1 : end+1])
		}
	}
	return noSecret
}
