package policy

import (
	"errors"
	"fmt"
	"strings"
)

// MaxExpanded is the longest text that a template gives, in bytes. What would be longer gives nothing: a cut target or key would be
// that of another thing.
const MaxExpanded = 1024

// maxDepth bounds the parts of one path in a template.
const maxDepth = 16

// Template makes a target or an idempotency key of a call's arguments: "order/{order_id}". {a.b} is b inside a; {{ and }} are braces.
// It does not change after Parse.
type Template struct {
	source string
	parts  []part
}

// part is a literal, then an argument. Only the last may have no path.
type part struct {
	literal string
	path    []string
}

// String is the template as written. It may be called on nil.
func (t *Template) String() string {
	if t == nil {
		return ""
	}
	return t.source
}

// Expand appends the text to dst. lookup gives the argument at a path, as text, and whether it is there and a scalar; it must not
// keep or change the path. Where an argument is absent or empty, or the text would be longer than MaxExpanded, nothing is made: dst
// comes back as it was, with false. So it does for a nil template.
func (t *Template) Expand(dst []byte, lookup func(path []string) (string, bool)) ([]byte, bool) {
	if t == nil {
		return dst, false
	}
	start := len(dst)
	for _, p := range t.parts {
		dst = append(dst, p.literal...)
		if p.path != nil {
			value, ok := lookup(p.path)
			if !ok || value == "" || len(dst)-start+len(value) > MaxExpanded {
				return dst[:start], false
			}
			dst = append(dst, value...)
		}
	}
	if len(dst)-start > MaxExpanded {
		return dst[:start], false
	}
	return dst, true
}

// compileTemplate reads a template. An error names the position in characters, from 1.
func compileTemplate(source string) (*Template, error) {
	t := &Template{source: source}
	var literal strings.Builder
	for rest := source; rest != ""; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			literal.WriteString(rest)
			break
		}
		literal.WriteString(rest[:i])
		at := len([]rune(source[:len(source)-len(rest)+i])) + 1
		rest = rest[i:]
		switch {
		case strings.HasPrefix(rest, "{{") || strings.HasPrefix(rest, "}}"):
			literal.WriteByte(rest[0])
			rest = rest[2:]
		case rest[0] == '}':
			return nil, fmt.Errorf("} at character %d closes nothing; write }} for a brace", at)
		default:
			inner, after, closed := strings.Cut(rest[1:], "}")
			if !closed {
				return nil, fmt.Errorf("{ at character %d is not closed; write {{ for a brace", at)
			}
			path, err := compilePath(inner)
			if err != nil {
				return nil, fmt.Errorf("the argument at character %d: %w", at, err)
			}
			t.parts = append(t.parts, part{literal: literal.String(), path: path})
			literal.Reset()
			rest = after
		}
	}
	if literal.Len() > 0 {
		t.parts = append(t.parts, part{literal: literal.String()})
	}
	return t, nil
}

func compilePath(inner string) ([]string, error) {
	path := strings.Split(inner, ".")
	if len(path) > maxDepth {
		return nil, fmt.Errorf("has %d parts, at most %d are allowed", len(path), maxDepth)
	}
	for _, p := range path {
		if strings.TrimSpace(p) != p || p == "" || strings.Contains(p, "{") {
			return nil, errors.New("it has no name; write names with dots for depth, as in {order.id}")
		}
	}
	return path, nil
}

// hasArgument tells whether the text depends on the call at all.
func (t *Template) hasArgument() bool {
	for _, p := range t.parts {
		if p.path != nil {
			return true
		}
	}
	return false
}
