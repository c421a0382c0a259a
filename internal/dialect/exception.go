package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/canon"
)

// classOfException takes the class of an exception out of its message: the SDK
// writes the repr of the exception and its stack there, and Exception as type.
func classOfException(span ptrace.Span) {
	for _, ev := range span.Events().All() {
		if ev.Name() != canon.ExceptionEvent {
			continue
		}
		typ, ok := ev.Attributes().Get(canon.ExceptionType)
		if !ok || typ.Type() != pcommon.ValueTypeStr || typ.Str() != "Exception" {
			continue
		}
		message, ok := ev.Attributes().Get(canon.ExceptionMessage)
		if !ok || message.Type() != pcommon.ValueTypeStr {
			continue
		}
		if class, said, ok := reprOf(message.Str()); ok {
			typ.SetStr(class)
			message.SetStr(said)
		}
	}
}

// maxClass is the longest name of a class that is read out of a text.
const maxClass = 128

// reprOf reads Class('text') or Class(anything) at the beginning of a text, up
// to the stack behind it.
func reprOf(s string) (class, said string, ok bool) {
	class, rest, ok := strings.Cut(s, "(")
	if !ok || !isClass(class) {
		return "", "", false
	}
	if i := strings.Index(rest, "Traceback (most recent call last)"); i >= 0 {
		rest = rest[:i]
	}
	rest = strings.TrimRight(rest, " \r\n")
	rest = strings.TrimSuffix(rest, ")")
	for _, quote := range [...]string{"'", `"`} {
		if len(rest) > 1 && strings.HasPrefix(rest, quote) && strings.HasSuffix(rest, quote) {
			rest = rest[1 : len(rest)-1]
			break
		}
	}
	return class, rest, true
}

// classOfStack takes the class of an exception out of its message, where the
// event names none: JavaScript's packages write the message, an empty line and
// the stack there, which begins with the class.
func classOfStack(span ptrace.Span) {
	for _, ev := range span.Events().All() {
		if ev.Name() != canon.ExceptionEvent {
			continue
		}
		at := ev.Attributes()
		if _, ok := at.Get(canon.ExceptionType); ok {
			continue
		}
		message, ok := at.Get(canon.ExceptionMessage)
		if !ok || message.Type() != pcommon.ValueTypeStr {
			continue
		}
		if class, said, stack, ok := stackOf(message.Str()); ok {
			message.SetStr(said)
			at.PutStr(canon.ExceptionType, class)
			at.PutStr(canon.ExceptionStack, stack)
		}
	}
}

// maxParagraphs is how many empty lines of a message are looked behind for its
// stack.
const maxParagraphs = 8

// stackOf divides a message from the stack behind it.
func stackOf(s string) (class, said, stack string, ok bool) {
	if !strings.Contains(s, "\n    at ") {
		return "", "", "", false
	}
	at := 0
	for range maxParagraphs {
		i := strings.Index(s[at:], "\n\n")
		if i < 0 {
			break
		}
		at += i + 2
		class, _, ok = strings.Cut(s[at:], ":")
		if ok && isClass(class) {
			return class, s[:at-2], s[at:], true
		}
	}
	return "", "", "", false
}

// isClass reports whether a text can be the name of a class.
func isClass(s string) bool {
	return s != "" && len(s) <= maxClass && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && r != '.' && r != '$' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// isInterrupted reports whether a graph's node stopped to wait for a person.
func isInterrupted(span ptrace.Span) bool { return hasException(span, "GraphInterrupt") }

// hasException reports whether the span has an exception whose class has that
// name, with or without its module.
func hasException(span ptrace.Span, class string) bool {
	evs := span.Events()
	for i := range evs.Len() {
		if ev := evs.At(i); ev.Name() == canon.ExceptionEvent {
			if v, ok := ev.Attributes().Get(canon.ExceptionType); ok && strings.HasSuffix(text(v), class) {
				return true
			}
		}
	}
	return false
}

// maxMessage bounds a status message that is taken from content, in bytes.
const maxMessage = 4096

// describe gives a span's status a message, where it has none.
func describe(span ptrace.Span, message string) {
	if span.Status().Message() == "" {
		span.Status().SetMessage(canon.Cut(message, maxMessage))
	}
}
