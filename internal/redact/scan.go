package redact

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"
	"strings"
	"sync"
	"unsafe"
)

// match is a value found in a text: where it stands there, and what it is.
type match struct {
	start, end int
	// by is the detector's place in Redactor.detectors; rules come after them.
	by int
	// value is the match with its spellings undone; it lives until the next scan.
	value string
	// keep: our own placeholder, which stays; what a rule finds inside it is none.
	keep bool
}

// work holds the buffers for one text. It is for one goroutine at a time.
type work struct {
	matches []match
	views   [maxRounds]view
	decoded [MaxLevels + 1][]byte
	normal  []byte
	found   []int // per detector and rule, then the key list
	count   int
}

var works = sync.Pool{New: func() any { return new(work) }}

// scan finds the values in a text that is no JSON, or a string's inside. The
// matches do not overlap and are in order; they are valid until the next scan.
func (t *Tenant) scan(w *work, text string) []match {
	w.matches = w.matches[:0]
	plain := text
	rounds := 0
	for !t.detect(w, plain, rounds < maxRounds) {
		// The text has other spellings: look at it with them undone.
		v := &w.views[rounds]
		v.undo(plain)
		plain = stringOf(v.text)
		rounds++
	}
	if len(t.r.rules) > 0 {
		t.applyRules(w, plain)
	}
	for rounds--; rounds >= 0; rounds-- {
		v := &w.views[rounds]
		for n := range w.matches {
			m := &w.matches[n]
			m.start, m.end = v.origin(m.start), v.origin(m.end)
		}
	}
	return w.matches
}

// detect runs the detectors in one pass over their trigger bytes. Where spellings
// are looked for and one is met it reports false, and nothing was found.
func (t *Tenant) detect(w *work, text string, spellings bool) bool {
	floor := 0
	for i := 0; i < len(text); i++ {
		bitsHere := t.r.triggers[text[i]]
		if bitsHere == 0 {
			continue
		}
		if bitsHere&spelling != 0 {
			if spellings {
				if _, n := spelled(text[i:]); n > 0 {
					w.matches = w.matches[:0]
					return false
				}
			}
			bitsHere &^= spelling
		}
		for ; bitsHere != 0; bitsHere &= bitsHere - 1 {
			by := bits.TrailingZeros32(bitsHere)
			d := t.r.detectors[by]
			start, end := d.match(text, floor, i)
			if end == 0 {
				continue
			}
			m := match{start: start, end: end, by: by, value: text[start:end]}
			m.keep = d == &ownPlaceholder && t.isOurs(m.value)
			w.matches = append(w.matches, m)
			floor = end
			i = end - 1
			break
		}
	}
	return true
}

// applyRules adds what the user's own patterns match. Where matches overlap they
// become one, so that nothing of either is left.
func (t *Tenant) applyRules(w *work, text string) {
	found := len(w.matches)
	for n := range t.r.rules {
		rule := &t.r.rules[n]
		if len(text) < len(rule.prefix) || rule.prefix != "" && !strings.Contains(text, rule.prefix) {
			continue
		}
		for _, at := range rule.pattern.FindAllStringIndex(text, -1) {
			if at[0] < at[1] && !w.kept(at[0], at[1], found) {
				w.matches = append(w.matches, match{start: at[0], end: at[1], by: len(t.r.detectors) + n, value: text[at[0]:at[1]]})
			}
		}
	}
	if len(w.matches) == found {
		return
	}
	slices.SortStableFunc(w.matches, func(a, b match) int { return cmp.Compare(a.start, b.start) })
	out := w.matches[:1]
	for _, m := range w.matches[1:] {
		last := &out[len(out)-1]
		if m.start >= last.end {
			out = append(out, m)
			continue
		}
		if last.keep {
			last.keep, last.by = false, m.by
		}
		last.end = max(last.end, m.end)
		last.value = text[last.start:last.end]
	}
	w.matches = out
}

// kept reports whether a stretch lies inside one of the first found matches,
// which are in order, that is our own placeholder.
func (w *work) kept(start, end, found int) bool {
	after := sort.Search(found, func(n int) bool { return w.matches[n].start > start })
	return after > 0 && w.matches[after-1].keep && end <= w.matches[after-1].end
}

// maxKept and maxMatches are the sizes beyond which buffers are not kept for the
// next text.
const (
	maxKept    = 1 << 20
	maxMatches = 256
)

// release clears the work and gives it back.
func (w *work) release() {
	size := cap(w.normal)
	for i := range w.views {
		size += cap(w.views[i].text) + 16*cap(w.views[i].shifts)
	}
	for i := range w.decoded {
		size += cap(w.decoded[i])
	}
	if size > maxKept || cap(w.matches) > maxMatches {
		return
	}
	clear(w.matches[:cap(w.matches)]) // they point into texts
	clear(w.found)
	w.count = 0
	works.Put(w)
}

// bytesOf views s as bytes, which must only be read.
func bytesOf(s string) []byte {
	return unsafe.Slice(unsafe.StringData(s), len(s)) //nolint:gosec // Saves a copy of every text.
}

// stringOf views b as a string; b must not change while it is in use.
func stringOf(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // Saves a copy of every decoded text.
}
