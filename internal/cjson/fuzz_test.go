package cjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

var seeds = []string{
	messages, `{"b":1,"a":{"d":"\u00fc","c":[1.50,-0,1e400]}}`, `{"a":"{\"b\":\"[1,2.0]\"}"}`, `"\ud83d\ude00\ud83d"`, "[\"a\xff\"]", `{"a":1,"a":2}`,
	`{"request_id":"08dde47f-7cf5-5208-96b1-4da4ce82c7e6","nonce":1,"timestamp":"2025-03-02T08:00:11+01:00"}`,
	`{"log":"2025-03-02 08:00:11,5 pid 12 took 1m31.5s request 7f3a9c11 in 0.5s"}`, `took 12 µs`, `request abcdefab-cdef-4208-96b1-4da4ce82c7e6`,
	`[1E5,10e-3,123456789012345678901234567890,0.1e-7]`, `{"\"":1,"!":2,"\ufb33":3,"😀":4}`, "[[[[", `{"x":"\u007b\u007d"}`, "20250302T080011Z",
	`<EMAIL_ADDRESS> [EMAIL] __REDACTED__ ****`, `{"started_at":1740902400.5,"took":"P1D","now":"Sun, 02 Mar 2025 08:00:11 GMT"}`,
}

// FuzzCanonical: no input panics; what encoding/json calls valid is accepted
// (but for depth and range) and means the same afterwards; the form is valid
// JSON and UTF-8, is its own form, and does not depend on white space or order.
func FuzzCanonical(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		valid := json.Valid([]byte(text))
		for _, form := range []func([]byte, string) ([]byte, error){Canonical, AppendExact} {
			out, err := form(nil, text)
			if errors.Is(err, ErrDepth) || errors.Is(err, ErrNumber) {
				continue
			}
			if (err == nil) != valid {
				t.Fatalf("%q: error %v, but valid is %v", text, err, valid)
			}
			if err != nil {
				continue
			}
			if !json.Valid(out) || !utf8.Valid(out) {
				t.Fatalf("%q: form %q is not valid", text, out)
			}
		}
		if !valid {
			return
		}
		out, err := Canonical(nil, text)
		if err != nil {
			return
		}
		if again, err := Canonical(nil, string(out)); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%q: form %q has form %q, %v", text, out, again, err)
		}
		var a, b any
		if json.Unmarshal([]byte(text), &a) != nil || json.Unmarshal(out, &b) != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%q and its form %q differ", text, out)
		}
		var spaced bytes.Buffer
		if json.Indent(&spaced, []byte(text), "\r", "\t ") == nil {
			if got, err := Canonical(nil, spaced.String()); err != nil || !bytes.Equal(got, out) {
				t.Fatalf("%q with white space: %q, %v; want %q", text, got, err, out)
			}
		}
		if shuffled, ok := shuffle(text); ok {
			if got, err := Canonical(nil, shuffled); err != nil || !bytes.Equal(got, out) {
				t.Fatalf("%q in another order, %q: %q, %v; want %q", text, shuffled, got, err, out)
			}
		}
	})
}

// shuffle writes a text again with its members in another order; false where a
// name occurs twice.
func shuffle(text string) (string, bool) {
	s := Scan(text)
	switch s.Kind() {
	case KindObject:
		var members []string
		names := map[string]bool{}
		for s.Object(); s.Next(); {
			if names[s.Key()] {
				return "", false
			}
			names[s.Key()] = true
			key := AppendQuoted(nil, s.Key())
			value, ok := shuffle(s.Raw())
			if !ok {
				return "", false
			}
			members = append(members, string(key)+":"+value)
		}
		rand.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		return "{" + strings.Join(members, " , ") + "}", s.Err() == nil
	case KindArray:
		var elements []string
		for s.Array(); s.Next(); {
			element, ok := shuffle(s.Raw())
			if !ok {
				return "", false
			}
			elements = append(elements, element)
		}
		return "[" + strings.Join(elements, ",") + "]", s.Err() == nil
	}
	return s.Raw(), s.Err() == nil
}

