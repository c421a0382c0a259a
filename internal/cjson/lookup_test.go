package cjson

import "testing"

func TestLookupReturnsTheScalarAtAPath(t *testing.T) {
	const text = `{"order_id":"7731","n":1.0,"big":9223372036854775809,"f":12.50,"small":-0.00250,"exp":12e3,"yes":true,"none":null,
		"a":{"b":{"c":"d\u00e9"}},"list":[{"x":1},{"x":2}],"args":"{\"k\":{\"z\":\"deep\"}}","twice":1,"twice":2,"":"empty name","huge":1e400}`
	for _, test := range []struct {
		path []string
		want string
		ok   bool
	}{
		{[]string{"order_id"}, "7731", true},
		{[]string{"n"}, "1", true},
		{[]string{"big"}, "9223372036854775809", true},
		{[]string{"f"}, "12.5", true},
		{[]string{"small"}, "-0.0025", true},
		{[]string{"exp"}, "12000", true},
		{[]string{"huge"}, "1e400", true},
		{[]string{"yes"}, "true", true},
		{[]string{"none"}, "", false},
		{[]string{"a"}, "", false},
		{[]string{"a", "b", "c"}, "dé", true},
		{[]string{"a", "x", "c"}, "", false},
		{[]string{"list", "1", "x"}, "2", true},
		{[]string{"list", "01", "x"}, "", false},
		{[]string{"list", "2", "x"}, "", false},
		{[]string{"list", "-1", "x"}, "", false},
		{[]string{"list", "", "x"}, "", false},
		{[]string{"args", "k", "z"}, "deep", true},
		{[]string{"twice"}, "2", true},
		{[]string{""}, "empty name", true},
		{[]string{"order_id", "x"}, "", false},
		{[]string{"absent"}, "", false},
	} {
		if got, ok := Lookup(text, test.path...); got != test.want || ok != test.ok {
			t.Errorf("Lookup(%q) = %q, %v; want %q, %v", test.path, got, ok, test.want, test.ok)
		}
	}
	if got, ok := Lookup(`{"a":1`, "a"); ok {
		t.Errorf("a text cut off has %q", got)
	}
	if got, ok := Lookup(` "x" `); got != "x" || !ok {
		t.Errorf("the whole value: %q, %v", got, ok)
	}
}

func TestIsPlaceholderKnowsMasksOfOthers(t *testing.T) {
	for _, text := range []string{
		"__REDACTED__", `{"a":"__REDACTED__"}`, "[REDACTED]", "[redacted]", "to [EMAIL] now", "[ORDER]", "[CREDIT_CARD]", "[IP]", "[EMAIL_1]",
		"[Scrubbed due to 'password']", "[Filtered]", "[REDACTED: secret]", "****", "card ****1234", "<EMAIL_ADDRESS>", `\n[EMAIL]`, `["[EMAIL]"]`,
	} {
		if !IsPlaceholder(text) {
			t.Errorf("%q is none", text)
		}
	}
	for _, text := range []string{
		"", "***", "[ERROR] disk full", "[INFO]", "[OK]", "[PASSED]", "[EMAIL:9f3a11d2]", "[email]", "[A]", "[1]", "buf[MAX_SIZE]", "a[i][SIZE]",
		"[README](x.md)", "[not set]", "[", "[EMAIL", "<HTML>", "<>", `["EMAIL"]`, "__init__", "[]", "[filtered results]", "see [Wikipedia]", "[2025]",
	} {
		if IsPlaceholder(text) {
			t.Errorf("%q is one", text)
		}
	}
}
