package cjson

import (
	"errors"
	"strings"
	"testing"
)

func TestCanonicalWritesTheFormOfRFC8785(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"white space goes", " { \"a\" : [ 1 , 2 ] }\n", `{"a":[1,2]}`},
		{
			"members are sorted by UTF-16 units, not by UTF-8", "{\"\u20ac\":1,\"\\r\":2,\"\ufb33\":3,\"1\":4,\"\U0001f600\":5,\"\u0080\":6,\"\u00f6\":7}",
			"{\"\\r\":2,\"1\":4,\"\u0080\":6,\"\u00f6\":7,\"\u20ac\":1,\"\U0001f600\":5,\"\ufb33\":3}",
		},
		{"members of nested objects too", `{"b":{"d":1,"c":2},"a":0}`, `{"a":0,"b":{"c":2,"d":1}}`},
		{"escaped names sort by what they mean", `{"\u0062":1,"a":2,"\"":3,"!":4}`, `{"!":4,"\"":3,"a":2,"b":1}`},
		{"of equal names the last counts", `{"a":1,"b":2,"a":3,"\u0061":4}`, `{"a":4,"b":2}`},
		{"escapes are the fewest", `"\u0041\/\u000a\u001F\u007f\"\\\u00e9"`, "\"A/\\n\\u001f\u007f\\\"\\\\é\""},
		{"surrogate pairs are one character", `"\ud83d\ude00"`, `"😀"`},
		{"a lone surrogate is U+FFFD", `"\ud83d" `, "\"\ufffd\""},
		{"two high surrogates and a low one", `"\ud83d\ud83d\ude00\ude00"`, "\"\ufffd😀\ufffd\""},
		{"invalid UTF-8 is U+FFFD a byte", "\"a\xff\xfeb\"", "\"a\ufffd\ufffdb\""},
		{
			"numbers as ECMAScript writes them", `[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001,-0,1.0,1e21,1e20,1e-6,1e-7,5e-324,-1e-7]`,
			`[333333333.3333333,1e+30,4.5,0.002,1e-27,0,1,1e+21,100000000000000000000,0.000001,1e-7,5e-324,-1e-7]`,
		},
		{"integers beyond 2^53 become the nearest double", `9007199254740993`, `9007199254740992`},
		{"JSON in strings stays a string", `{"a":"{\"b\": 1}"}`, `{"a":"{\"b\": 1}"}`},
		{"literals", `[true,false,null,"",{},[]]`, `[true,false,null,"",{},[]]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Canonical(nil, test.in)
			if err != nil || string(got) != test.want {
				t.Errorf("Canonical(%s)\n got %s, %v\nwant %s", test.in, got, err, test.want)
			}
		})
	}
}

func TestWhatIsNoJSONIsAnErrorAndLeavesTheBuffer(t *testing.T) {
	for _, in := range []string{
		"", " ", "{", `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `[1,]`, `[1`, `["a`, `"\u12"`, `"\x"`, `"a` + "\n" + `"`,
		"01", "1.", ".5", "1e", "+1", "-", "tru", "nul", "NaN", "{a:1}", "{'a':1}", `{"a":1}}`, "1 2", "[1 2]", `{"a" 1}`, "\ufeff1",
	} {
		got, err := Canonical([]byte("kept"), in)
		if err == nil || string(got) != "kept" {
			t.Errorf("Canonical(%q) = %q, %v; want the buffer and an error", in, got, err)
		}
		if Valid(in) {
			t.Errorf("Valid(%q)", in)
		}
	}
	deep := strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1)
	if _, err := Canonical(nil, deep); !errors.Is(err, ErrDepth) {
		t.Errorf("nested too deep: %v", err)
	}
	if _, err := Canonical(nil, deep[1:len(deep)-1]); err != nil {
		t.Errorf("nested as deep as allowed: %v", err)
	}
	if _, err := Canonical(nil, "1e400"); !errors.Is(err, ErrNumber) {
		t.Errorf("1e400: %v", err)
	}
}

func TestExactFormsAreEqualWhereTheMeaningIs(t *testing.T) {
	for _, test := range []struct {
		name  string
		equal bool
		a, b  string
	}{
		{"spellings of one number", true, `[1,1.0,1e0,10e-1,100]`, `[1.00,1E+0,0.1e1,1,1e2]`},
		{"zero in all spellings", true, `[0,0.0,-0,0e999999999999999]`, `[0e5,-0.0,0,0]`},
		{"integers beyond a double", false, `9223372036854775808`, `9223372036854775809`},
		{"decimals beyond a double", false, `0.1000000000000000000001`, `0.1`},
		{"sign", false, `-5`, `5`},
		{"fraction and integer", false, `2.5`, `25`},
		{"text and number", false, `"1"`, `1`},
		{"order of members", true, `{"a":1,"b":[2,{"c":3,"d":4}]}`, "{\"b\":[2,{\"d\":4,\"c\":3}],\n\"a\":1}"},
		{"order of elements", false, `[1,2]`, `[2,1]`},
		{"escapes", true, `"Z\u00fcrich"`, `"Zürich"`},
		{"JSON in a string", true, `{"a":"{\"c\": 1.0, \"b\":2}"}`, `{"a":{"b":2,"c":1}}`},
		{"JSON in a string in a string", true, `"{\"a\":\"{\\\"b\\\":[1, 2]}\"}"`, `{"a":{"b":[1,2]}}`},
		{"JSON in a string whose brackets are escaped", true, `"\u007b\"a\":1\u007d"`, `{"a":1}`},
		{"JSON in a string with white space around", true, `"\n [1,\t2] \n"`, `[1,2]`},
		{"a string that only looks like JSON", false, `"[draft] see [1]"`, `["draft"]`},
		{"a scalar in a string stays one", false, `"12"`, `12`},
		{"a missing member", false, `{"a":null}`, `{}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, errA := AppendExact(nil, test.a)
			b, errB := AppendExact(nil, test.b)
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if (string(a) == string(b)) != test.equal {
				t.Errorf("%s and %s: %s and %s, want equal %v", test.a, test.b, a, b, test.equal)
			}
		})
	}
}

func TestUnfoldingEndsAfterEightLevels(t *testing.T) {
	text, want := `{"a":1}`, `{"a":1}`
	for range MaxUnfold {
		text = `{"a":` + string(AppendQuoted(nil, text)) + `}`
		want = `{"a":` + want + `}`
	}
	if got, err := AppendExact(nil, text); err != nil || string(got) != want {
		t.Errorf("eight levels: %s, %v; want %s", got, err, want)
	}
	text = `{"a":` + string(AppendQuoted(nil, text)) + `}`
	if got, err := AppendExact(nil, text); err != nil || !strings.Contains(string(got), `"{\"a\":1}"`) {
		t.Errorf("nine levels: %s, %v; want a string inside", got, err)
	}
}

func TestACommonTextAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("pools forget at random under the race detector")
	}
	const text = `{"order_id":"7731","amount":59.00,"note":"refund f\u00fcr \"Anna\"","b":{"z":1,"a":[true,null]}}`
	buf := make([]byte, 0, 1024)
	for name, f := range map[string]func(){
		"Canonical":       func() { buf, _ = Canonical(buf[:0], text) },
		"AppendExact":     func() { buf, _ = AppendExact(buf[:0], text) },
		"AppendArguments": func() { buf, _ = AppendArguments(buf[:0], text, 1) },
		"AppendResult":    func() { buf, _ = AppendResult(buf[:0], text) },
		"Lookup":          func() { Lookup(text, "b", "z") },
	} {
		if n := testing.AllocsPerRun(200, f); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