// FuzzNumber: the exact form of a number is exact, and one for each value.
func FuzzNumber(f *testing.F) {
	for _, seed := range []string{"0", "-0.0", "1e5", "100", "12.50e-3", "0.001", "9223372036854775809", "-1E+2", "1e-400"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, num string) {
		if !json.Valid([]byte(num)) || kindOf(num[0]) != KindNumber || strings.TrimSpace(num) != num {
			return
		}
		out, err := AppendExact(nil, num)
		if err != nil {
			return
		}
		if i := bytes.IndexByte(out, 'e'); i >= 0 && len(out)-i > 5 {
			return // too large for big.Rat
		}
		if i := strings.IndexAny(num, "eE"); i >= 0 && len(num)-i > 5 {
			return
		}
		a, okA := new(big.Rat).SetString(num)
		b, okB := new(big.Rat).SetString(string(out))
		if !okA || !okB || a.Cmp(b) != 0 {
			t.Fatalf("%q has the form %q", num, out)
		}
		if again, err := AppendExact(nil, string(out)); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%q: form %q has form %q, %v", num, out, again, err)
		}
		if plain := plainNumber(num); func() bool { c, ok := new(big.Rat).SetString(plain); return !ok || a.Cmp(c) != 0 }() {
			t.Fatalf("%q is written %q", num, plain)
		}
	})
}

// FuzzCompare: no text makes the comparison forms, the scanner or the look-ups
// panic, and a form depends on the text only.
func FuzzCompare(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, form := range []func() ([]byte, error){
			func() ([]byte, error) { return AppendArguments(nil, text, start) },
			func() ([]byte, error) { return AppendResult(nil, text) },
			func() ([]byte, error) { return AppendResultText(nil, text), nil },
		} {
			a, errA := form()
			b, errB := form()
			if !bytes.Equal(a, b) || !errors.Is(errA, errB) {
				t.Fatalf("%q: %q and %q", text, a, b)
			}
			if !utf8.Valid(a) {
				t.Fatalf("%q: form %q is no UTF-8", text, a)
			}
		}
		IsPlaceholder(text)
		Lookup(text, "a", "0", "b")
		readMessages(text, nil)
		s := Scan(text)
		if s.End() != Valid(text) {
			t.Fatalf("%q: the scanner and Valid differ", text)
		}
	})
}

func TestWorkIsLinearInHostileText(t *testing.T) {
	grow := map[string]func(n int) string{
		"brackets":          func(n int) string { return strings.Repeat("[", n) },
		"quotes":            func(n int) string { return strings.Repeat(`"{`, n) },
		"nested in strings": func(n int) string { return `["` + strings.Repeat(`[`, n) + strings.Repeat(`]`, n) + `"]` },
		"many members":      func(n int) string { return "{" + strings.Repeat(`"a":1,`, n) + `"a":1}` },
		"many words":        func(n int) string { return strings.Repeat("a1-", n) },
		"hex":               func(n int) string { return "request " + strings.Repeat("a", n) + "1" },
		"dashes":            func(n int) string { return strings.Repeat("abcdef-", n) + "1" },
		"times":             func(n int) string { return strings.Repeat("2025-03-02T08:00:", n) },
		"digits":            func(n int) string { return strings.Repeat("1", n) },
	}
	for name, text := range grow {
		t.Run(name, func(t *testing.T) {
			small, large := cost(t, text(1<<12), 16), cost(t, text(1<<16), 1)
			if large > 6*small+20*time.Millisecond { // quadratic work would be 16 times as much
				t.Errorf("one text took %v, the same length in 16 texts %v", large, small)
			}
		})
	}
}

// cost returns the least processor time of three tries of n readings of a text.
func cost(t *testing.T, text string, n int) time.Duration {
	t.Helper()
	best := time.Hour
	for range 3 {
		begin := processorTime(t)
		for range n {
			_, _ = AppendResult(nil, text)
			_, _ = AppendArguments(nil, text, 1)
			AppendResultText(nil, text)
			IsPlaceholder(text)
		}
		best = min(best, processorTime(t)-begin)
	}
	return best
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
