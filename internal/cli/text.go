package cli

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/steptrail/steptrail/query/api"
)

// clean makes foreign text fit for one line of a terminal: control characters,
// escapes, line breaks and characters that turn the direction of text become a
// visible mark.
func clean(s string) string {
	bad := func(r rune) bool { return r == utf8.RuneError || isObeyed(r) }
	if strings.IndexFunc(s, bad) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if bad(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// isObeyed reports whether terminals or editors do something at a character rather
// than show it.
func isObeyed(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}

// Escaped is the same JSON with the characters that a terminal would obey as
// escapes: JSON may hold those from U+007F on as they are, such as U+009B, which
// begins a command. So is what is no UTF-8.
func Escaped(text []byte) []byte {
	obeyed := func(r rune) bool { return r >= 0x7F && (r == utf8.RuneError || isObeyed(r)) }
	if bytes.IndexFunc(text, obeyed) < 0 {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if obeyed(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = append(out, text[:n]...)
		}
		text = text[n:]
	}
	return out
}

// short cuts cleaned text to n characters, and says that it did.
func short(s string, n int) string {
	s = clean(s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:n-1]) + "…"
}

// pad fills text up to n characters.
func pad(s string, n int) string {
	if w := utf8.RuneCountInString(s); w < n {
		return s + strings.Repeat(" ", n-w)
	}
	return s
}

// span writes milliseconds as a person would.
func span(ms float64) string {
	d := time.Duration(ms * float64(time.Millisecond))
	switch {
	case d > 0 && d < time.Millisecond:
		return "<1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
}

// clock writes a moment in UTC to the millisecond.
func clock(t api.Timestamp) string {
	return time.Unix(0, int64(t)).UTC().Format("2006-01-02 15:04:05.000")
}

// usd writes money with as many digits as it has, at least two.
func usd(m api.Money) string {
	s := strings.TrimRight(fmt.Sprintf("%.9f", float64(m)/1e9), "0")
	if dot := strings.IndexByte(s, '.'); len(s)-dot < 3 {
		s += strings.Repeat("0", 3-(len(s)-dot))
	}
	return "USD " + s
}

// plural writes a count and its noun.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Colours says whether output is coloured. The zero value writes plain text.
type Colours bool

func (c Colours) paint(code, s string) string {
	if !c || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (c Colours) bold(s string) string  { return c.paint("1", s) }
func (c Colours) faint(s string) string { return c.paint("2", s) }

// state colours a word by what it means. The text may be padded.
func (c Colours) state(word string) string {
	word = clean(word)
	switch strings.TrimSpace(word) {
	case "ok", "success", "ended", "resolved":
		return c.paint("32", word)
	case "error", "failure", "critical", "stalled":
		return c.paint("31", word)
	case "unknown", "warning", "escalated", "limit", "open":
		return c.paint("33", word)
	case "refused", "deferred", "paused", "withdrawn", "info", "running":
		return c.paint("36", word)
	}
	return word
}
