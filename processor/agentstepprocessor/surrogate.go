package agentstepprocessor

import (
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/steptrail/steptrail/internal/cjson"
)

// wholeSurrogates puts \ufffd in the place of every escape in a JSON text that is
// half of a surrogate pair, as senders leave that cut a text within an emoji.
// Strict readers refuse a text with such a half (RFC 8259, section 8.2). A text
// that is no JSON is left as it is: nobody reads escapes in it.
func wholeSurrogates(text string) string {
	if !strings.Contains(text, `\ud`) && !strings.Contains(text, `\uD`) {
		return text
	}
	var out strings.Builder
	done := 0 // all before it is written to out
	for i := 0; ; {
		at := strings.IndexByte(text[i:], '\\')
		if at < 0 {
			break
		}
		i += at
		first := escape(text[i:])
		switch {
		case !utf16.IsSurrogate(first):
			i += 2 // of \\ and \" the second is no start of an escape
		case utf16.DecodeRune(first, escape(text[i+6:])) != '\ufffd':
			i += 12
		default:
			out.WriteString(text[done:i])
			out.WriteString(`\ufffd`)
			i += 6
			done = i
		}
		if i >= len(text) {
			break
		}
	}
	if done == 0 || !cjson.Valid(text) {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// escape reads \uXXXX at the beginning of a text; 0 where none is.
func escape(text string) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}
