package redact

import (
	"slices"
	"strings"
)

// stretch redacts a stretch of text that is no JSON, or the inside of one of its
// strings. Where something is found it gives the two forms.
func (t *Tenant) stretch(w *work, text string, under caption) (stored, compare string, found bool) {
	if w.openKey {
		if stored, compare, found = t.keyLine(w, text); found {
			return stored, compare, true
		}
	}
	matches := t.scan(w, text, under)
	if len(matches) == 0 {
		return text, text, false
	}
	out := t.newOutput(text)
	if t.replaceAll(w, &out, matches); !out.dirty {
		return text, text, false
	}
	stored, compare = out.strings()
	stored = t.settle(w, stored, under)
	if t.r.mode == ModePseudonym {
		return stored, stored, true
	}
	count := w.count
	w.quiet = true
	compare = t.compared.settle(w, compare, under)
	w.quiet, w.count = false, count
	return stored, compare, true
}

// keyLine removes a string that goes on with the private key that one before it in
// the document began.
func (t *Tenant) keyLine(w *work, text string) (stored, compare string, found bool) {
	w.openKey = false
	end := strings.Contains(text, "PRIVATE KEY")
	for i := 0; i < len(text) && !end; i++ {
		if !base64Bytes[text[i]] && strings.IndexByte("=:-,. \r\n", text[i]) < 0 {
			return text, text, false
		}
	}
	w.openKey = !end
	out := t.newOutput(text)
	w.count = t.tally(w, privateKeyAt(t.r.detectors))
	out.placeholder(0, len(text), privateKey.label, appendUnspaced(nil, text))
	stored, compare = out.strings()
	return stored, compare, true
}

// privateKeyAt is the place of that detector.
func privateKeyAt(list []*detector) int { return slices.Index(list, &privateKey) }

// replaceAll puts placeholders for what was found into out.
func (t *Tenant) replaceAll(w *work, out *output, matches []match) {
	for _, m := range matches {
		t.replace(w, out, m)
	}
}

// maxSettle is how often a text is redacted again.
const maxSettle = 3

// settle redacts what became of a text until nothing is found in it: what stands
// where a value was may let a value be seen beside it. A text that does not come to
// rest becomes a placeholder as a whole.
func (t *Tenant) settle(w *work, text string, under caption) string {
	for range maxSettle {
		out := t.newOutput(text)
		if t.replaceAll(w, &out, t.scan(w, text, under)); !out.dirty {
			return text
		}
		text, _ = out.strings()
	}
	out := t.newOutput(text)
	out.placeholder(0, len(text), secretLabel, []byte(text))
	text, _ = out.strings()
	return text
}

// replace puts the placeholder of a match into out.
func (t *Tenant) replace(w *work, out *output, m match) {
	switch {
	case m.keep:
	case m.by < len(t.r.detectors) && t.r.detectors[m.by] == &ownPlaceholder:
		out.text(m.end-1, m.end, notOurs)
	default:
		if m.by < len(t.r.detectors) && t.r.detectors[m.by] == &privateKey && m.end == len(out.source) && !strings.Contains(m.value, "END ") && !strings.Contains(m.value, "END+") {
			w.openKey = true
		}
		w.count = t.tally(w, m.by)
		out.placeholder(m.start, m.end, t.labelOf(m), t.normalOf(w, m))
	}
}
