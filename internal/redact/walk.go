package redact

import (
	"bytes"
	"strings"

	"github.com/steptrail/steptrail/internal/cjson"
)

// document redacts out.source, which stands level strings deep in JSON.
//
// JSON is looked at as a row of strings with little between them, not as a tree:
// that is right for valid JSON, and for a text that is cut off or only looks
// like JSON every byte of it is still seen, inside a string or between two.
func (t *Tenant) document(w *work, out *output, under caption, level int) error {
	s := out.source
	if !looksJSON(s) {
		t.plain(w, out, 0, len(s), under)
		return nil
	}
	at := 0
	pair := pairState{}
	for at < len(s) {
		open := nextQuote(s, at)
		if open == len(s) {
			break
		}
		t.between(w, out, at, open, under)
		pair.mark(s[at:open])
		end, escaped := stringEnd(s, open+1)
		if end < 0 {
			return t.cutOff(w, out, open, under, level)
		}
		before := at
		at = end + 1
		value := -1
		if colon := skipSpace(s, at); colon < len(s) && (s[colon] == ':' || s[colon] == '=') {
			if s[colon] == '=' && byteAt(s, colon+1) == '>' {
				colon++
			}
			value = skipSpace(s, colon+1)
		}
		if value >= 0 {
			w.openKey = false // it goes on in the next string of an array only
			under = t.member(w, s[open+1:end], escaped, level)
			if under.listed {
				at = t.secret(w, out, value, t.secrets())
				continue
			}
			if pair.secret(t, s, under, value) {
				at = t.secret(w, out, value, pair.by(t))
				continue
			}
			if value < len(s) && s[value] == '{' {
				pair.enters(under)
			}
			if under.clean {
				continue
			}
			copied := out.copied
			if err := t.quoted(w, out, open, end+1, escaped, caption{}, level); err != nil {
				return err
			}
			if out.copied == copied && !escaped {
				w.captions.clean(s[open+1 : end])
			}
			continue
		}
		if open-before > 3 {
			if name := outerName(s, before, open); name != "" {
				under = t.r.caption(name)
			}
		}
		if pair.value(t, s, under, open, end) {
			at = t.secret(w, out, open, pair.by(t))
			continue
		}
		if err := t.quoted(w, out, open, end+1, escaped, under, level); err != nil {
			return err
		}
	}
	t.between(w, out, at, len(s), under)
	return nil
}

// outerName returns the name before the string at open that stands outside of
// strings, as in password = "…": what looks like JSON need not be.
func outerName(s string, at, open int) string {
	i := open
	for i > at && s[i-1] == ' ' {
		i--
	}
	if i-1 > at && s[i-1] == '>' {
		i--
	}
	if i-1 <= at || s[i-1] != '=' && s[i-1] != ':' {
		return ""
	}
	name, _ := nameBefore(s, at, i-1)
	return name
}

const (
	otherByte = 1 << iota
	digitByte
)

// betweenStrings tells the bytes that JSON has between strings from others.
var betweenStrings = func() (table [256]uint8) {
	for c := range table {
		switch {
		case strings.IndexByte("0123456789", byte(c)) >= 0:
			table[c] = digitByte
		case strings.IndexByte(" \n\r\t,:[]{}+-.eEtrufalsn", byte(c)) < 0:
			table[c] = otherByte
		}
	}
	return table
}()

// minNumber is how long a number is in which a detector can find something: a
// telephone number under its name.
const minNumber = minPhone

// between redacts what stands between two strings. Of JSON that is marks, words
// and numbers; a number in which something is found becomes a string.
func (t *Tenant) between(w *work, out *output, start, end int, under caption) {
	if end-start <= 2 {
		return // too short for a mark, a value and a mark
	}
	s, seen := out.source, uint8(0)
	for i := start; i < end; i++ {
		seen |= betweenStrings[s[i]]
	}
	switch {
	case seen&otherByte != 0:
		t.plain(w, out, start, end, caption{})
		return
	case seen&digitByte == 0:
		return
	}
	for i := start; i < end; i++ {
		if s[i] != '-' && s[i]-'0' >= 10 {
			continue
		}
		from := i
		for i < end && strings.IndexByte("0123456789+-.eE", s[i]) >= 0 {
			i++
		}
		if i-from < minNumber && !t.r.numberRules {
			continue
		}
		if stored, compare, found := t.stretch(w, s[from:i], under); found {
			out.text(from, from, `"`)
			out.forms(from, i, stored, compare)
			out.text(i, i, `"`)
		}
	}
}

