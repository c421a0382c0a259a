// Package label bounds the values of a metric's labels. What spans say becomes a
// label only through it: valid, short, and of a limited number.
//
//	name from a span → clean, cut → known, or one of the first Max → itself
//	                                else → _other, counted
package label

import (
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

const (
	// Other stands for every value beyond the number allowed.
	Other = "_other"
	// MaxBytes is the longest value; what is longer is cut on a character.
	MaxBytes = 100
)

// Values are the values that one label may take: the first max that come. It is
// safe for concurrent use. They live as long as the process, as its metrics do.
type Values struct {
	max    int
	others atomic.Int64

	mu    sync.RWMutex
	known map[string]string // under mu
}

// NewValues allows max values besides the empty one and Other.
func NewValues(limit int) *Values {
	return &Values{max: limit, known: make(map[string]string)}
}

// Of gives what may stand as the label's value for s: s, cleaned and cut, or
// Other. The same s gives the same value for as long as the process lives. The
// empty value is always allowed: it is the label left out.
func (v *Values) Of(s string) string {
	if s == "" {
		return ""
	}
	v.mu.RLock()
	kept, ok := v.known[s]
	v.mu.RUnlock()
	if ok {
		return kept
	}
	return v.learn(Clean(s))
}

func (v *Values) learn(s string) string {
	if s == "" || s == Other {
		return s
	}
	v.mu.Lock()
	kept, ok := v.known[s]
	if !ok && len(v.known) < v.max {
		kept, ok = strings.Clone(s), true
		v.known[kept] = kept
	}
	v.mu.Unlock()
	if !ok {
		v.others.Add(1)
		return Other
	}
	return kept
}

// Others counts how often Of gave Other for a value beyond the limit.
func (v *Values) Others() int64 { return v.others.Load() }

// Clean makes s a label's value whatever it holds: valid UTF-8, no control or
// other characters that do not print, at most MaxBytes.
func Clean(s string) string {
	if len(s) <= MaxBytes && plain(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			r = '_'
		}
		if b.Len()+utf8.RuneLen(r) > MaxBytes {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}
