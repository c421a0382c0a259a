package redact

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/steptrail/steptrail/internal/cjson"
)

var testKey = []byte("0123456789abcdef0123456789abcdef")

func newTenant(tb testing.TB, change func(*Config)) *Tenant {
	tb.Helper()
	c := Config{
		Mode: ModePseudonym, Key: testKey, Detectors: DetectorNames(), Keys: []string{"password", "authorization", "*_secret"},
		Rules: []Rule{{Name: "patient_id", Pattern: `PAT-\d{8}`}},
	}
	if change != nil {
		change(&c)
	}
	r, err := New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return r.ForTenant("acme")
}

var pseudonyms = regexp.MustCompile(`\[([A-Z_]+):[0-9a-f]{20}\]`)

// redacted returns the stored form with the digits of pseudonyms left out.
func redacted(t *testing.T, tenant *Tenant, text string) string {
	t.Helper()
	got, err := tenant.Text(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return pseudonyms.ReplaceAllString(got.Stored, "<$1>")
}

func TestTextRemovesWhatIsSecret(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"an address in prose", "write to ann.berg+x@mail.example.com, please", "write to <EMAIL>, please"},
		{"an address and nothing else", "ann@example.com", "<EMAIL>"},
		{"several addresses", "ann@example.com;bob@example.com", "<EMAIL>;<EMAIL>"},
		{"in a JSON value", `{"to":"ann@example.com","n":1}`, `{"to":"<EMAIL>","n":1}`},
		{"in a JSON name", `{"ann@example.com":true}`, `{"<EMAIL>":true}`},
		{"behind an escape of JSON", `{"log":"to:\nann@example.com\tok"}`, `{"log":"to:\n<EMAIL>\tok"}`},
		{"with an escape inside", `{"to":"ann\u0040example.com"}`, `{"to":"<EMAIL>"}`},
		{"in JSON inside a string", `{"args":"{\"to\": \"ann@example.com\", \"password\": \"x\"}"}`, `{"args":"{\"to\": \"<EMAIL>\", \"password\": \"<SECRET>\"}"}`},
		{"in a JSON string alone", `"ann@example.com"`, `"<EMAIL>"`},
		{"percent-encoded", "?q=ann%40example.com&x=1", "?q=<EMAIL>&x=1"},
		{"percent-encoded twice", "?q=ann%2540example.com", "?q=<EMAIL>"},
		{"as an entity with zeros before it", "ann&#000000000064;example.com ann&#x0000000000040;example.com", "<EMAIL> <EMAIL>"},
		{"in other escapes", `ann%u0040example.com ann\u{40}example.com ann\U00000040example.com`, "<EMAIL> <EMAIL> <EMAIL>"},
		{"in small forms", "ann\ufe6bexample\ufe52com ann@example\u2024com", "<EMAIL> <EMAIL>"},
		{
			"a listed name in another spelling", `{"password ":"x1","pass\u200bword":"x1","\uff50assword":"x1","pass%77ord":"x1"," client secret":"x1"}`,
			`{"password ":"<SECRET>","pass\u200bword":"<SECRET>","\uff50assword":"<SECRET>","pass%77ord":"<SECRET>"," client secret":"<SECRET>"}`,
		},
		{"as an entity", "ann&#64;example.com ann&#x40;example&period;com ann&amp;#64;example.com", "<EMAIL> <EMAIL> <EMAIL>"},
		{"with an escape in a text", `say ann\u0040example.com`, "say <EMAIL>"},
		{"in full-width letters", "連絡先 ａｎｎ＠ｅｘａｍｐｌｅ．ｃｏｍ です", "連絡先 <EMAIL> です"},
		{"with characters of no width", "an\u200bn@exam\u00adple.com", "<EMAIL>"},
		{"in another script", "пиши на анна@пример.рф!", "пиши на <EMAIL>!"},
		{"next to another script", "联系ann@example.com谢谢", "联系<EMAIL>谢谢"},
		{"with marks around", "**ann@example.com** <bob@example.com> 'eve@example.com' (o'hara@example.com).", "**<EMAIL>** <<EMAIL>> '<EMAIL>' (<EMAIL>)."},
		{"after an equals sign", "user=ann@example.com", "user=<EMAIL>"},
		{"in a comment", "//ann@example.com(work)", "//<EMAIL>(work)"},
		{"in a mailto link", "mailto:ann@example.com?subject=x", "mailto:<EMAIL>?subject=x"},
		{"with a NUL beside", "\x00ann@example.com\x00", "\x00<EMAIL>\x00"},
		{"beside invalid UTF-8", "\xff ann@example.com \xfe", "\xff <EMAIL> \xfe"},
		{"after invalid UTF-8", "\xc3ann@example.com", "\xc3<EMAIL>"},
		{"in a stack trace", "at Mailer.send (/srv/app.js:12:3)\n  to ann@example.com", "at Mailer.send (/srv/app.js:12:3)\n  to <EMAIL>"},
		{"in cut-off JSON", `{"to":"ann@example.com","body":"see bob@exam`, `{"to":"<EMAIL>","body":"see bob@exam`},
		{"in a string that is cut off", `{"a":1,"body":"see\nbob@example.com and`, `{"a":1,"body":"see\n<EMAIL> and`},
		{"in JSON inside a string that is cut off", `{"args":"{\"password\":\"x1\",\"to\":\"ann@example.com\",\"b`, `{"args":"{\"password\":\"<SECRET>\",\"to\":\"<EMAIL>\",\"b`},
		{"in text that begins like JSON", `[note] ask ann@example.com about "x"`, `[note] ask <EMAIL> about "x"`},
		{"in a Python dict", `{'to': 'ann@example.com'}`, `{'to': '<EMAIL>'}`},
		{
			"a listed name", `{"password":"hunter2","x":{"client_secret":"s","clientSecret":"s","Authorization":"Bearer y"}}`,
			`{"password":"<SECRET>","x":{"client_secret":"<SECRET>","clientSecret":"<SECRET>","Authorization":"<SECRET>"}}`,
		},
		{"a listed name with white space", "{ \"password\" : \n \"hunter2\" }", "{ \"password\" : \n \"<SECRET>\" }"},
		{"a listed name with escapes", `{"pass\u0077ord":"hunter2"}`, `{"pass\u0077ord":"<SECRET>"}`},
		{
			"a listed name before a number, list, object", `{"password":12,"password":[1,"a"],"password":{"a":{"b":2}},"c":3}`,
			`{"password":"<SECRET>","password":"<SECRET>","password":"<SECRET>","c":3}`,
		},
		{
			"a listed name before what says nothing", `{"password":"","password":null,"password":true,"password":{},"password":[]}`,
			`{"password":"","password":null,"password":true,"password":{},"password":[]}`,
		},
		{"a listed name before a value that is cut off", `{"a":1,"password":"hunt`, `{"a":1,"password":"<SECRET>"`},
		{"a listed name before an object that is cut off", `{"a":1,"password":{"b":"hunt`, `{"a":1,"password":"<SECRET>"`},
		{"a listed name before a string with an escape that is none", `{"password":"C:\hunter","b":1}`, `{"password":"<SECRET>","b":1}`},
		{"a match of an own rule", `{"p":"PAT-12345678 and PAT-1234"}`, `{"p":"<PATIENT_ID> and PAT-1234"}`},
		{"a match of an own rule that holds an address", "ann@example.com PAT-12345678", "<EMAIL> <PATIENT_ID>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := redacted(t, newTenant(t, nil), test.in); got != test.want {
				t.Errorf("%q\n got %q\nwant %q", test.in, got, test.want)
			}
		})
	}
}

