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
	input    input
	number   number
	named    bool // the text has a cell that names secrets
	ruled    bool // the text may hold what a rule matches
	matches  []match
	views    [maxRounds]view
	decoded  [MaxLevels + 1][]byte
	names    [MaxLevels + 1][]byte // of members, decoded
	captions captions
	normal   []byte
	found    []int // per detector and rule, then the key list
	count    int
	quiet    bool // do not count
	openKey  bool // a string of the document ended within a private key
}

var works = sync.Pool{New: func() any { return new(work) }}

// scan finds the values in a text that is no JSON, or a string's inside, under a
// name. The matches do not overlap and are in order; they are valid until the
// next scan.
func (t *Tenant) scan(w *work, text string, under caption) []match {
	in := &w.input
	w.nothing()
	first := t.r.triggers.next(text, 0)
	if first == len(text) && under.kind == noSecret && !t.r.ruled {
		return nil // as most texts are
	}
	in.under = under
	in.reset(text)
	rounds := 0
	for !t.detect(w, in, first, rounds < maxRounds) {
		// The text has other spellings: look at it with them undone.
		v := &w.views[rounds]
		v.undo(in.text)
		in.reset(stringOf(v.text))
		first = t.r.triggers.next(in.text, 0)
		rounds++
	}
	if w.named {
		t.applyColumns(w, in.text)
	}
	if t.r.ruled || w.ruled || len(w.matches) > 0 {
		t.applyRules(w, in.text)
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

// nothing forgets what was found.
func (w *work) nothing() { w.matches, w.named, w.ruled = w.matches[:0], false, false }

// detect runs the detectors in one pass over their trigger bytes, of which i is the
// first. Where spellings are looked for and one is met it reports false, and nothing
// was found.
func (t *Tenant) detect(w *work, in *input, i int, spellings bool) bool {
	floor, text, triggers := 0, in.text, &t.r.triggers
	if in.under.kind != noSecret && (!spellings || !t.spelledOtherwise(text)) &&
		t.wholeSecret(w, in) {
		return true
	}
	for ; i < len(text); i = triggers.next(text, i+1) {
		hits := triggers.at(text, i)
		if hits&spelling != 0 && spellings {
			if _, n := spelled(text[i:]); n > 0 {
				w.nothing()
				return false
			}
		}
		w.ruled = w.ruled || hits&prefix != 0
		if hits&digit != 0 {
			i = t.detectNumber(w, in, &floor, i)
			continue
		}
		if hits&cell != 0 && !w.named {
			w.named = t.namesColumn(text, i)
		}
		for hits &^= flags; hits != 0; hits &= hits - 1 {
			by := bits.TrailingZeros32(hits)
			start, end := t.r.detectors[by].match(in, floor, i)
			if end == 0 {
				continue
			}
			if spellings && t.spelledOtherwise(text[i:max(i, end)]) {
				w.nothing()
				return false
			}
			t.note(w, in, by, start, end)
			floor = end
			i = max(i, end-1)
			break
		}
	}
	return true
}

// spelledOtherwise reports whether a part of a match has another spelling: it must
// be undone before equal values are equal.
func (t *Tenant) spelledOtherwise(s string) bool {
	for i := range len(s) {
		if spells[s[i]] {
			if _, n := spelled(s[i:]); n > 0 {
				return true
			}
		}
	}
	return false
}

// wholeSecret notes the whole of a text that stands under a secret's name, where it
// is one word.
func (t *Tenant) wholeSecret(w *work, in *input) bool {
	if !isSecret(in.text, in.under.kind) {
		return false
	}
	t.note(w, in, t.r.secretValue, 0, len(in.text))
	return true
}

// detectNumber runs the detectors of numbers on the row of digit groups at i, and
// returns the last byte that needs no second look.
func (t *Tenant) detectNumber(w *work, in *input, floor *int, i int) int {
	n := &w.number
	if end := shortNumber(in.text, i); end > 0 {
		return end - 1
	}
	n.read(in.text, i)
	if !n.worth(in) {
		return n.last()
	}
	for g := range n.n {
		for _, by := range t.r.numbers {
			start, end := t.r.detectors[by].number(in, n, g, *floor)
			if end == 0 {
				continue
			}
			t.note(w, in, by, start, end)
			*floor = end
			return end - 1
		}
		if n.full && g >= maxGroups/2 {
			return n.groups[g].end - 1
		}
	}
	return n.last()
}

// note keeps a match.
func (t *Tenant) note(w *work, in *input, by, start, end int) {
	m := match{start: start, end: end, by: by, value: in.text[start:end]}
	m.keep = t.r.detectors[by] == &ownPlaceholder && t.isOurs(m.value)
	w.matches = append(w.matches, m)
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
	if len(w.matches) > found {
		w.merge(text)
	}
}

// merge puts the matches in a text in order, and makes one of those that overlap,
// so that nothing of either is left.
func (w *work) merge(text string) {
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
		size += cap(w.decoded[i]) + cap(w.names[i])
	}
	if size > maxKept || cap(w.matches) > maxMatches {
		return
	}
	clear(w.matches[:cap(w.matches)]) // they point into texts
	clear(w.found)
	w.input, w.openKey = input{}, false
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
