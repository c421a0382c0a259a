package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const topLevel = "version, tools, limits, detection, rules, run_id_keys, prices, redaction, retention, sampling"

// TestEachProblemNamesItsKeyAndWhatIsAllowed adds one text to a policy that is otherwise right. It begins on line 4.
func TestEachProblemNamesItsKeyAndWhatIsAllowed(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"an unknown key":             {"colour: red", "colour (line 4): is not known; known are " + topLevel},
		"an unknown key with spaces": {`"a b": 1`, `["a b"] (line 4): is not known; known are ` + topLevel},
		"an unknown key of a tool":   {"tools: [{match: a, kind: act}]", "tools[0].kind (line 4): is not known; known are match, class, target, key, on_unknown, reconcile_with, undone_by, approval, forbidden, repeatable, repeat, repeat_unseen"},
		"a key that stands twice":    {"tools: []\ntools: []", "tools (line 5): stands here twice"},
		"a key that is a list":       {"? [a]\n: b", "policy (line 4): has a key that is no plain text"},
		"a merge of mappings":        {"detection: {<<: {repeat: 3}}", "detection[\"<<\"] (line 4): is not known; known are repeat, cycle_rounds, stall_window, unknown_sla, quiet, in_flight, settle, context_bytes"},
		"a list for a mapping":       {"detection: [3]", "detection (line 4): is a list, must be a mapping"},
		"a mapping for a list":       {"tools: {match: a}", "tools (line 4): is a mapping, must be a list"},
		"a value for a list":         {"run_id_keys: a", "run_id_keys (line 4): is a single value, must be a list"},
		"a value for an entry":       {"tools: [a]", "tools[0] (line 4): is a single value, must be a mapping"},
		"a list for a value":         {"tools: [{match: [a]}]", "tools[0].match (line 4): is a list, must be a single value"},
		"a tag":                      {"run_id_keys: [!!binary aGk=]", "run_id_keys[0] (line 4): has a YAML tag; write the value without it"},
		"a second document":          {"---\nversion: 1", "policy: has more than one document"},

		"a tool without match":              {"tools:\n  - class: act", `tools[0].match (line 5): is not stated and has no default; write for example match: "get_*"`},
		"an empty match":                    {`tools: [{match: ""}]`, `tools[0].match (line 4): "" is empty`},
		"a match with control characters":   {`tools: [{match: "a\u0007"}]`, `tools[0].match (line 4): "a\a" holds control characters or is no UTF-8`},
		"a match that is too long":          {"tools: [{match: " + strings.Repeat("x", 257) + "}]", `tools[0].match (line 4): "` + strings.Repeat("x", 80) + `"… has 257 bytes, at most 256 are allowed`},
		"an unknown class":                  {"tools: [{match: a, class: doing}]", `tools[0].class (line 4): "doing" is not allowed: use read, act, think, reconcile, human, handoff or other`},
		"an unknown answer":                 {"tools: [{match: a, on_unknown: retry}]", `tools[0].on_unknown (line 4): "retry" is not allowed: use reconcile, replay or escalate`},
		"an unknown approval":               {"tools: [{match: a, approval: optional}]", `tools[0].approval (line 4): "optional" is not allowed: use required`},
		"a flag that is none":               {"tools: [{match: a, forbidden: yes}]", `tools[0].forbidden (line 4): "yes" is not allowed: use true or false`},
		"a threshold of one":                {"tools: [{match: a}, {match: b, repeat: 1}]", `tools[1].repeat (line 4): "1" is not allowed: use 2 to 1000, or 0 for never`},
		"a threshold that is no number":     {"tools: [{match: a, repeat_unseen: many}]", `tools[0].repeat_unseen (line 4): "many" is not allowed: use 2 to 1000, or 0 for never`},
		"a tool twice in reconcile_with":    {"tools: [{match: a, reconcile_with: [b, b]}]", `tools[0].reconcile_with[1] (line 4): "b" stands in the list twice`},
		"an empty entry of undone_by":       {"tools: [{match: a, undone_by: [~]}]", `tools[0].undone_by[0] (line 4): is empty`},
		"too many tools in reconcile_with":  {"tools: [{match: a, reconcile_with: [" + strings.Repeat("b,", 33) + "]}]", "tools[0].reconcile_with (line 4): has 33 entries, at most 32 are allowed"},
		"an open brace in a target":         {`tools: [{match: a, target: "order/{id"}]`, `tools[0].target (line 4): "order/{id" is no template: { at character 7 is not closed; write {{ for a brace`},
		"a closing brace in a target":       {`tools: [{match: a, target: "ö}"}]`, `tools[0].target (line 4): "ö}" is no template: } at character 2 closes nothing; write }} for a brace`},
		"an argument without a name":        {`tools: [{match: a, target: "x{a..b}"}]`, `tools[0].target (line 4): "x{a..b}" is no template: the argument at character 2: it has no name; write names with dots for depth, as in {order.id}`},
		"an argument that is too deep":      {`tools: [{match: a, target: "{` + strings.Repeat("a.", 16) + `a}"}]`, `tools[0].target (line 4): "{` + strings.Repeat("a.", 16) + `a}" is no template: the argument at character 1: has 17 parts, at most 16 are allowed`},
		"a key that is the same every time": {`tools: [{match: a, key: "once"}]`, `tools[0].key (line 4): "once" names no argument, so all calls would have one key; write for example "{idempotency_key}"`},

		"a limit of nothing":        {"limits: [{steps: 0}]", `limits[0].steps (line 4): "0" is not allowed: use 1 to 1000000000000`},
		"a limit with a fraction":   {"limits: [{tokens: 1.5}]", `limits[0].tokens (line 4): "1.5" is not allowed: use 1 to 1000000000000`},
		"a limit without its unit":  {"limits: [{wall_time: 120}]", `limits[0].wall_time (line 4): "120" is no duration: write for example 30s, 5m, 12h or 400d (units: ms, s, m for minutes, h, d)`},
		"a cost of nothing":         {"limits: [{cost_usd: 0}]", `limits[0].cost_usd (line 4): "0" is not allowed: use 0.000000001 to 1000000000`},
		"a cost with its currency":  {"limits: [{cost_usd: $5}]", `limits[0].cost_usd (line 4): "$5" is no amount: write it as a decimal, for example 2.5`},
		"a cost that is too fine":   {"limits: [{cost_usd: 0.0000000001}]", `limits[0].cost_usd (line 4): "0.0000000001" is finer than 0.000000001`},
		"no attempts at all":        {"limits: [{attempts: 0}]", `limits[0].attempts (line 4): "0" is not allowed: use 1 to 10000`},
		"an unknown key of a match": {"limits: [{match: {user: a}}]", `limits[0].match.user (line 4): is not known; known are agent, task_type`},

		"a waiting time that is too short": {"detection: {quiet: 1ms}", `detection.quiet (line 4): "1ms" is not allowed: use 100ms to 1h (units: ms, s, m for minutes, h, d)`},
		"a waiting time beyond everything": {"detection: {settle: 999999999999d}", `detection.settle (line 4): "999999999999d" is not allowed: use 100ms to 1h (units: ms, s, m for minutes, h, d)`},
		"a duration finer than any clock":  {"detection: {settle: 1000.0000001ms}", `detection.settle (line 4): "1000.0000001ms" is finer than a nanosecond`},
		"rounds beyond what is kept":       {"detection: {cycle_rounds: 101}", `detection.cycle_rounds (line 4): "101" is not allowed: use 2 to 100`},

		"a rule without a name":           {"rules: [{condition: 'true'}]", "rules[0].name (line 4): is not stated and has no default; write for example name: guardrail_bypassed"},
		"a rule with a name that is none": {"rules: [{name: No-Name, condition: 'true'}]", `rules[0].name (line 4): "No-Name" is no name: use a-z, 0-9 and _, a letter first`},
		"a rule without a condition":      {"rules: [{name: a}]", `rules[0].condition (line 4): is not stated and has no default; write for example condition: 'attributes["guardrail.result"] == "bypass"'`},
		"two rules with one name":         {"rules:\n- {name: a, condition: 'true'}\n- {name: a, condition: 'false'}", `rules[1].name (line 6): "a" is taken by an earlier rule`},
		"an unknown severity":             {"rules: [{name: a, condition: 'true', severity: high}]", `rules[0].severity (line 4): "high" is not allowed: use info, warning or critical`},
		"a message of two lines":          {`rules: [{name: a, condition: 'true', message: "a\nb"}]`, `rules[0].message (line 4): "a\nb" holds control characters or is no UTF-8`},
		"a run id key that stands twice":  {"run_id_keys: [a, b, a]", `run_id_keys[2] (line 4): "a" stands in the list twice`},

		"a price without a model":   {"prices: [{input: 1, output: 2}]", `prices[0].model (line 4): is not stated and has no default; write for example model: "gpt-4o*"`},
		"a price without output":    {"prices: [{model: a, input: 1}]", "prices[0].output (line 4): is not stated and has no default; write for example output: 10"},
		"a price below nothing":     {"prices: [{model: a, input: -1, output: 0}]", `prices[0].input (line 4): "-1" is no amount: write it as a decimal, for example 2.5`},
		"a price beyond reason":     {"prices: [{model: a, input: 1e9, output: 0}]", `prices[0].input (line 4): "1e9" is not allowed: use 0 to 1000000`},
		"a share beyond the whole":  {"sampling: {read_content: 1.1}", `sampling.read_content (line 4): "1.1" is not allowed: use 0 to 1`},
		"a share that is none":      {"sampling: {read_content: .nan}", `sampling.read_content (line 4): ".nan" is not allowed: use 0 to 1`},
		"a share called nan":        {"sampling: {read_content: nan}", `sampling.read_content (line 4): "nan" is not allowed: use 0 to 1`},
		"a grace that is too short": {"sampling: {grace: 1m}", `sampling.grace (line 4): "1m" is not allowed: use 1h to 18250d (units: ms, s, m for minutes, h, d)`},

		"a variable that is not set":  {"run_id_keys: ['${env:RUN_KEY}']", "run_id_keys[0] (line 4): environment variable RUN_KEY is not set; set it, or give a default: ${env:RUN_KEY:-value}"},
		"a variable without a name":   {"run_id_keys: ['${env:}']", "run_id_keys[0] (line 4): holds ${env:…} without the name of a variable: use letters, digits and _"},
		"a brace that is no variable": {"run_id_keys: ['${RUN_KEY}']", "run_id_keys[0] (line 4): holds ${ that is no ${env:NAME}; write $$ for a dollar sign"},
		"a broken line":               {"tools: ]", "policy (line 4): did not find expected node content"},
		"a pattern without quotes":    {"tools: [{match: *_get}]", "policy: unknown anchor (a text that begins with * needs quotes) referenced"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(stated+c.text+"\n"), nil)
			require.EqualError(t, err, c.want)
		})
	}
}

