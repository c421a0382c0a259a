package cjson

import "unicode/utf8"

// AppendArguments appends the form in which the arguments of two calls are
// compared: the exact form of AppendExact with what is no news replaced by a
// mark (volatile.go). start is when the span began, in Unix nanoseconds, for the
// sender's own clock; 0 means unknown, and then every time counts. Two texts
// with equal forms are one call.
//
// The form is for hashing: the marks are single bytes that no JSON holds, so no
// sender can write a value that poses as one.
//
// A text that is no JSON is an error, and dst is returned as it was: compare the
// texts, by AppendArgumentsText.
func AppendArguments(dst []byte, src string, start int64) ([]byte, error) {
	return encode(dst, src, encoder{form: formArguments, start: start})
}

// AppendResult appends the form in which two results are compared, as
// AppendArguments does for arguments. A text that is no JSON is an error:
// compare it by AppendResultText.
func AppendResult(dst []byte, src string) ([]byte, error) {
	return encode(dst, src, encoder{form: formResult})
}

// AppendArgumentsText appends the comparison form of arguments that are no JSON:
// the text as a JSON string. Nothing in it is replaced.
func AppendArgumentsText(dst []byte, text string) []byte {
	return AppendQuoted(dst, text)
}

// AppendResultText appends the comparison form of a result that is plain text:
// a JSON string in which what is no news by its form is replaced. The text "a"
// and the JSON string "a" have one form.
func AppendResultText(dst []byte, text string) []byte {
	dst = append(dst, '"')
	dst = appendNews(dst, text)
	return append(dst, '"')
}

// leaf writes a string that is no JSON inside, the value of a field of class c
// at the given depth.
func (e *encoder) leaf(dst []byte, inner string, t traits, depth int, c class) []byte {
	plain := t&hasEscape == 0 && (t&hasHigh == 0 || utf8.ValidString(inner))
	mark := len(e.text)
	text := inner
	if !plain && (c != classNone || e.form == formResult) {
		e.text = appendDecoded(e.text, inner, t)
		text = stringOf(e.text[mark:])
	}
	switch {
	case c != classNone && e.noNewsText(c, text):
		dst = append(dst, c.marker())
	case e.form != formResult || depth > 0 && isInstant(text):
		// A time that is the whole value of a field is told by the field's name.
		e.values++
		dst = append(dst, '"')
		dst = appendCanonical(dst, inner, t)
		dst = append(dst, '"')
	default:
		e.values++
		dst = append(dst, '"')
		dst = appendNews(dst, text)
		dst = append(dst, '"')
	}
	e.text = e.text[:mark]
	return dst
}
