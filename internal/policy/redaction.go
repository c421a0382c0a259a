package policy

import (
	"fmt"
	"regexp"
)

// RedactionMode is what stands in the place of what was removed. The zero value means unset.
type RedactionMode uint8

// The modes: [EMAIL:9f3a…], keyed by tenant so that equal stays equal, or [EMAIL].
const (
	RedactionModeUnset RedactionMode = iota
	RedactionModePseudonym
	RedactionModeMask
)

var redactionModeNames = []string{"pseudonym", "mask"}

// String is the name of the mode in the policy; empty where it is unset.
func (m RedactionMode) String() string { return enumName(redactionModeNames, m) }

// Treatment of idempotency keys and targets. The zero value means unset.
type Treatment uint8

// The treatments: kept as sent, or replaced by a keyed pseudonym.
const (
	TreatmentUnset Treatment = iota
	TreatmentKeep
	TreatmentPseudonym
)

var treatmentNames = []string{"keep", "pseudonym"}

// String is the name of the treatment in the policy; empty where it is unset.
func (t Treatment) String() string { return enumName(treatmentNames, t) }

var detectorNames = []string{
	"email", "credit_card", "iban", "phone", "us_ssn", "ip", "jwt", "bearer", "api_key", "private_key", "url_credentials",
}

// Redaction says what is removed from content before it is kept.
type Redaction struct {
	// Mode is what stands in the place of what was removed.
	Mode RedactionMode
	// Key keys pseudonyms and comparison hashes.
	Key Secret
	// Detectors are names that the policy's format knows, each once. Whether this build has them is for the redactor to say.
	Detectors []string
	// Keys are patterns of JSON keys and attribute names, with * and ?, whose values are removed at any depth.
	Keys []string
	// Rules are the policy's own patterns.
	Rules []RedactionRule
	// IdempotencyKeys and Targets are TreatmentKeep where the policy states nothing.
	IdempotencyKeys, Targets Treatment
}

// RedactionRule is a pattern of the policy's own. Pattern never matches empty text.
type RedactionRule struct {
	// Name is unique, none of the detectors', and made of a-z, 0-9 and _.
	Name    string
	Pattern *regexp.Regexp
}

// Secret is a text that no print, log or encoder shows.
type Secret struct{ value *string } // behind a pointer: printing by reflection shows an address

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{value: &value} }

// Reveal is the value itself; empty where there is none.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// String never shows the value.
func (Secret) String() string { return "[hidden]" }

// Format never shows the value, whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, "[hidden]") }

// MarshalText never shows the value.
func (Secret) MarshalText() ([]byte, error) { return []byte("[hidden]"), nil }
