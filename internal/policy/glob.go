package policy

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxName is how much of a name that came from outside is matched, in bytes. Names are hostile; no tool has one that long.
const maxName = 1024

// glob is a compiled pattern: `*` stands for any text, also none; `?` for one character; everything else, in its case, for itself.
type glob struct {
	source     string
	head, tail string   // before the first and after the last `*`
	middle     []string // between them, none empty
	star       bool     // has a `*`
	single     bool     // has a `?`
}

func compileGlob(source string) glob {
	g := glob{source: source, single: strings.Contains(source, "?")}
	parts := strings.Split(source, "*")
	g.head = parts[0]
	if len(parts) == 1 {
		return g
	}
	g.star = true
	g.tail = parts[len(parts)-1]
	for _, p := range parts[1 : len(parts)-1] {
		if p != "" {
			g.middle = append(g.middle, p)
		}
	}
	return g
}

func (g *glob) exact() bool { return !g.star && !g.single }

func (g *glob) match(s string) bool {
	switch {
	case g.single:
		return matchSlow(g.source, s)
	case !g.star:
		return g.head == s
	case len(s) < len(g.head)+len(g.tail) || !strings.HasPrefix(s, g.head) || !strings.HasSuffix(s, g.tail):
		return false
	}
	s = s[len(g.head) : len(s)-len(g.tail)]
	for _, m := range g.middle {
		i := strings.Index(s, m)
		if i < 0 {
			return false
		}
		s = s[i+len(m):]
	}
	return true
}

// matchSlow matches patterns with `?`. It goes back to the latest `*` only, so its work is bounded by the product of the lengths.
func matchSlow(pattern, s string) bool {
	p, i := 0, 0
	star, mark := -1, 0
	for i < len(s) {
		_, width := utf8.DecodeRuneInString(s[i:])
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && pattern[p] == '?':
			p++
			i += width
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			_, step := utf8.DecodeRuneInString(s[mark:])
			mark += step
			p, i = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// index finds the first of many patterns that matches a name, without looking at all of them and without allocating.
type index struct {
	globs  []glob
	exact  map[string][]int // patterns without wildcard
	begins [256][]int       // patterns that begin with that byte
	ends   [256][]int       // patterns that begin with a wildcard and end with that byte
	open   []int            // patterns that begin and end with a wildcard
}

func newIndex(patterns []string) index {
	x := index{globs: make([]glob, len(patterns)), exact: make(map[string][]int)}
	for i, p := range patterns {
		g := compileGlob(p)
		x.globs[i] = g
		switch {
		case g.exact():
			x.exact[p] = append(x.exact[p], i)
		case !wildcard(p[0]):
			x.begins[p[0]] = append(x.begins[p[0]], i)
		case !wildcard(p[len(p)-1]):
			x.ends[p[len(p)-1]] = append(x.ends[p[len(p)-1]], i)
		default:
			x.open = append(x.open, i)
		}
	}
	return x
}

func wildcard(c byte) bool { return c == '*' || c == '?' }

// first is the place of the first pattern in [from, below) that matches, else below.
func (x *index) first(s string, from, below int) int {
	if at := x.exact[s]; len(at) > 0 {
		if i, _ := slices.BinarySearch(at, from); i < len(at) {
			below = min(below, at[i])
		}
	}
	if s != "" {
		below = x.scan(x.begins[s[0]], s, from, below)
		below = x.scan(x.ends[s[len(s)-1]], s, from, below)
	}
	return x.scan(x.open, s, from, below)
}

func (x *index) scan(list []int, s string, from, below int) int {
	i := 0
	if from > 0 {
		i, _ = slices.BinarySearch(list, from)
	}
	for ; i < len(list) && list[i] < below; i++ {
		g := &x.globs[list[i]]
		if (g.single || strings.HasPrefix(s, g.head)) && g.match(s) { // the look at the head saves most of the calls
			return list[i]
		}
	}
	return below
}

func cut(name string) string {
	if len(name) > maxName {
		return name[:maxName]
	}
	return name
}