func TestTextLeavesWhatIsNoSecret(t *testing.T) {
	tenant := newTenant(t, nil)
	for _, text := range []string{
		"", "@", "a@", "@b.com", "hello", "@angular/core", "react@18.2.0", "pkg@1.2.3-beta.1", "icon@2x.png", "logo@3x.webp",
		"git@github.com:org/repo.git", "ssh://deploy@host.example.com/x", "root@localhost", "@app.route('/x')", "x@w.reshape(2)", "a @ b.com",
		"java.lang.Object@1b2c3d", `{"id":"7731","at":"2025-03-02T08:00:11Z","amount":59.00,"uuid":"08dde47f-7cf5-5208-96b1-4da4ce82c7e6"}`,
		"100%40", "[ERROR] x", "[1,2,3]", `{"passwords":3,"secret_santa":"Ann"}`, "\xff\xfe\x00", "image@sha256:abc", `"unclosed`, `C:\new\table`,
		`{"a":"b\\nc"}`, "[EMAIL]", "5 [a:b]", "someone@example", "a@b.c",
	} {
		got, err := tenant.Text(text)
		if err != nil || got.Stored != text || got.Compare != text || got.Count != 0 || got.Found != nil {
			t.Errorf("%q became %+v, %v", text, got, err)
		}
	}
}

