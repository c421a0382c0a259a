package redact

import "testing"

// TestARuleIsMetWhereverItsMatchBegins: its first two bytes are a trigger, and what
// is passed by between triggers must not hide them.
func TestARuleIsMetWhereverItsMatchBegins(t *testing.T) {
	for _, test := range []struct{ name, pattern, in, want string }{
		{"at the start", `PAT-\d+`, "PAT-12", "<OWN>"},
		{"behind digits", `PAT-\d+`, "12345678901 12 PAT-12", "12345678901 12 <OWN>"},
		{"at once behind digits", `PAT-\d+`, "7731PAT-12", "7731<OWN>"},
		{"with a digit as its second byte", `A7-\w+`, "id A7-xyz", "id <OWN>"},
		{"with digits before the second byte", `7A-\w+`, "id 55557A-xyz", "id 5555<OWN>"},
		{"inside a row of digits", `77-31`, "order 1234567-7731 77-31", "order 1234567-7731 <OWN>"},
		{"from a separator on", `\+0x\w+`, "a +0x1f", "a <OWN>"},
		{"of one byte", `Z`, "aZb", "a<OWN>b"},
		{"outside ASCII", `→ \w+`, "a → b", "a <OWN>"},
		{"inside a match of a detector", `example\.com`, "to ann@example.com", "to <EMAIL>"},
		{"behind one", `PAT-\d+`, "ann@example.com PAT-12", "<EMAIL> <OWN>"},
		{"in another spelling", `PAT-\d+`, "P%41T-12", "<OWN>"},
		{"in a name", `PAT-\d+`, `{"a":1,"PAT-12":2}`, `{"a":1,"<OWN>":2}`},
		{"in a name seen before", `PAT-\d+`, `[{"PAT-12":1},{"PAT-12":1}]`, `[{"<OWN>":1},{"<OWN>":1}]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			tenant := newTenant(t, func(c *Config) { c.Rules = []Rule{{Name: "own", Pattern: test.pattern}} })
			if got := redacted(t, tenant, test.in); got != test.want {
				t.Errorf("%q became %q, want %q", test.in, got, test.want)
			}
		})
	}
}

// TestNamesAreRememberedForOnePolicy: the buffers that remember them are shared.
func TestNamesAreRememberedForOnePolicy(t *testing.T) {
	strict := newTenant(t, func(c *Config) { c.Keys = []string{"note"} })
	lax := newTenant(t, func(c *Config) { c.Keys = nil })
	const text = `{"note":"hello","note":"hello"}`
	for range 3 {
		if got := redacted(t, lax, text); got != text {
			t.Errorf("became %q where nothing is listed", got)
		}
		if got, want := redacted(t, strict, text), `{"note":"<SECRET>","note":"<SECRET>"}`; got != want {
			t.Errorf("became %q, want %q", got, want)
		}
	}
}

func TestNamesThatDifferLittleAreToldApart(t *testing.T) {
	tenant := newTenant(t, func(c *Config) { c.Keys = []string{"x_secret"} })
	const text = `{"x_secreT":"hello","x_secre":"hello","x_secret2":"hello","x_secret":"hello","y_secre":"hello"}`
	const want = `{"x_secreT":"<SECRET>","x_secre":"hello","x_secret2":"hello","x_secret":"<SECRET>","y_secre":"hello"}`
	for range 2 {
		if got := redacted(t, tenant, text); got != want {
			t.Errorf("became %q, want %q", got, want)
		}
	}
}
