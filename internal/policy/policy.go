// Package policy reads policy.yaml: what a business decides about its agents, apart from plumbing. Which tools act and which only
// read, what a run may use, what is removed from content before it is kept and how long the rest stays.
//
//	bytes → YAML nodes → ${env:NAME} in scalars → typed, checked values → matchers, templates, hash
//
// It knows nothing of spans, files or the process: the environment is a function that the caller passes, time is never asked for.
// Every problem of a file is reported at once, each with its key and line. A *Policy does not change after Parse, so any number of
// goroutines may use it.
package policy

import "time"

// MinRedactionKey and MaxRedactionKey bound the redaction key, in bytes.
const (
	MinRedactionKey = 16
	MaxRedactionKey = 1024
)

// MaxSize is the largest policy that Parse reads, in bytes.
const MaxSize = 1 << 20

// Policy is a parsed and checked policy. Its exported parts are for reading only; make one with Parse.
type Policy struct {
	// Detection holds the thresholds and waiting times of the detectors.
	Detection Detection
	// Rules are the findings of the policy's own. Their conditions are OTTL text, compiled by the processor.
	Rules []Rule
	// RunIDKeys are attribute names that carry an explicit run id, beside those of the known dialects.
	RunIDKeys []string
	// Redaction says what is removed from content before it is kept.
	Redaction Redaction
	// Sampling says which content of read-only steps is kept for its full term.
	Sampling Sampling

	tools     []Tool // as written, then those that a reconcile_with implies
	written   int    // how many of tools were written as rules
	toolIndex index  // over tools[:written]
	implied   index  // over tools[written:]

	limits     []limitRule
	limitIndex index // over the agent's pattern

	prices     []Price
	priceIndex index

	retention Retention
	tenants   map[string]Retention

	hash string
}

// Hash identifies the meaning of the policy: 64 lower-case hex digits of SHA-256. Comments, order of keys, spelling of durations and
// defaults that are written out do not change it, nor does the value of the redaction key, which is no part of it.
func (p *Policy) Hash() string { return p.hash }

// Detection holds thresholds and waiting times of the detectors.
type Detection struct {
	// Repeat is the number of equal calls in a row that make a loop. A tool may have its own, see [Tool.RepeatOr].
	Repeat int
	// CycleRounds is the number of rounds of a pattern that make a cycle.
	CycleRounds int
	// StallWindow is the number of tool steps without news that make a stall.
	StallWindow int
	// UnknownSLA is how long an unknown outcome may stay open before it is critical.
	UnknownSLA time.Duration
	// Quiet is how long nothing may have arrived for a run before it counts as quiet.
	Quiet time.Duration
	// InFlight is how long a call that was asked for may stay without a sign before it counts as unknown.
	InFlight time.Duration
	// Settle is how long a finding that rests on something absent waits after its span.
	Settle time.Duration
	// ContextBytes is the size of a tool result or model input, in bytes, from which it may count as bloat.
	ContextBytes int
}

// Rule is a finding of the policy's own, of kind "rule." + Name.
type Rule struct {
	// Name is unique and made of a-z, 0-9 and _.
	Name string
	// Severity is SeverityWarning where the policy states none.
	Severity Severity
	// Condition is an OTTL condition in the span context. Parse does not compile it, see WithConditionCheck.
	Condition string
	// Message is what the finding says; empty where the policy states none.
	Message string

	key  string
	line int
}

// Problem wraps what is wrong with the rule's condition so that it reads like every other problem of the policy: with key, line and
// the rule's name.
func (r *Rule) Problem(err error) error {
	return &Problem{Key: r.key, Line: r.line, Err: &ruleError{name: r.Name, err: err}}
}

// Sampling says which content of read-only steps is kept for its full term. Steps themselves are always kept.
type Sampling struct {
	// ReadContent is the share of units, 0 to 1, whose read-only steps keep their content.
	ReadContent float64
	// Grace is how long content that sampling leaves out is kept.
	Grace time.Duration
}

// Severity of a finding. The zero value means unset.
type Severity uint8

// The severities, from the mildest.
const (
	SeverityUnset Severity = iota
	SeverityInfo
	SeverityWarning
	SeverityCritical
)

var severityNames = []string{"info", "warning", "critical"}

// String is the name of the severity in policy and API; empty where it is unset.
func (s Severity) String() string { return enumName(severityNames, s) }

// enumName is the name of an enum whose names start at its value 1.
func enumName[T ~uint8](names []string, v T) string {
	if v == 0 || int(v) > len(names) {
		return ""
	}
	return names[v-1]
}
