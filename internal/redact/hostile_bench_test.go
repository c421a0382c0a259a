package redact

import (
	"slices"
	"strings"
	"testing"
)

// hostileParts are texts that, repeated, give a detector or the walk as much to do as
// can be had: what begins like a value over and over, or is one at every turn.
var hostileParts = map[string]string{
	"at signs": "@", "local parts": "a@", "addresses": "a@b.co ", "percent addresses": "a%40b.com ", "entity addresses": "a&#64;b.com ",
	"digits": "7", "groups": "4 ", "cards": "4111 1111 1111 1111 ", "addresses of IPv4": "10.0.0.1 ", "telephones": "0049 30 ", "rows": "1234 5678 ",
	"begins": "-----BEGIN ", "private keys": "-----BEGIN RSA PRIVATE KEY-----\n", "ends": "-----END PRIVATE KEY",
	"objects": `{"`, "levels": `{"a":`, "arrays": "[", "quotes": `"`, "listed": `{"password":[`, "strings in JSON": `{"a":"{\"b\":\"{\\\"c\\\":1}\"}"},`,
	"units": `\u`, "escapes": `\u0040`, "entities": "&#", "ampersands": "&amp;", "percents": "%40", "percents of percents": "%25", "no width": "\u200b",
	"vendors": "sk-", "bearers": "bearer=", "tokens": "_eyJ", "passwords": "password=", "named": "token=a1", "keys": "AccountKey=", "words for secrets": "secret", "words for tokens": "token", "words for passphrases": "ph", "said": "key is ", "connections": "host= pwd=****;", "URLs": "a://b:c",
	"tables": "name,password\na,b1c2d3\n", "placeholders": "[EMAIL:0123456789abcdef0123]",
}

// BenchmarkHostile redacts a text of 1 MB of each part, and tells the speed on all of
// them and on the slowest. -v names the five slowest.
func BenchmarkHostile(b *testing.B) {
	const size = 1 << 20
	tenant := newTenant(b, nil)
	type text struct {
		name, text string
		seconds    float64
	}
	var texts []text
	for name, part := range hostileParts {
		texts = append(texts, text{name: name, text: strings.Repeat(part, size/len(part))})
	}
	for b.Loop() {
		for n := range texts {
			before := cpuTime(b)
			if _, err := tenant.Text(texts[n].text); err != nil {
				b.Fatal(texts[n].name, err)
			}
			texts[n].seconds += (cpuTime(b) - before).Seconds() / float64(len(texts[n].text)) * 1e6
		}
	}
	slices.SortFunc(texts, func(a, b text) int { return int((b.seconds - a.seconds) * 1e9) })
	all := 0.0
	for n, t := range texts {
		all += t.seconds
		if n < 5 {
			b.Logf("%s: %.1f MB/cpu-s", t.name, float64(b.N)/t.seconds)
		}
	}
	b.ReportMetric(float64(b.N*len(texts))/all, "MB/cpu-s")
	b.ReportMetric(float64(b.N)/texts[0].seconds, "slowest-MB/cpu-s")
}
