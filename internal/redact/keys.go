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
	// ends has a bit for each pair of bytes in which a listed name can end; most
	// names are none after one look.
	ends [1024]uint64
}

func (k *keyList) add(glob string) error {
	glob = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(glob)), "-", "_")
	if strings.Trim(glob, "*") == "" {
		return errors.New("a name of nothing but * would remove every value")
	}
	k.addEnd(glob)
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

// addEnd marks the ends of the names that a glob matches.
func (k *keyList) addEnd(glob string) {
	last := glob[len(glob)-1]
	var before byte
	every := len(glob) < 2
	if !every {
		before = glob[len(glob)-2]
		every = before == '*' || before == '_' // _ may be where clientSecret is split
	}
	for c := range 256 {
		switch {
		case last == '*':
			for d := range 256 {
				k.mark(byte(d), byte(c))
			}
		case every || byte(c) == before:
			k.mark(byte(c), last)
		}
	}
}

func (k *keyList) mark(before, last byte) {
	n := uint(foldByte(before))<<8 | uint(foldByte(last))
	k.ends[n/64] |= 1 << (n % 64)
}

func foldByte(c byte) byte {
	if c == '-' || c == ' ' {
		c = '_'
	}
	return c | 0x20
}

// canEnd reports whether a listed name can end as this one does.
func (k *keyList) canEnd(name string) bool {
	before := byte(0)
	if len(name) > 1 {
		before = name[len(name)-2]
	}
	n := uint(foldByte(before))<<8 | uint(foldByte(name[len(name)-1]))
	return k.ends[n/64]&(1<<(n%64)) != 0
}

// usualName is how long a name may be without being copied to the heap.
const usualName = 128

// match reports whether a name is listed.
func (k *keyList) match(name string) bool {
	if len(k.exact) == 0 && len(k.globs) == 0 || name == "" || !k.canEnd(name) {
		return false
	}
	var buf [2 * usualName]byte
	lower, split := buf[:0], false
	for i := range len(name) {
		c := name[i]
		switch {
		case c-'A' < 26:
			split = split || i > 0 && name[i-1]-'a' < 26
			c |= 0x20
		case c == '-' || c == ' ':
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
		case c == '-' || c == ' ':
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
