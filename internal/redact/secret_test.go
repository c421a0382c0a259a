package redact

import (
	"strings"
	"testing"
)

// TestALongSecretIsOne: opaque tokens are longer than keys.
func TestALongSecretIsOne(t *testing.T) {
	tenant := newTenant(t, func(c *Config) { c.Keys, c.Rules = nil, nil })
	for _, size := range []int{40, 256, 257, 512, 513, 5000, 100_000} {
		secret := strings.Repeat("EwB4A8l6BAAUkj1NuJYtTVha-Mogk_HEiPbQo04AAXs4T8VZ0ZYcQ7", size/54+1)[:size]
		for in, want := range map[string]string{
			`{"access_token":"` + secret + `","n":1}`:              `{"access_token":"<SECRET>","n":1}`,
			`{"value":"` + secret + `","name":"access_token"}`:     `{"value":"<SECRET>","name":"access_token"}`,
			"access_token=" + secret + " n=1":                      "access_token=<SECRET> n=1",
			"access_token=" + secret + "&n=1":                      "access_token=<SECRET>&n=1",
			"https://x.example/cb?access_token=" + secret + "&n=1": "https://x.example/cb?access_token=<SECRET>&n=1",
		} {
			if got := redacted(t, tenant, in); got != want {
				t.Errorf("of %d bytes: became %.120q, want %q", size, got, want)
			}
		}
		words := strings.Repeat("no such token was sent, ", size/24+1)
		if in := `{"access_token":"` + words + `"}`; redacted(t, tenant, in) != in {
			t.Errorf("%d bytes of words became %.120q", size, redacted(t, tenant, in))
		}
	}
}
