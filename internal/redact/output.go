package redact

import "github.com/steptrail/steptrail/internal/cjson"

// output builds the redacted forms of one text: it copies the text up to each
// replaced stretch, and nothing at all where none is replaced.
type output struct {
	t      *Tenant
	source string
	copied int
	// stored and compare are the forms so far; compare is used in ModeMask only.
	stored, compare []byte
	dirty           bool
}

func (t *Tenant) newOutput(source string) output { return output{t: t, source: source} }

// both reports whether the two forms differ.
func (o *output) both() bool { return o.t.r.mode == ModeMask }

// upTo copies the source before a replaced stretch, which ends at end.
func (o *output) upTo(start, end int) {
	if !o.dirty {
		o.dirty = true
		o.stored = make([]byte, 0, len(o.source)+64)
		if o.both() {
			o.compare = make([]byte, 0, len(o.source)+64)
		}
	}
	o.stored = append(o.stored, o.source[o.copied:start]...)
	if o.both() {
		o.compare = append(o.compare, o.source[o.copied:start]...)
	}
	o.copied = end
}

// placeholder replaces a stretch of the source by what stands for a value.
func (o *output) placeholder(start, end int, l label, normal []byte) {
	o.upTo(start, end)
	if o.both() {
		o.stored = append(append(append(o.stored, '['), l...), ']')
		o.compare = o.t.appendPseudonym(o.compare, l, normal)
		return
	}
	o.stored = o.t.appendPseudonym(o.stored, l, normal)
}

// quotedPlaceholder is placeholder as a JSON string.
func (o *output) quotedPlaceholder(start, end int, l label, normal []byte) {
	o.text(start, start, `"`)
	o.placeholder(start, end, l, normal)
	o.text(end, end, `"`)
}

// text replaces a stretch of the source by a text.
func (o *output) text(start, end int, s string) {
	o.upTo(start, end)
	o.stored = append(o.stored, s...)
	if o.both() {
		o.compare = append(o.compare, s...)
	}
}

// forms replaces a stretch of the source by its two forms.
func (o *output) forms(start, end int, stored, compare string) {
	o.upTo(start, end)
	o.stored = append(o.stored, stored...)
	if o.both() {
		o.compare = append(o.compare, compare...)
	}
}

// quoted replaces a stretch of the source by what became of a JSON string that
// was written there; closed is false where its end was cut off.
func (o *output) quoted(start, end int, inner *output, closed bool) {
	stored, compare := inner.bytes()
	o.upTo(start, end)
	o.stored = cjson.AppendQuoted(o.stored, stringOf(stored))
	if o.both() {
		o.compare = cjson.AppendQuoted(o.compare, stringOf(compare))
	}
	if closed {
		return
	}
	o.stored = o.stored[:len(o.stored)-1]
	if o.both() {
		o.compare = o.compare[:len(o.compare)-1]
	}
}

// bytes returns the two forms of a text in which something was replaced.
func (o *output) bytes() (stored, compare []byte) {
	o.upTo(len(o.source), len(o.source))
	if !o.both() {
		return o.stored, o.stored
	}
	return o.stored, o.compare
}

// strings returns the two forms of any text.
func (o *output) strings() (stored, compare string) {
	if !o.dirty {
		return o.source, o.source
	}
	// The buffers were made for this text and are not used again.
	s, c := o.bytes()
	return stringOf(s), stringOf(c)
}
