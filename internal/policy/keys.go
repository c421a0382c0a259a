package policy

import (
	"strings"
	"time"
)

// kind is how a value of the policy is written.
type kind string

const (
	kindMapping  kind = "mapping"
	kindList     kind = "list"     // of mappings
	kindTexts    kind = "texts"    // a list of texts
	kindGlobs    kind = "globs"    // a list of globs
	kindInteger  kind = "integer"  //
	kindShare    kind = "share"    // a number from 0 to 1
	kindUSD      kind = "USD"      // a decimal, exact to 0.000000001
	kindDuration kind = "duration" // 400d, 2m, 1h30m, 500ms
	kindFlag     kind = "flag"     // true or false
	kindChoice   kind = "choice"   // one of names
	kindText     kind = "text"     // one line
	kindLines    kind = "lines"    // text that may have several lines
	kindName     kind = "name"     // a-z, 0-9, _; a letter first
	kindGlob     kind = "glob"     // a text with * and ?
	kindTemplate kind = "template" // a text with {argument}
	kindPattern  kind = "pattern"  // a regular expression (RE2)
	kindSecret   kind = "secret"   // a text that is never shown
)

// keySpec describes a key of the policy. The decoder takes defaults and limits from here, the README its table.
type keySpec struct {
	path     string // [] stands for an entry of a list, * for a name of the user's
	kind     kind
	required bool
	def      string // as written in YAML; empty: none
	min, max int64  // integers as such, USD in 1e-9, durations in ns, texts in bytes, lists in entries
	never    bool   // 0 is allowed too and means never
	names    []string
	example  string // what a missing required key asks for
	meaning  string
}

const (
	day       = 24 * time.Hour
	maxTerm   = 18250 * day // fifty years, within every date type of the store
	usd       = 1_000_000_000
	maxGlob   = 256
	maxCount  = 1_000_000_000_000
	retention = `retention:
  act: 400d
  human: 400d
  think: 90d
  read: 90d
  content: 30d
  findings: 400d
  access_log: 400d`
)

// All detectors are proposed: fewer is a decision of the policy's owner.
var (
	detectors = "detectors: [" + strings.Join(detectorNames, ", ") + "]"
	redaction = "redaction:\n  mode: pseudonym\n  key: ${env:STEPTRAIL_REDACTION_KEY}\n  " + detectors
)