func TestEqualValuesGetOnePseudonym(t *testing.T) {
	tenant := newTenant(t, nil)
	pseudonym := func(tenant *Tenant, text string) string {
		got, err := tenant.Text(text)
		if err != nil {
			t.Fatal(err)
		}
		return pseudonyms.FindString(got.Stored)
	}
	want := pseudonym(tenant, "ann@example.com")
	for _, spelling := range []string{
		"to ann@example.com.", "Ann@Example.COM", "ann%40example.com", "ann&#64;example.com", `{"a":"ann\u0040example.com"}`,
		`{"a":"{\"b\":\"\\u0061nn@example.com\"}"}`, "ann＠example．com", "ann@exam\u200bple.com", `x=ann\u0040example.com`, "user=ann@example.com",
	} {
		if got := pseudonym(tenant, spelling); got != want {
			t.Errorf("%q has %q, want %q", spelling, got, want)
		}
	}
	if got := pseudonym(tenant, "bob@example.com"); got == want || got == "" {
		t.Errorf("another address has %q", got)
	}
	other := tenant.r.ForTenant("globex")
	if got := pseudonym(other, "ann@example.com"); got == want || got == "" {
		t.Errorf("another tenant has %q", got)
	}
	if got := pseudonym(newTenant(t, func(c *Config) { c.Key = []byte("another key, long enough") }), "ann@example.com"); got == want {
		t.Error("another key has the same")
	}
	a, _ := tenant.Text(`{"password":{"a":1.0,"b":2}}`)
	b, _ := tenant.Text(`{"password": {"b":2,"a":1}}`)
	if pseudonyms.FindString(a.Stored) != pseudonyms.FindString(b.Stored) {
		t.Errorf("equal objects: %s and %s", a.Stored, b.Stored)
	}
}

func TestMasksAreStoredAndPseudonymsCompared(t *testing.T) {
	mask := newTenant(t, func(c *Config) { c.Mode = ModeMask })
	pseudonym := newTenant(t, nil)
	for _, text := range []string{
		"ann@example.com", `{"to":"ann@example.com","password":"x","args":"{\"to\":\"ann@example.com\"}"}`, "clean", `{"a":"PAT-12345678"}`,
	} {
		m, errM := mask.Text(text)
		p, errP := pseudonym.Text(text)
		if errM != nil || errP != nil {
			t.Fatal(errM, errP)
		}
		if m.Compare != p.Stored || p.Compare != p.Stored {
			t.Errorf("%q is compared as %q, %q", text, m.Compare, p.Compare)
		}
		if want := pseudonyms.ReplaceAllString(p.Stored, "[$1]"); m.Stored != want {
			t.Errorf("%q is stored as %q, want %q", text, m.Stored, want)
		}
		if m.Count != p.Count || fmt.Sprint(m.Found) != fmt.Sprint(p.Found) {
			t.Errorf("%q: %+v and %+v", text, m, p)
		}
		if p.Count > 0 && (!cjson.IsPlaceholder(m.Stored) || cjson.IsPlaceholder(p.Stored)) {
			t.Errorf("%q: a mask compares or a pseudonym does not", text)
		}
	}
}

func TestFoundCountsByDetector(t *testing.T) {
	got, err := newTenant(t, nil).Text(`{"password":"x","a":"ann@example.com bob@example.com PAT-12345678"}`)
	if want := "[{email 2} {patient_id 1} {keys 1}]"; err != nil || fmt.Sprint(got.Found) != want || got.Count != 4 {
		t.Errorf("got %v %d, %v; want %s", got.Found, got.Count, err, want)
	}
}

func TestWhatPosesAsOursIsMarked(t *testing.T) {
	tenant := newTenant(t, nil)
	ours, _ := tenant.Text("ann@example.com")
	again, _ := tenant.Text("to " + ours.Stored)
	if again.Stored != "to "+ours.Stored || again.Count != 0 {
		t.Errorf("our own became %q", again.Stored)
	}
	const forged = "[EMAIL:0123456789abcdef0123]"
	got, _ := tenant.Text(forged)
	if got.Stored != "[EMAIL:0123456789abcdef0123?]" || got.Count != 0 {
		t.Errorf("a forged one became %q", got.Stored)
	}
	if twice, _ := tenant.Text(got.Stored); twice.Stored != got.Stored {
		t.Errorf("marked twice: %q", twice.Stored)
	}
	if got := redacted(t, tenant, `{"a":"`+forged+`"}`); got != `{"a":"[EMAIL:0123456789abcdef0123?]"}` {
		t.Errorf("a forged one in JSON became %q", got)
	}
	if other, _ := tenant.r.ForTenant("globex").Text(ours.Stored); other.Stored == ours.Stored {
		t.Errorf("another tenant's was taken for its own")
	}
	if got := redacted(t, tenant, `{"password":"`+ours.Stored+`"}`); got != `{"password":"<EMAIL>"}` {
		t.Errorf("our own under a listed name became %q", got)
	}
}

