package cjson

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const messages = `[ {"role":"user","parts":[{"type":"text","content":"line\n\"two\" é"}]},
 {"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"get","arguments":{"a":[1,{"b":2}]}}],"finish_reason":"stop"},
 {"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":null}]}, 7, [], {} ]`

func TestScannerReadsMessagesInOnePass(t *testing.T) {
	var got []string
	s := Scan(messages)
	for s.Array(); s.Next(); {
		for s.Object(); s.Next(); {
			switch s.Key() {
			case "role":
				got = append(got, s.Text())
			case "parts":
				for s.Array(); s.Next(); {
					for s.Object(); s.Next(); {
						switch s.Key() {
						case "content":
							got = append(got, string(s.AppendText(nil)))
						case "arguments", "response":
							got = append(got, fmt.Sprint(s.Kind()), s.Raw())
						}
					}
				}
			}
		}
	}
	want := []string{"user", "line\n\"two\" é", "assistant", fmt.Sprint(KindObject), `{"a":[1,{"b":2}]}`, "tool", fmt.Sprint(KindNull), "null"}
	if !reflect.DeepEqual(got, want) || s.Err() != nil || !s.End() {
		t.Errorf("got %q, %v", got, s.Err())
	}
}

func TestScannerStopsAtWhatIsNoJSON(t *testing.T) {
	for _, text := range []string{"", "[", "[1", "[1,", "[1 2]", `{"a"`, `{"a":}`, `{"a":1,}`, `{1:2}`, "[1]]", "x", `["a]`, "[,1]", "[1,]"} {
		s := Scan(text)
		switch s.Kind() {
		case KindObject:
			for s.Object(); s.Next(); {
				s.Skip()
			}
		default:
			for s.Array(); s.Next(); {
				s.Skip()
			}
		}
		if s.End() {
			t.Errorf("%q was read to its end", text)
		}
	}
}

func TestScannerSkipsWhatIsOfAnotherKind(t *testing.T) {
	s := Scan(`[{"a":1},"x",[2]]`)
	var got []string
	for s.Array(); s.Next(); {
		for s.Object(); s.Next(); {
			got = append(got, s.Key(), s.Raw())
		}
	}
	if !reflect.DeepEqual(got, []string{"a", "1"}) || !s.End() {
		t.Errorf("got %q, %v", got, s.Err())
	}
}

func TestScannerAllocatesNothingForPlainText(t *testing.T) {
	buf := make([]byte, 0, 256)
	if n := testing.AllocsPerRun(200, func() { buf = readMessages(messages, buf) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// readMessages reads messages as the canon package does: contents are decoded,
// arguments left as they are.
func readMessages(text string, buf []byte) []byte {
	buf = buf[:0]
	s := Scan(text)
	for s.Array(); s.Next(); {
		for s.Object(); s.Next(); {
			switch s.Key() {
			case "role":
				buf = append(buf, s.Text()...)
			case "parts":
				for s.Array(); s.Next(); {
					for s.Object(); s.Next(); {
						switch s.Key() {
						case "content":
							buf = s.AppendText(buf)
						case "arguments", "response":
							_ = s.Raw()
						}
					}
				}
			}
		}
	}
	return buf
}

func TestAppendDecodedTakesAnyText(t *testing.T) {
	for in, want := range map[string]string{
		"":                               "",
		`\`:                              `\`,
		`1234567\`:                       `1234567\`,
		`\u`:                             "\ufffd",
		`\q`:                             "q",
		`12345678\"abcdefg\\hijklmnop\/`: `12345678"abcdefg\hijklmnop/`,
		`a\u00e9\ud83d\ude00\ud83d!`:     "aé😀\ufffd!",
		"\xff\\n\xfe12345678":            "\xff\n\xfe12345678",
		// Longer than what was written, and more so with each.
		strings.Repeat(`\u`, 50) + "end": strings.Repeat("\ufffd", 50) + "end",
		strings.Repeat(`\u12`, 50):       strings.Repeat("\ufffd12", 50),
	} {
		if got := string(AppendDecoded([]byte("before"), in)); got != "before"+want {
			t.Errorf("%q became %q, want %q", in, got, "before"+want)
		}
	}
}