// plain redacts a stretch of the source that is no JSON string.
func (t *Tenant) plain(w *work, out *output, start, end int, under caption) {
	if start >= end {
		return
	}
	if stored, compare, found := t.stretch(w, out.source[start:end], under); found {
		out.forms(start, end, stored, compare)
	}
}

// quoted redacts the JSON string that is the source's [start, end), quotes
// included.
func (t *Tenant) quoted(w *work, out *output, start, end int, escaped bool, under caption, level int) error {
	if !escaped {
		inner := out.source[start+1 : end-1]
		if looksJSON(inner) {
			return t.nested(w, out, start, end, inner, under, level)
		}
		t.plain(w, out, start+1, end-1, under)
		return nil
	}
	w.decoded[level] = cjson.AppendDecoded(w.decoded[level][:0], out.source[start+1:end-1])
	inner := stringOf(w.decoded[level])
	return t.nested(w, out, start, end, inner, under, level)
}

// nested redacts the text of a JSON string, which may be JSON again, and writes
// it anew where something was replaced.
func (t *Tenant) nested(w *work, out *output, start, end int, inner string, under caption, level int) error {
	child := t.newOutput(inner)
	if err := t.inside(w, &child, under, level); err != nil {
		return err
	}
	if child.dirty {
		out.quoted(start, end, &child, true)
	}
	return nil
}

// inside redacts the text of a JSON string that stands level strings deep.
func (t *Tenant) inside(w *work, child *output, under caption, level int) error {
	switch {
	case level < MaxLevels:
		return t.document(w, child, under, level+1)
	case looksJSON(child.source) && cjson.Valid(child.source):
		return ErrTooDeep
	}
	t.plain(w, child, 0, len(child.source), under)
	return nil
}

// cutOff redacts a string whose end is missing: attributes are cut off at a
// length, in the middle of JSON inside JSON. A text with control characters is
// none, but prose with a quotation mark.
func (t *Tenant) cutOff(w *work, out *output, open int, under caption, level int) error {
	s := out.source[open+1:]
	for i := range len(s) {
		if s[i] < ' ' {
			t.plain(w, out, open, len(out.source), caption{})
			return nil
		}
	}
	w.decoded[level] = cjson.AppendDecoded(w.decoded[level][:0], s)
	child := t.newOutput(stringOf(w.decoded[level]))
	if err := t.inside(w, &child, under, level); err != nil {
		return err
	}
	if child.dirty {
		out.quoted(open, len(out.source), &child, false)
	}
	return nil
}

// member returns the caption of a member's value, which lives until the next string
// of its level is read.
func (t *Tenant) member(w *work, name string, escaped bool, level int) caption {
	if escaped {
		w.names[level] = cjson.AppendDecoded(w.names[level][:0], name)
		name = stringOf(w.names[level])
	}
	return w.captions.caption(t.r, name)
}

// secret removes the value at i, whatever it is, and returns where it ends. What
// is empty, true, false or null stays, it tells nothing; so does what we removed
// before. Where the value is cut off the rest of the text is removed.
func (t *Tenant) secret(w *work, out *output, i, by int) int {
	s := out.source
	if i == len(s) {
		return i
	}
	end, cut := len(s), s[i:]
	var value []byte
	switch s[i] {
	case '"':
		if quote, _ := stringEnd(s, i+1); quote >= 0 {
			end = quote + 1
		} else {
			cut = cut[1:]
			break
		}
		w.normal = cjson.AppendDecoded(w.normal[:0], s[i+1:end-1])
		value = w.normal
		if len(value) == 0 || t.isOwn(stringOf(value)) {
			return end
		}
	default:
		scanner := cjson.Scan(s[i:])
		raw := scanner.Raw()
		if scanner.Err() != nil {
			break
		}
		end = i + len(raw)
		switch raw {
		case "true", "false", "null", "{}", "[]":
			return end
		}
		if exact, err := cjson.AppendExact(nil, raw); err == nil {
			value = bytes.Clone(exact)
		} else {
			value = []byte(raw)
		}
	}
	if end == len(s) && value == nil {
		value = []byte(cut)
	}
	w.count = t.tally(w, by)
	out.quotedPlaceholder(i, end, secretLabel, value)
	return end
}