// keys are all keys of the policy, in the order of the README.
var keys = append([]keySpec{
	{path: "version", kind: kindInteger, required: true, min: 1, max: 1, example: "version: 1", meaning: "format of the file"},

	{path: "tools", kind: kindList, max: 5000, meaning: "rules for tools; the first that matches wins"},
	{path: "tools[].match", kind: kindGlob, required: true, max: maxGlob, example: `match: "get_*"`, meaning: "name of the tool, as sent or without the prefix of its plugin or server"},
	{path: "tools[].class", kind: kindChoice, names: classNames, meaning: "what the tool is; left out, the span decides"},
	{path: "tools[].target", kind: kindTemplate, max: 512, meaning: "the resource acted on, for spans that state none"},
	{path: "tools[].key", kind: kindTemplate, max: 512, meaning: "the idempotency key that the tool really sends, for spans that state none; it must name an argument"},
	{path: "tools[].on_unknown", kind: kindChoice, names: onUnknownNames, meaning: "the declared answer to an unknown outcome"},
	{path: "tools[].reconcile_with", kind: kindGlobs, max: 32, meaning: "tools that tell whether this one took effect; they are class reconcile unless a rule says otherwise"},
	{path: "tools[].undone_by", kind: kindGlobs, max: 32, meaning: "tools that take back what this one did"},
	{path: "tools[].approval", kind: kindChoice, names: []string{"required"}, meaning: "a person must have approved the call"},
	{path: "tools[].forbidden", kind: kindFlag, def: "false", meaning: "the tool must never run"},
	{path: "tools[].repeatable", kind: kindFlag, def: "false", meaning: "running it again is no double effect"},
	{path: "tools[].repeat", kind: kindInteger, min: 2, max: 1000, never: true, meaning: "its own threshold for `loop.repeat`; left out, `detection.repeat`"},
	{path: "tools[].repeat_unseen", kind: kindInteger, def: "0", min: 2, max: 1000, never: true, meaning: "the threshold where no arguments were recorded"},

	{path: "limits", kind: kindList, max: 5000, meaning: "what a run may use; the first that matches wins; broken beyond it, not at it"},
	{path: "limits[].match", kind: kindMapping, meaning: "which runs; left out, all"},
	{path: "limits[].match.agent", kind: kindGlob, def: "*", max: maxGlob, meaning: "name of the agent"},
	{path: "limits[].match.task_type", kind: kindGlob, def: "*", max: maxGlob, meaning: "type of the task"},
	{path: "limits[].steps", kind: kindInteger, min: 1, max: maxCount, meaning: "steps of all kinds but other; left out, no limit"},
	{path: "limits[].tool_calls", kind: kindInteger, min: 1, max: maxCount, meaning: "executed attempts, per tool; left out, no limit"},
	{path: "limits[].tokens", kind: kindInteger, min: 1, max: maxCount, meaning: "input and output of all attempts; left out, no limit"},
	{path: "limits[].wall_time", kind: kindDuration, min: int64(time.Millisecond), max: int64(3650 * day), meaning: "first start to last end of all the run's spans; left out, no limit"},
	{path: "limits[].cost_usd", kind: kindUSD, min: 1, max: 1_000_000_000 * usd, meaning: "cost of all attempts; left out, no limit"},
	{path: "limits[].attempts", kind: kindInteger, def: "5", min: 1, max: 10_000, meaning: "attempts of one step"},

	{path: "detection", kind: kindMapping, meaning: "thresholds and waiting times"},
	{path: "detection.repeat", kind: kindInteger, def: "3", min: 2, max: 1000, meaning: "equal calls in a row that make a loop"},
	{path: "detection.cycle_rounds", kind: kindInteger, def: "3", min: 2, max: 100, meaning: "rounds of a pattern that make a cycle"},
	{path: "detection.stall_window", kind: kindInteger, def: "8", min: 2, max: 1000, meaning: "tool steps without news that make a stall"},
	{path: "detection.unknown_sla", kind: kindDuration, def: "5m", min: int64(time.Second), max: int64(3650 * day), meaning: "how long an unknown outcome may stay open before it is critical"},
	{path: "detection.quiet", kind: kindDuration, def: "10s", min: int64(100 * time.Millisecond), max: int64(time.Hour), meaning: "how long nothing may have arrived for a run to be quiet"},
	{path: "detection.in_flight", kind: kindDuration, def: "5m", min: int64(100 * time.Millisecond), max: int64(7 * day), meaning: "how long a call may stay without a sign before it is unknown"},
	{path: "detection.settle", kind: kindDuration, def: "2s", min: int64(100 * time.Millisecond), max: int64(time.Hour), meaning: "how long a finding that rests on something absent waits"},
	{path: "detection.context_bytes", kind: kindInteger, def: "65536", min: 1024, max: 1 << 30, meaning: "size of a tool result or model input that may be bloat"},

	{path: "rules", kind: kindList, max: 1000, meaning: "findings of your own"},
	{path: "rules[].name", kind: kindName, required: true, max: 64, example: "name: guardrail_bypassed", meaning: "unique; the finding is `rule.<name>`"},
	{path: "rules[].severity", kind: kindChoice, def: "warning", names: severityNames, meaning: "severity of the finding"},
	{path: "rules[].condition", kind: kindLines, required: true, max: 4096, example: `condition: 'attributes["guardrail.result"] == "bypass"'`, meaning: "an OTTL condition, span context"},
	{path: "rules[].message", kind: kindText, max: 512, meaning: "what the finding says"},

	{path: "run_id_keys", kind: kindTexts, max: 64, meaning: "attributes that carry an explicit run id, beside those of the known dialects"},

	{path: "prices", kind: kindList, max: 5000, meaning: "for spans that report no cost; the first that matches wins"},
	{path: "prices[].model", kind: kindGlob, required: true, max: maxGlob, example: `model: "gpt-4o*"`, meaning: "name of the model, as sent or behind its last slash"},
	{path: "prices[].input", kind: kindUSD, required: true, max: 1_000_000 * usd, example: "input: 2.5", meaning: "USD per million input tokens"},
	{path: "prices[].cached", kind: kindUSD, max: 1_000_000 * usd, meaning: "USD per million input tokens from a cache; left out, as `input`"},
	{path: "prices[].output", kind: kindUSD, required: true, max: 1_000_000 * usd, example: "output: 10", meaning: "USD per million output tokens"},

	{path: "redaction", kind: kindMapping, required: true, example: redaction, meaning: "what is removed from content before it is kept"},
	{path: "redaction.mode", kind: kindChoice, required: true, names: redactionModeNames, example: "mode: pseudonym", meaning: "`[EMAIL:9f3a…]`, where equal stays equal, or `[EMAIL]`"},
	{path: "redaction.key", kind: kindSecret, required: true, min: MinRedactionKey, max: MaxRedactionKey, example: "key: ${env:STEPTRAIL_REDACTION_KEY}", meaning: "keys pseudonyms and comparison hashes"},
	{path: "redaction.detectors", kind: kindTexts, required: true, names: detectorNames, example: detectors, meaning: "what is looked for; an empty list is a decision too"},
	{path: "redaction.keys", kind: kindGlobs, max: 1000, meaning: "JSON keys and attribute names whose values are removed, at any depth"},
	{path: "redaction.rules", kind: kindList, max: 100, meaning: "patterns of your own"},
	{path: "redaction.rules[].name", kind: kindName, required: true, max: 64, example: "name: patient_id", meaning: "unique, none of the detectors'"},
	{path: "redaction.rules[].pattern", kind: kindPattern, required: true, max: 1024, example: `pattern: 'PAT-\d{8}'`, meaning: "what is removed; it must not match empty text"},
	{path: "redaction.idempotency_keys", kind: kindChoice, def: "keep", names: treatmentNames, meaning: "whether keys are kept as sent"},
	{path: "redaction.targets", kind: kindChoice, def: "keep", names: treatmentNames, meaning: "whether targets are kept as sent"},

	{path: "retention", kind: kindMapping, required: true, example: retention, meaning: "how long what is kept"},
	{path: "sampling", kind: kindMapping, meaning: "which content of read-only steps is kept for its full term"},
	{path: "sampling.read_content", kind: kindShare, def: "1", meaning: "share of units whose read-only steps keep their content"},
	{path: "sampling.grace", kind: kindDuration, def: "1d", min: int64(time.Hour), max: int64(maxTerm), meaning: "how long the content of the others is kept"},
}, retentionKeys()...)

