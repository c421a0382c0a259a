package policy

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheHashIsThatOfTheMeaning(t *testing.T) {
	p := parse(t, stated)
	assert.Regexp(t, `^[0-9a-f]{64}$`, p.Hash())
	for name, text := range map[string]string{
		"comments":                  "# a comment\n" + stated + "# another\n",
		"order of keys":             reversed(stated),
		"defaults written out":      stated + "detection: {repeat: 3, quiet: 10000ms}\nsampling: {read_content: 1.00, grace: 24h}\ntools: []\nlimits:\n",
		"spelling of durations":     strings.Replace(stated, "act: 400d", "act: 9600h", 1),
		"another key":               strings.Replace(stated, testKey, "another key of 16 bytes and more", 1),
		"an environment with a key": strings.Replace(stated, testKey, "${env:KEY:-a key that is a default}", 1),
		"a tenant with no terms":    strings.Replace(stated, "access_log: 400d", "access_log: 400d, tenants: {acme: {}, other: {act: 400d}}", 1),
	} {
		assert.Equal(t, p.Hash(), parse(t, text).Hash(), name)
	}
}

func reversed(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}

// TestTheHashDoesNotMoveBetweenReleases pins it: runs that are stored already carry it.
func TestTheHashDoesNotMoveBetweenReleases(t *testing.T) {
	p, err := Parse([]byte(designed), nil, WithRedactionKey(testKey))
	require.NoError(t, err)
	assert.Equal(t, "8a557ba7fbd98f771fb2231ef64d9ac0af0a5519a152bc6a65c12b0b24c9c54a", p.Hash())
}

// full states every key of the table.
const full = `version: 1
tools:
- {match: m1, class: read, target: "t1/{a}", key: "{k1}", on_unknown: replay, reconcile_with: [rw1], undone_by: [ub1], approval: required, forbidden: true, repeatable: true, repeat: 41, repeat_unseen: 42}
limits:
- {match: {agent: ag1, task_type: tt1}, steps: 43, tool_calls: 44, tokens: 45, wall_time: 46s, cost_usd: 47.5, attempts: 48}
detection: {repeat: 49, cycle_rounds: 50, stall_window: 51, unknown_sla: 52m, quiet: 53s, in_flight: 54m, settle: 55s, context_bytes: 5600}
rules: [{name: rn1, severity: critical, condition: 'rc1 == "$$x"', message: rm1}]
run_id_keys: [rk1]
prices: [{model: pm1, input: 57.5, cached: 58.5, output: 59.5}]
redaction: {mode: mask, key: "0123456789abcdef", detectors: [email, iban], keys: [rk2], rules: [{name: rr1, pattern: 'p1\d+$'}], idempotency_keys: pseudonym, targets: pseudonym}
retention: {act: 60d, human: 61d, think: 62d, read: 63d, content: 64d, findings: 65d, access_log: 66d, tenants: {acme: {act: 67d, human: 68d, think: 69d, read: 70d, content: 71d, findings: 72d, access_log: 73d}}}
sampling: {read_content: 0.74, grace: 75d}
`

// changes makes another policy of full for each key that holds a value: what stands there, what is put in its place.
var changes = map[string][2]string{
	"tools[].match": {"match: m1", "match: m2"}, "tools[].class": {"class: read", "class: act"}, "tools[].target": {"t1/{a}", "t1/{b}"},
	"tools[].key": {"{k1}", "{k2}"}, "tools[].on_unknown": {"replay", "escalate"}, "tools[].reconcile_with": {"[rw1]", "[rw1, rw2]"},
	"tools[].undone_by": {"[ub1]", "[ub2]"}, "tools[].approval": {"approval: required, ", ""}, "tools[].forbidden": {"forbidden: true", "forbidden: false"},
	"tools[].repeatable": {"repeatable: true", "repeatable: false"}, "tools[].repeat": {"repeat: 41", "repeat: 0"}, "tools[].repeat_unseen": {"repeat_unseen: 42", "repeat_unseen: 0"},
	"limits[].match.agent": {"ag1", "ag2"}, "limits[].match.task_type": {"tt1", "tt2"}, "limits[].steps": {"steps: 43, ", ""}, "limits[].tool_calls": {"44", "144"},
	"limits[].tokens": {"tokens: 45", "tokens: 145"}, "limits[].wall_time": {"46s", "46001ms"}, "limits[].cost_usd": {"47.5", "47.500000001"}, "limits[].attempts": {"attempts: 48", "attempts: 148"},
	"detection.repeat": {"repeat: 49", "repeat: 149"}, "detection.cycle_rounds": {"50", "51"}, "detection.stall_window": {"window: 51", "window: 52"},
	"detection.unknown_sla": {"52m", "52h"}, "detection.quiet": {"53s", "53m"}, "detection.in_flight": {"54m", "54h"}, "detection.settle": {"55s", "55m"}, "detection.context_bytes": {"5600", "5601"},
	"rules[].name": {"rn1", "rn2"}, "rules[].severity": {"severity: critical", "severity: info"}, "rules[].condition": {"$$x", "$$y"}, "rules[].message": {"rm1", "rm2"},
	"run_id_keys": {"rk1", "rk3"}, "prices[].model": {"pm1", "pm2"}, "prices[].input": {"57.5", "57.6"}, "prices[].cached": {"58.5", "58.6"}, "prices[].output": {"59.5", "59.6"},
	"redaction.mode": {"mask", "pseudonym"}, "redaction.detectors": {"email, iban", "iban, email"}, "redaction.keys": {"rk2", "rk4"}, "redaction.rules[].name": {"rr1", "rr2"},
	"redaction.rules[].pattern": {`p1\d+`, `p2\d+`}, "redaction.idempotency_keys": {"idempotency_keys: pseudonym", "idempotency_keys: keep"}, "redaction.targets": {"targets: pseudonym", "targets: keep"},
	"retention.act": {"60d", "160d"}, "retention.human": {"61d", "161d"}, "retention.think": {"62d", "162d"}, "retention.read": {"63d", "163d"}, "retention.content": {"64d", "164d"},
	"retention.findings": {"65d", "165d"}, "retention.access_log": {"66d", "166d"},
	"retention.tenants.*": {"acme", "other"}, "retention.tenants.*.act": {"67d", "167d"}, "retention.tenants.*.human": {"68d", "168d"}, "retention.tenants.*.think": {"69d", "169d"},
	"retention.tenants.*.read": {"70d", "170d"}, "retention.tenants.*.content": {"71d", "171d"}, "retention.tenants.*.findings": {"72d", "172d"}, "retention.tenants.*.access_log": {"73d", "173d"},
	"sampling.read_content": {"0.74", "0.75"}, "sampling.grace": {"75d", "76d"},
}

