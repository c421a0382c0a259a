package redact

import (
	"errors"
	"strings"
)

// keyList holds the globs on names whose values are removed. A glob and a name
// are compared in lower case with - as _; a name also with its words split at
// capitals, and by its last part behind a dot or slash.
type keyList struct {
	exact map[string]struct{}
	globs []string
}

func (k *keyList) add(glob string) error {
	glob = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(glob)), "-", "_")
	if strings.Trim(glob, "*") == "" {
		return errors.New("a name of nothing but * would remove every value")
	}
	if !strings.Contains(glob, "*") {
		if k.exact == nil {
			k.exact = map[string]struct{}{}
		}
		k.exact[glob] = struct{}{}
		return nil
	}
	k.globs = append(k.globs, glob)
	return nil
}

// maxKey is the longest name that is compared; beyond it no one lists names.
const maxKey = 128

// match reports whether a name is listed.
func (k *keyList) match(name string) bool {
	if len(k.exact) == 0 && len(k.globs) == 0 || name == "" || len(name) > maxKey {
		return false
	}
	var buf [2 * maxKey]byte
	lower, split := buf[:0], false
	for i := range len(name) {
		c := name[i]
		switch {
		case c-'A' < 26:
			split = split || i > 0 && name[i-1]-'a' < 26
			c |= 0x20
		case c == '-':
			c = '_'
		}
		lower = append(lower, c)
	}
	if k.listed(lower) {
		return true
	}
	if !split {
		return false
	}
	words := buf[:0]
	for i := range len(name) {
		c := name[i]
		switch {
		case c-'A' < 26:
			if i > 0 && name[i-1]-'a' < 26 {
				words = append(words, '_')
			}
			c |= 0x20
		case c == '-':
			c = '_'
		}
		words = append(words, c)
	}
	return k.listed(words)
}

// listed looks a prepared name up, whole and by its last part.
func (k *keyList) listed(name []byte) bool {
	if k.has(name) {
		return true
	}
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' || name[i] == '/' {
			return i+1 < len(name) && k.has(name[i+1:])
		}
	}
	return false
}

func (k *keyList) has(name []byte) bool {
	if _, ok := k.exact[string(name)]; ok {
		return true
	}
	for _, glob := range k.globs {
		if globMatch(glob, name) {
			return true
		}
	}
	return false
}

// globMatch matches a pattern in which * is any text. It goes back to the last *
// only, which is enough.
func globMatch(glob string, name []byte) bool {
	g, n, star, from := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case g < len(glob) && glob[g] == '*':
			star, from = g, n
			g++
		case g < len(glob) && glob[g] == name[n]:
			g++
			n++
		case star >= 0:
			from++
			g, n = star+1, from
		default:
			return false
		}
	}
	for g < len(glob) && glob[g] == '*' {
		g++
	}
	return g == len(glob)
}