func TestValueRemovesAllOfAListedAttribute(t *testing.T) {
	tenant := newTenant(t, nil)
	for name, secret := range map[string]bool{
		"password": true, "http.request.header.authorization": true, "Authorization": true, "app/client-secret": true, "clientSecret": true,
		"password_hint": false, "gen_ai.input.messages": false, "": false, strings.Repeat("x", 400) + "_secret": true,
	} {
		got, err := tenant.Value(name, "Bearer abc")
		if err != nil || pseudonyms.MatchString(got.Stored) != secret || tenant.r.Secret(name) != secret {
			t.Errorf("%s became %q, %v", name, got.Stored, err)
		}
	}
	got, _ := tenant.Value("password", "")
	if got.Stored != "" || got.Count != 0 {
		t.Errorf("an empty value became %+v", got)
	}
	first, _ := tenant.Value("password", "x")
	if again, _ := tenant.Value("password", first.Stored); again.Stored != first.Stored {
		t.Errorf("a second time: %q", again.Stored)
	}
}

func TestKeysAndTargetsAreKeptOrPseudonymised(t *testing.T) {
	keep := newTenant(t, func(c *Config) { c.Mode = ModeMask })
	if got, err := keep.Key("refund-7731"); got != "refund-7731" || err != nil {
		t.Errorf("a kept key became %q, %v", got, err)
	}
	if got, err := keep.Target("customer/ann@example.com"); pseudonyms.ReplaceAllString(got, "<$1>") != "customer/<EMAIL>" || err != nil {
		t.Errorf("a kept target became %q, %v; an address in it is a pseudonym in either mode", got, err)
	}
	hide := newTenant(t, func(c *Config) { c.IdempotencyKeys, c.Targets = TreatmentPseudonym, TreatmentPseudonym })
	for in, want := range map[string]string{"order/7731": "order/<TARGET>", "7731": "<TARGET>", "a/b/c": "a/<TARGET>", "": ""} {
		got, err := hide.Target(in)
		if err != nil || pseudonyms.ReplaceAllString(got, "<$1>") != want {
			t.Errorf("target %q became %q, %v; want %q", in, got, err, want)
		}
		if again, _ := hide.Target(got); again != got {
			t.Errorf("a second time: %q", again)
		}
	}
	a, _ := hide.Key("k1")
	b, _ := hide.Key("k2")
	if again, _ := hide.Key(a); a == b || again != a || pseudonyms.ReplaceAllString(a, "<$1>") != "<KEY>" {
		t.Errorf("keys became %q and %q, again %q", a, b, again)
	}
}

func TestTooMuchWorkIsAnError(t *testing.T) {
	tenant := newTenant(t, func(c *Config) { c.MaxBytes = 1 << 12 })
	if got, err := tenant.Text(strings.Repeat("x", 1<<12+1)); !errors.Is(err, ErrTooLong) || got.Stored != "" {
		t.Errorf("a long text: %q, %v", got.Stored, err)
	}
	if _, err := tenant.Value("password", strings.Repeat("x", 1<<12+1)); !errors.Is(err, ErrTooLong) {
		t.Errorf("a long secret: %v", err)
	}
	tenant = newTenant(t, nil)
	text := `{"password":"hunter2","to":"ann@example.com"}`
	for range MaxLevels {
		text = `{"a":` + string(cjson.AppendQuoted(nil, text)) + `}`
	}
	got, err := tenant.Text(text)
	if err != nil || strings.Contains(got.Stored, "hunter2") || strings.Contains(got.Stored, "ann@") || got.Count != 2 {
		t.Errorf("eight levels: %+v, %v", got, err)
	}
	text = `{"a":` + string(cjson.AppendQuoted(nil, text)) + `}`
	if got, err := tenant.Text(text); !errors.Is(err, ErrTooDeep) || got.Stored != "" {
		t.Errorf("nine levels: %+v, %v", got, err)
	}
}