func TestEachKeyOfThePolicyChangesTheHash(t *testing.T) {
	without := map[string]bool{ // nothing of their own, or no part of the hash
		"version": true, "redaction.key": true, "tools": true, "limits": true, "limits[].match": true, "detection": true, "rules": true, "prices": true,
		"redaction": true, "redaction.rules": true, "retention": true, "retention.tenants": true, "sampling": true,
	}
	seen := map[string]string{parse(t, full).Hash(): "nothing"}
	for _, k := range keys {
		if without[k.path] {
			continue
		}
		change, ok := changes[k.path]
		if !assert.True(t, ok, "no change for %s", k.path) {
			continue
		}
		text := strings.Replace(full, change[0], change[1], 1)
		require.NotEqual(t, full, text, k.path)
		hash := parse(t, text).Hash()
		assert.NotContains(t, slices.Collect(maps.Keys(seen)), hash, "%s is as %s", k.path, seen[hash])
		seen[hash] = k.path
	}
	assert.Len(t, seen, len(changes)+1)
}

func TestTheCanonicalTextIsAPolicyOfTheSameHash(t *testing.T) {
	for _, text := range []string{stated, designed, scorePolicy, full} {
		p, err := Parse([]byte(text), nil, WithRedactionKey(testKey))
		require.NoError(t, err)
		again, err := Parse([]byte(canonical(p)), nil, WithRedactionKey(testKey))
		require.NoError(t, err, canonical(p))
		assert.Equal(t, canonical(p), canonical(again))
		assert.Equal(t, p.Hash(), again.Hash())
	}
}

// FuzzParse: no text makes Parse panic; it gives an error or a policy that answers, and whose canonical text is the same policy.
func FuzzParse(f *testing.F) {
	for _, text := range []string{stated, designed, scorePolicy, full, stated + "tools: &t [*t]", "a: &a [*a, *a]", "? [a]\n: b", "!!map {version: !!int 1}", "\xff"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		env := environment("A", "one", "N", "7")
		p, err := Parse(data, env, WithRedactionKey(testKey))
		if err != nil {
			if p != nil || err.Error() == "" {
				t.Fatalf("%v with %v", p, err)
			}
			return
		}
		for _, name := range []string{"", "get_order", "mcp__a__b", "x-y", "\xff"} {
			p.Tool(name)
			p.Limits(name, name)
			p.Price(name).Cost(1, 2, 3)
			p.Retention(name)
		}
		again, err := Parse([]byte(canonical(p)), nil, WithRedactionKey(testKey))
		if err != nil {
			t.Fatalf("%v\n%s", err, canonical(p))
		}
		if again.Hash() != p.Hash() {
			t.Fatalf("another hash:\n%s\n%s", canonical(p), canonical(again))
		}
	})
}

// FuzzValues: whatever text stands in a value, it is refused or kept as it is, through the canonical text too.
func FuzzValues(f *testing.F) {
	f.Add("get_*", "order/{id}", "PAT-\\d+$", "1h30m", "2.5")
	f.Add("$${env:A}", "{{{a.b}}}", "\u2028\U0001f600", "0.5d", "1e-9")
	f.Fuzz(func(t *testing.T, text, template, pattern, duration, amount string) {
		if !utf8.ValidString(strings.Join([]string{text, template, pattern, duration, amount}, "|")) {
			t.Skip("YAML has no such text")
		}
		data := stated + "tools: [{match: " + quoted(text) + ", target: " + quoted(template) + ", undone_by: [" + quoted(text) + "]}]\n" +
			"limits: [{match: {agent: " + quoted(text) + "}, wall_time: " + quoted(duration) + ", cost_usd: " + quoted(amount) + "}]\n" +
			"rules: [{name: a, condition: " + quoted(text+"\n"+pattern) + "}]\n"
		data = strings.Replace(data, "[email]", "[], keys: ["+quoted(text)+"], rules: [{name: a, pattern: "+quoted(pattern)+"}]", 1)
		p, err := Parse([]byte(data), nil)
		if err != nil {
			return
		}
		if !strings.Contains(text+pattern, "$") && (p.tools[0].Match != text || p.Rules[0].Condition != text+"\n"+pattern) {
			t.Fatalf("%q, %q", p.tools[0].Match, p.Rules[0].Condition)
		}
		again, err := Parse([]byte(canonical(p)), nil, WithRedactionKey(testKey))
		if err != nil || canonical(again) != canonical(p) {
			t.Fatalf("%v\n%s", err, canonical(p))
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(designed)))
	for b.Loop() {
		if _, err := Parse([]byte(designed), nil, WithRedactionKey(testKey)); err != nil {
			b.Fatal(err)
		}
	}
}
