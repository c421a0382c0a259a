package dialect

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// putEvents takes messages that came as one list of events, each with its name
// (gen_ai.*.message, gen_ai.choice) and the message's members, to input and output.
// The output is the choices, or where there are none the assistant's messages at
// the end. whole: the list is a conversation, all of it input.
// It reports whether the text was such a list.
func putEvents(at pcommon.Map, raw string, whole bool) bool {
	sc := cjson.Scan(raw)
	if sc.Kind() != cjson.KindArray {
		return false
	}
	// Elements are slices of raw, so the list is cut rather than written anew.
	n, cut, end := 0, 0, 0 // elements, the first of the output, where the input ends
	pos := 1
	choices := false
	for sc.Array(); sc.Next(); n++ {
		element := sc.Raw()
		if element == "" {
			return false // no JSON from here on
		}
		from := pos + indexOf(raw[pos:], element)
		pos = from + len(element)
		switch kind := kindOfEvent(element); {
		case whole || choices && kind != eventKindChoice:
		case kind == eventKindChoice && !choices:
			choices, cut, end = true, n, from
		case kind == eventKindChoice:
		case kind != eventKindAssistant:
			cut, end = n+1, 0
		case end == 0:
			end = from
		}
	}
	if !sc.End() || n == 0 {
		return false
	}
	if whole || cut == n {
		putNew(at, canon.InputMessages, raw)
		return true
	}
	putNew(at, canon.OutputMessages, "["+raw[end:])
	if cut > 0 {
		putNew(at, canon.InputMessages, trimComma(raw[:end])+"]")
	}
	return true
}

type eventKind uint8

const (
	eventKindOther eventKind = iota
	eventKindAssistant
	eventKindChoice
)

// kindOfEvent tells a choice and an assistant's message from the others.
func kindOfEvent(element string) eventKind {
	kind := eventKindOther
	sc := cjson.Scan(element)
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "event.name":
			switch sc.Text() {
			case eventChoice:
				kind = eventKindChoice
			case eventAssistant:
				kind = max(kind, eventKindAssistant)
			}
		case "role":
			if canon.RoleOf(sc.Text()).String() == "assistant" {
				kind = max(kind, eventKindAssistant)
			}
		}
	}
	return kind
}

// indexOf finds an element in what is left of its list: white space and a comma
// stand before it.
func indexOf(rest, element string) int {
	i := 0
	for i < len(rest) && rest[i] != element[0] {
		i++
	}
	return i
}

// trimComma cuts the comma that stood between the last element and the next.
func trimComma(s string) string {
	for len(s) > 0 {
		switch s[len(s)-1] {
		case ',', ' ', '\n', '\r', '\t':
			s = s[:len(s)-1]
		default:
			return s
		}
	}
	return s
}