func TestNewNamesEveryProblem(t *testing.T) {
	_, err := New(Config{
		Mode: "hide", Key: []byte("short"), Detectors: []string{"email", "iban", "ibann", "soul"}, Keys: []string{"ok", "**"},
		Rules: []Rule{{Name: "a", Pattern: "x"}, {Name: "open", Pattern: "("}, {Name: "empty", Pattern: "x*"}, {Pattern: "x"}}, Targets: "lose", MaxBytes: -1,
	})
	for _, want := range []string{
		`redaction.mode: "hide"`, "redaction.key: 5 bytes", `no detector "ibann"; there are: private_key, url_credentials`, `no detector "soul"`, "redaction.keys[1]", `redaction.targets: "lose"`,
		`redaction.rules[0] "a"`, `redaction.rules[1] "open"`, `redaction.rules[2] "empty"`, "redaction.rules[3]", "work limit",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
}

func TestHashIsKeyedAndSeparated(t *testing.T) {
	tenant := newTenant(t, nil)
	text := []byte(`{"a":1}`)
	seen := map[[16]byte]string{}
	for name, h := range map[string][16]byte{
		"arguments": tenant.Hash(DomainArguments, text), "result": tenant.Hash(DomainResult, text), "other text": tenant.Hash(DomainArguments, []byte(`{"a":2}`)),
		"empty": tenant.Hash(DomainArguments, nil), "tenant": tenant.r.ForTenant("globex").Hash(DomainArguments, text),
		"key": newTenant(t, func(c *Config) { c.Key = []byte("another key, long enough") }).Hash(DomainArguments, text),
	} {
		if other, ok := seen[h]; ok {
			t.Errorf("%s and %s are equal", name, other)
		}
		seen[h] = name
	}
	if tenant.Hash(DomainArguments, text) != newTenant(t, nil).Hash(DomainArguments, text) {
		t.Error("the same is not equal")
	}
}

func TestNothingIsAllocatedForACleanValue(t *testing.T) {
	if raceEnabled {
		t.Skip("pools forget at random under the race detector")
	}
	tenant := newTenant(t, nil)
	clean := `{"order_id":"7731","note":"line\n\"two\"","args":"{\"a\":[1,2],\"b\":\"x\\ny\"}","list":[1,2.5,true],"p":"50%25 &amp; more"}`
	long := []byte(strings.Repeat("x", 300))
	for name, f := range map[string]func(){
		"Text":  func() { _, _ = tenant.Text(clean) },
		"Value": func() { _, _ = tenant.Value("gen_ai.tool.call.arguments", clean) },
		"Key":   func() { _, _ = tenant.Key("refund-7731") },
		"Hash":  func() { tenant.Hash(DomainResult, long) },
	} {
		if n := testing.AllocsPerRun(200, f); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestATenantIsSafeForConcurrentUse(t *testing.T) {
	tenant := newTenant(t, nil)
	const text = `{"to":"ann@example.com","password":"x","c":"{\"d\":\"bob\\u0040example.com\"}"}`
	want, _ := tenant.Text(text)
	done := make(chan string)
	for range 8 {
		go func() { // ends by itself; the test waits for it
			got := ""
			for range 200 {
				r, _ := tenant.Text(text)
				if got = r.Stored; got != want.Stored {
					break
				}
			}
			done <- got
		}()
	}
	for range 8 {
		if got := <-done; got != want.Stored {
			t.Errorf("got %q, want %q", got, want.Stored)
		}
	}
}

func TestWorkIsLinearInHostileText(t *testing.T) {
	tenant := newTenant(t, func(c *Config) { c.Rules = []Rule{{Name: "digits", Pattern: `\d+`}} })
	ours, _ := tenant.Text("ann@example.com")
	for name, part := range map[string]string{
		"at signs": "a@", "addresses": "a@b.co ", "brackets": "[", "forged placeholders": "[EMAIL:0123456789abcdef0123]", "our own": ours.Stored + "1 ",
		"colons": "a:", "hexadecimal": "ab:", "double colons": "1::", "URLs": "a://b:c", "user infos": "://a@", "keys": "sk-", "more keys": "sk-a1-", "tokens": "_eyJ",
		"headers": "eyJhbGciOiJIUzI1NiJ9.", "bearers": "bearer=", "bearer tokens": "Bearer A1b2", "azure": "aa8Q~", "telegram": "12345678:A-", "options": "--a", "curl": "-u=",
		"passwords": "password=", "references": "password=****", "queries": "?password=${", "named": "token=a1", "quoted": `pw="`, "connections": "host= pwd=****;",
		"columns": "a,password\n", "cells": "a1b2c3,", "groups": "1 ", "rows": "1234 5678 ", "dotted": "1.2.3.4.", "phones": "+1 (415) ", "trunks": "030 ",
		"ibans": "DE89 3704 ", "ends": "-----END PRIVATE KEY", "begins": "-----BEGIN ", "elements": "<password>", "pairs": `{"name":"password","value":"a"}`,
		"values": `{"value":"a",`, "lists": `["password",`, "named numbers": "phone 1234567 ", "versions": "version 1.2.3.4 ", "ats": "thin:a/@", "digits": "٤", "hooks": "discord.com/api/webhooks/",
		"quotes": `["`, "escapes": `"\u0040`, "spellings": "&amp;amp;", "percent": "%25", "secrets": `{"password":[`, "domain": "a@b.c.", "slashes": `"\\`,
		"calls": `("token", `, "said": "key is ", "set": "A_K ", "items": "\n- a", "words": strings.Repeat("key", 30), "encoded user infos": "://a:%40", "form ends": "END+", "attributes": `<a key="token">`,
	} {
		t.Run(name, func(t *testing.T) {
			small, large := cost(t, tenant, strings.Repeat(part, 1<<7), 16), cost(t, tenant, strings.Repeat(part, 1<<11), 1)
			if large > 6*small+10*time.Millisecond { // quadratic work would be 16 times as much
				t.Errorf("one text took %v, the same length in 16 texts %v", large, small)
			}
		})
	}
}

// cost returns the least processor time of three tries of n redactions of a text.
func cost(t *testing.T, tenant *Tenant, text string, n int) time.Duration {
	t.Helper()
	best := time.Hour
	for range 3 {
		begin := cpuTime(t)
		for range n {
			_, _ = tenant.Text(text)
		}
		best = min(best, cpuTime(t)-begin)
	}
	return best
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{
		`{"to":"ann@example.com","password":"x","c":"{\"d\":\"bob\\u0040example.com\"}"}`, "ann%2540example.com &amp;#64; [EMAIL:0123456789abcdef0123]",
		`{"password":{"a":[1`, "联系ann@example.com谢谢 \xff", `"a\ud83d"`, "PAT-12345678@example.com", `[1,"a@b.co",-2e5]`, `{"password" : "\"}`, "a@b.com@c.com",
	} {
		f.Add(seed)
	}
	for n, s := range positives(f) {
		if n%7 == 0 {
			f.Add(s.text)
		}
	}
	tenant := newTenant(f, nil)
	mask := newTenant(f, func(c *Config) { c.Mode = ModeMask })
	f.Fuzz(func(t *testing.T, text string) {
		got, err := tenant.Text(text)
		masked, errM := mask.Text(text)
		if !errors.Is(errM, err) || masked.Compare != got.Stored {
			t.Fatalf("%q: %q, %v but masked is compared as %q, %v", text, got.Stored, err, masked.Compare, errM)
		}
		if err != nil {
			return
		}
		if utf8.ValidString(text) && (!utf8.ValidString(got.Stored) || !utf8.ValidString(masked.Stored)) {
			t.Fatalf("%q is valid UTF-8, but %q or %q is not", text, got.Stored, masked.Stored)
		}
		if looksJSON(text) && json.Valid([]byte(text)) && (!json.Valid([]byte(got.Stored)) || !json.Valid([]byte(masked.Stored))) {
			t.Fatalf("%q is valid JSON, but %q or %q is not", text, got.Stored, masked.Stored)
		}
		if got.Count == 0 && len(got.Stored) < len(text) {
			t.Fatalf("%q lost something: %q", text, got.Stored)
		}
		again, err := tenant.Text(got.Stored)
		if err != nil || again.Stored != got.Stored || again.Count != 0 {
			t.Fatalf("%q became %q, then %q (%d found)", text, got.Stored, again.Stored, again.Count)
		}
		again, err = mask.Text(masked.Stored)
		if err != nil || again.Stored != masked.Stored || again.Count != 0 {
			t.Fatalf("%q was masked as %q, then %q (%d found)", text, masked.Stored, again.Stored, again.Count)
		}
	})
}
