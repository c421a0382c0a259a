package redact

import (
	"slices"
	"strings"
)

// Redacted is what became of a text.
type Redacted struct {
	// Stored is what may be kept. It is the text itself where nothing was found.
	Stored string
	// Compare is what the text is compared by: the pseudonymised form, also in
	// ModeMask, so that hidden values stay distinct. It is for hashing and must
	// not be kept. In ModePseudonym it is Stored. Ask cjson.IsPlaceholder of it,
	// not of Stored, whose masks are placeholders too.
	Compare string
	// Count is how many values were replaced, Found how many by each detector, in
	// the order of the detectors; nil where there were none.
	Count int
	Found []Found
}

// Found counts the values of one detector, rule, or the key list, in a text.
type Found struct {
	Detector string
	Count    int
}

// KeyList is the Found.Detector of values removed for their name.
const KeyList = "keys"

// secretLabel is the label of values removed for their name.
const secretLabel label = "SECRET"

// Text redacts a text. Where it is JSON, also cut off, names and values in it
// are redacted one by one, and valid JSON stays valid. Bytes that are no valid
// UTF-8 are left as they are, except in a JSON string that is written anew
// because something in it was replaced: there they become U+FFFD. A text that
// must be dropped is ErrTooLong or ErrTooDeep.
func (t *Tenant) Text(s string) (Redacted, error) { return t.text("", s) }

// text redacts a text that stands under a name.
func (t *Tenant) text(name, s string) (Redacted, error) {
	if len(s) > t.r.maxBytes {
		return Redacted{}, ErrTooLong
	}
	w := works.Get().(*work)
	out := t.newOutput(s)
	err := t.document(w, &out, w.captions.caption(t.r, name), 0)
	return t.finish(w, &out, err)
}

// Under is Text for a text that stands under a name: the name tells a telephone
// number or a token from another number or word.
func (t *Tenant) Under(name, s string) (Redacted, error) { return t.text(name, s) }

// Value redacts the value of an attribute: the whole of it where the name is on
// the key list, else as Text does.
func (t *Tenant) Value(name, s string) (Redacted, error) {
	if !t.r.Secret(name) {
		return t.text(name, s)
	}
	if len(s) > t.r.maxBytes {
		return Redacted{}, ErrTooLong
	}
	if s == "" || t.isOwn(s) {
		return Redacted{Stored: s, Compare: s}, nil
	}
	w := works.Get().(*work)
	out := t.newOutput(s)
	w.count = t.tally(w, t.secrets())
	out.placeholder(0, len(s), secretLabel, []byte(s))
	return t.finish(w, &out, nil)
}

// Key treats an idempotency key. Values that detectors find in it are removed in
// either treatment, always as pseudonyms: two keys must not become one.
func (t *Tenant) Key(s string) (string, error) { return t.identifier(s, t.r.idemKeys, "KEY") }

// Target treats a target, type/id: the type stays readable. As for Key, values
// found in it are removed in either treatment.
func (t *Tenant) Target(s string) (string, error) {
	kind, id, ok := strings.Cut(s, "/")
	if !ok || t.r.targets != TreatmentPseudonym {
		return t.identifier(s, t.r.targets, "TARGET")
	}
	kind, err := t.identifier(kind, TreatmentKeep, "TARGET")
	if err != nil {
		return "", err
	}
	id, err = t.identifier(id, TreatmentPseudonym, "TARGET")
	return kind + "/" + id, err
}

func (t *Tenant) identifier(s string, treatment Treatment, l label) (string, error) {
	if treatment == TreatmentPseudonym && s != "" {
		if len(s) > t.r.maxBytes {
			return "", ErrTooLong
		}
		if t.isOwn(s) {
			return s, nil
		}
		return string(t.appendPseudonym(nil, l, []byte(s))), nil
	}
	got, err := t.Text(s)
	return got.Compare, err
}

// secrets is the place of the key list in counts, after detectors and rules.
func (t *Tenant) secrets() int { return len(t.r.detectors) + len(t.r.rules) }

// tally counts a value, and returns how many there are now.
func (t *Tenant) tally(w *work, by int) int {
	if len(w.found) != t.secrets()+1 {
		w.found = make([]int, t.secrets()+1) // the buffers are of another policy
	}
	if !w.quiet {
		w.found[by]++
	}
	return w.count + 1
}

// finish gives the buffers back and returns what became of the text.
func (t *Tenant) finish(w *work, out *output, err error) (Redacted, error) {
	var got Redacted
	if err == nil {
		got.Stored, got.Compare = out.strings()
		got.Count = w.count
		if w.count > 0 {
			got.Found = t.found(w)
		}
	}
	w.release()
	return got, err
}

func (t *Tenant) found(w *work) []Found {
	var list []Found
	for by, n := range w.found {
		if n == 0 {
			continue
		}
		name := KeyList
		switch {
		case by < len(t.r.detectors):
			name = t.r.detectors[by].name
		case by < t.secrets():
			name = t.r.rules[by-len(t.r.detectors)].name
		}
		if at := slices.IndexFunc(list, func(f Found) bool { return f.Detector == name }); at >= 0 {
			list[at].Count += n
			continue
		}
		list = append(list, Found{Detector: name, Count: n})
	}
	return list
}

// labelOf returns the label of a match's placeholder.
func (t *Tenant) labelOf(m match) label {
	switch {
	case m.by < len(t.r.detectors):
		return t.r.detectors[m.by].label
	case m.by == t.secrets():
		return secretLabel
	}
	return t.r.rules[m.by-len(t.r.detectors)].label
}

// normalOf returns the form of a match in which equal values are equal.
func (t *Tenant) normalOf(w *work, m match) []byte {
	w.normal = w.normal[:0]
	if m.by < len(t.r.detectors) && t.r.detectors[m.by].normal != nil {
		w.normal = t.r.detectors[m.by].normal(w.normal, m.value)
	} else {
		w.normal = append(w.normal, m.value...)
	}
	return w.normal
}