// TestEachProblemOfWhatMustBeStated changes the three lines that every policy has.
func TestEachProblemOfWhatMustBeStated(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"no version":                        {"version: 1", "", "version (line 2): is not stated and has no default; write for example version: 1"},
		"another version":                   {"version: 1", "version: 2", `version (line 1): "2" is not allowed: use 1`},
		"no mode":                           {"mode: pseudonym, ", "", "redaction.mode (line 2): is not stated and has no default; write for example mode: pseudonym"},
		"an unknown mode":                   {"pseudonym", "none", `redaction.mode (line 2): "none" is not allowed: use pseudonym or mask`},
		"no detectors":                      {", detectors: [email]", "", "redaction.detectors (line 2): is not stated and has no default; write for example detectors: [email, credit_card, iban, phone, us_ssn, ip, jwt, bearer, api_key, private_key, url_credentials]"},
		"detectors without value":           {"[email]", "~", "redaction.detectors (line 2): is not stated and has no default; write for example detectors: [email, credit_card, iban, phone, us_ssn, ip, jwt, bearer, api_key, private_key, url_credentials]"},
		"an unknown detector":               {"[email]", "[email, mail]", `redaction.detectors[1] (line 2): "mail" is not allowed: use email, credit_card, iban, phone, us_ssn, ip, jwt, bearer, api_key, private_key or url_credentials`},
		"a detector twice":                  {"[email]", "[email, email]", `redaction.detectors[1] (line 2): "email" stands in the list twice`},
		"a key that is too short":           {"0123456789abcdef", "0123456789abcde", "redaction.key (line 2): has 15 bytes, must have 16 to 1024 bytes"},
		"a key that is empty":               {"0123456789abcdef", "", "redaction.key (line 2): no redaction key: it is empty; it needs 16 to 1024 bytes, for example from: openssl rand -hex 32"},
		"no key":                            {`key: "0123456789abcdef", `, "", "redaction.key (line 2): is not stated and has no default; write for example key: ${env:STEPTRAIL_REDACTION_KEY}"},
		"an unknown treatment":              {"[email]", "[email], targets: drop", `redaction.targets (line 2): "drop" is not allowed: use keep or pseudonym`},
		"a rule named as a detector":        {"[email]", "[email], rules: [{name: iban, pattern: x}]", `redaction.rules[0].name (line 2): "iban" is the name of a detector; choose another`},
		"two rules of one name":             {"[email]", "[email], rules: [{name: a, pattern: x}, {name: a, pattern: y}]", `redaction.rules[1].name (line 2): "a" is taken by an earlier rule`},
		"a rule without pattern":            {"[email]", "[email], rules: [{name: a}]", `redaction.rules[0].pattern (line 2): is not stated and has no default; write for example pattern: 'PAT-\d{8}'`},
		"a pattern that is none":            {"[email]", "[email], rules: [{name: a, pattern: 'PAT-(\\d'}]", `redaction.rules[0].pattern (line 2): "PAT-(\\d" does not compile: missing closing ) at character 1`},
		"a repetition of nothing":           {"[email]", "[email], rules: [{name: a, pattern: 'ä**'}]", `redaction.rules[0].pattern (line 2): "ä**" does not compile: invalid nested repetition operator at character 2`},
		"a pattern that matches everywhere": {"[email]", "[email], rules: [{name: a, pattern: 'x*'}]", `redaction.rules[0].pattern (line 2): "x*" matches empty text, so it would match everywhere`},
		"one term left out":                 {", content: 30d", "", "retention.content (line 3): is not stated and has no default; write for example content: 30d"},
		"months taken for m":                {"act: 400d", "act: 12m", `retention.act (line 3): "12m" is not allowed: use 1h to 18250d (units: ms, s, m for minutes, h, d)`},
		"a term beyond the dates":           {"act: 400d", "act: 18251d", `retention.act (line 3): "18251d" is not allowed: use 1h to 18250d (units: ms, s, m for minutes, h, d)`},
		"a term of a tenant":                {"access_log: 400d", "access_log: 400d, tenants: {acme: {act: 0d}}", `retention.tenants.acme.act (line 3): "0d" is not allowed: use 1h to 18250d (units: ms, s, m for minutes, h, d)`},
		"an unknown term":                   {"access_log: 400d", `access_log: 400d, tenants: {"a.b": {acts: 1d}}`, `retention.tenants["a.b"].acts (line 3): is not known; known are act, human, think, read, content, findings, access_log`},
		"a tenant twice":                    {"access_log: 400d", "access_log: 400d, tenants: {a: , a: {}}", "retention.tenants.a (line 3): stands here twice"},
		"a tenant without a name":           {"access_log: 400d", `access_log: 400d, tenants: {"": {}}`, `retention.tenants[""] (line 3): the tenant's name is empty`},
		"a tenant that is a text":           {"access_log: 400d", "access_log: 400d, tenants: {a: 1d}", "retention.tenants.a (line 3): is a single value, must be a mapping"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(stated, c.old, c.new, 1)
			require.NotEqual(t, stated, text)
			_, err := Parse([]byte(text), nil)
			require.EqualError(t, err, c.want)
		})
	}
}