// retentionKeys are the seven terms, and the same for one tenant.
func retentionKeys() []keySpec {
	terms := []struct{ name, term, meaning string }{
		{"act", "400d", "steps that act or reconcile"},
		{"human", "400d", "steps of people"},
		{"think", "90d", "model calls"},
		{"read", "90d", "read-only steps and all others"},
		{"content", "30d", "messages, arguments and results; never longer than their step"},
		{"findings", "400d", "findings"},
		{"access_log", "400d", "who read what"},
	}
	var all, tenant []keySpec
	for _, t := range terms {
		spec := keySpec{kind: kindDuration, min: int64(time.Hour), max: int64(maxTerm), meaning: t.meaning}
		spec.path = "retention.tenants.*." + t.name
		tenant = append(tenant, spec)
		spec.path, spec.required, spec.example = "retention."+t.name, true, t.name+": "+t.term
		all = append(all, spec)
	}
	all = append(all,
		keySpec{path: "retention.tenants", kind: kindMapping, max: 10_000, meaning: "other terms for some tenants"},
		keySpec{path: "retention.tenants.*", kind: kindMapping, meaning: "terms of the tenant of that name; what is left out is as above"})
	return append(all, tenant...)
}

// keyIndex finds a key by its path; childIndex the names that may stand in a mapping.
var keyIndex, childIndex = indexKeys()

func indexKeys() (map[string]*keySpec, map[string][]string) {
	byPath, children := make(map[string]*keySpec), make(map[string][]string)
	for i := range keys {
		path := keys[i].path
		byPath[path] = &keys[i]
		parent, name := "", path
		if dot := strings.LastIndexByte(path, '.'); dot >= 0 {
			parent, name = path[:dot], path[dot+1:]
		}
		children[parent] = append(children[parent], name)
	}
	return byPath, children
}