func TestAPolicyWithoutRedactionAndRetentionSaysWhatToWrite(t *testing.T) {
	want := "redaction (line 1): is not stated and has no default: decide it, for example\n\n" + redaction + "\n\n" +
		"retention (line 1): is not stated and has no default: decide it, for example\n\n" + retention + "\n"
	_, err := Parse([]byte("version: 1\n"), nil)
	require.EqualError(t, err, want)
	_, err = Parse([]byte("version: 1\nredaction:\nretention: ~\n"), nil)
	require.EqualError(t, err, want)

	for _, empty := range []string{"", "# nothing\n", "---\n", "~", "{}"} {
		_, err = Parse([]byte(empty), nil)
		require.ErrorContains(t, err, want, "%q", empty)
		require.ErrorContains(t, err, "version", "%q", empty)
	}

	p, err := Parse([]byte("version: 1\n"+redaction+"\n"+retention+"\n"), nil, WithRedactionKey(testKey))
	require.NoError(t, err, "what the message shows is a policy")
	assert.Equal(t, 400*day, p.Retention("").Act)
}

func TestAllProblemsAreReportedAtOnceInTheOrderOfTheFile(t *testing.T) {
	_, err := Parse([]byte(`version: 3
sampling: {grace: 5}
tools:
  - {match: a, class: b}
  - {class: act}
detection: {repeat: 0}
retention: {act: 400d}
`), nil)
	require.Error(t, err)
	var keys []string
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		problem, ok := e.(*Problem) //nolint:errorlint // each of the joined errors is one
		require.True(t, ok, e)
		keys = append(keys, fmt.Sprintf("%d %s", problem.Line, problem.Key))
	}
	assert.Equal(t, []string{
		"1 version", "1 redaction", "2 sampling.grace", "4 tools[0].class", "5 tools[1].match", "6 detection.repeat",
		"7 retention.human", "7 retention.think", "7 retention.read", "7 retention.content", "7 retention.findings", "7 retention.access_log",
	}, keys)
}

func TestProblemsBeyondTwoHundredAreCounted(t *testing.T) {
	_, err := Parse([]byte(stated+"tools:\n"+strings.Repeat("- {match: a, class: b}\n", 300)), nil)
	require.ErrorContains(t, err, "tools[199].class")
	require.ErrorContains(t, err, "policy: 100 more problems")
	assert.NotContains(t, err.Error(), "tools[200].class")
}

func TestAFileThatIsTooLargeIsNotRead(t *testing.T) {
	_, err := Parse([]byte(strings.Repeat("#", MaxSize+1)), nil)
	require.EqualError(t, err, "policy: has 1048577 bytes, at most 1048576 are read")
}

func TestAliasesAreFollowed(t *testing.T) {
	p := parse(t, stated+"tools:\n- {match: a, class: &c act, reconcile_with: &l [x, y]}\n- {match: b, class: *c, reconcile_with: *l}\n")
	assert.Equal(t, ClassAct, p.Tool("b").Class)
	assert.True(t, p.Tool("b").IsReconciledBy("y"))

	_, err := Parse([]byte(stated+"tools: &t [*t]\n"), nil)
	require.ErrorContains(t, err, "tools[0] (line 4): is a list, must be a mapping")
}
