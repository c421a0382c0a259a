// Package redact removes what must not be kept from the texts of spans and logs.
//
//	text → JSON? walk its strings, undo escapes, enter JSON inside them (8 levels)
//	     → undo spellings (%40, &#64;, ＠, zero-width) → detectors at their trigger bytes, own rules
//	     → placeholders: [EMAIL:9f3a…] keyed per tenant, or [EMAIL]
//
// Strings in, strings out. It does not know spans, attributes that are no text,
// policies or files: which texts it is given, and what happens where it refuses
// one, is the processor's. It is pure, and it fails closed: a text that would
// take more work than allowed is an error and must be dropped, not passed on.
package redact

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// A Mode is what stands for a removed value.
type Mode string

const (
	// ModePseudonym writes [EMAIL:9f3a…]: an HMAC of the value under the tenant's
	// key, so that equal values stay equal and no one can guess them.
	ModePseudonym Mode = "pseudonym"
	// ModeMask writes [EMAIL].
	ModeMask Mode = "mask"
)

// A Treatment is what happens to a whole idempotency key or target.
type Treatment string

const (
	// TreatmentKeep leaves it, but for what the detectors find in it. The empty
	// Treatment is the same.
	TreatmentKeep Treatment = "keep"
	// TreatmentPseudonym replaces it by its pseudonym, in either mode.
	TreatmentPseudonym Treatment = "pseudonym"
)

// Config says what is removed. All of it is the policy's.
type Config struct {
	// Mode is required.
	Mode Mode
	// Key is the secret under which tenants' keys are derived; at least 16 bytes.
	Key []byte
	// Detectors are names of those that run; DetectorNames lists all there are.
	Detectors []string
	// Keys are globs (* is any text) on JSON member names and attribute names
	// whose whole value is removed. Case does not matter, - and _ are one, and
	// clientSecret is read as client_secret too.
	Keys []string
	// Rules are patterns of the user's own.
	Rules []Rule
	// IdempotencyKeys and Targets: keep or pseudonym.
	IdempotencyKeys, Targets Treatment
	// MaxBytes is the longest text that is worked on; 0 means DefaultMaxBytes.
	MaxBytes int
}

// A Rule is a pattern in the syntax of RE2; what it matches is removed.
type Rule struct {
	// Name gives the placeholder: patient_id is written [PATIENT_ID:…].
	Name string
	// Pattern must compile and must not match the empty text.
	Pattern string
}

const (
	// DefaultMaxBytes is the longest text that is worked on unless Config says
	// otherwise.
	DefaultMaxBytes = 4 << 20
	// MaxLevels is how many levels of JSON inside JSON strings are entered.
	MaxLevels = 8

	minKey = 16
)

// Errors of a text that must be dropped.
var (
	// ErrTooLong means the text is longer than MaxBytes.
	ErrTooLong = errors.New("redact: text too long")
	// ErrTooDeep means JSON inside strings more than MaxLevels deep.
	ErrTooDeep = errors.New("redact: JSON in strings too deep")
)

// A Redactor holds a compiled Config. It is immutable.
type Redactor struct {
	mode      Mode
	key       []byte
	maxBytes  int
	detectors []*detector
	rules     []rule
	keys      keyList
	idemKeys  Treatment
	targets   Treatment
	triggers  triggers // a bit per detector
	numbers   []int    // places of the detectors that look at digits
	// numberRules: a rule can match a number.
	numberRules bool
	ruled       bool // a rule runs on every text
	// secretValue is the place of that detector, -1 where it does not run.
	secretValue int
}

// rule is a compiled Rule.
type rule struct {
	name    string
	label   label
	pattern *regexp.Regexp
	prefix  string // what every match begins with; may be empty
	always  bool   // it runs without its prefix having been met
}

// New compiles a Config. It reports all problems at once, each naming its key of
// the policy.
func New(c Config) (*Redactor, error) {
	r := &Redactor{secretValue: -1, mode: c.Mode, key: append([]byte(nil), c.Key...), maxBytes: c.MaxBytes, idemKeys: c.IdempotencyKeys, targets: c.Targets}
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	if c.Mode != ModePseudonym && c.Mode != ModeMask {
		problem("redaction.mode: %q is neither %q nor %q", c.Mode, ModePseudonym, ModeMask)
	}
	if len(c.Key) < minKey {
		problem("redaction.key: %d bytes, at least %d are needed", len(c.Key), minKey)
	}
	for name, t := range map[string]Treatment{"idempotency_keys": c.IdempotencyKeys, "targets": c.Targets} {
		if t != "" && t != TreatmentKeep && t != TreatmentPseudonym {
			problem("redaction.%s: %q is neither %q nor %q", name, t, TreatmentKeep, TreatmentPseudonym)
		}
	}
	if c.MaxBytes < 0 {
		problem("redaction: negative work limit %d", c.MaxBytes)
	} else if c.MaxBytes == 0 {
		r.maxBytes = DefaultMaxBytes
	}
	r.add(&ownPlaceholder)
	for _, name := range c.Detectors {
		list := detectorsNamed(name)
		if list == nil {
			problem("redaction.detectors: no detector %q; there are: %s", name, strings.Join(DetectorNames(), ", "))
		}
		for _, d := range list {
			r.add(d)
		}
	}
	for i, glob := range c.Keys {
		if err := r.keys.add(glob); err != nil {
			problem("redaction.keys[%d]: %w", i, err)
		}
	}
	for i, own := range c.Rules {
		if err := r.addRule(own); err != nil {
			problem("redaction.rules[%d] %q: %w", i, own.Name, err)
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	r.finish()
	return r, nil
}

// add puts a detector where it stands in the order of all of them, once.
func (r *Redactor) add(d *detector) {
	at := 0
	for at < len(r.detectors) && r.detectors[at].order() < d.order() {
		at++
	}
	if at < len(r.detectors) && r.detectors[at] == d {
		return
	}
	r.detectors = append(r.detectors[:at], append([]*detector{d}, r.detectors[at:]...)...)
}

func (r *Redactor) addRule(own Rule) error {
	if own.Name == "" {
		return errors.New("no name")
	}
	l, err := newLabel(own.Name)
	if err != nil {
		return err
	}
	pattern, err := regexp.Compile(own.Pattern)
	if err != nil {
		return err
	}
	if pattern.MatchString("") {
		return errors.New("the pattern matches the empty text")
	}
	prefix, _ := pattern.LiteralPrefix()
	r.numberRules = r.numberRules || prefix == "" || prefix[0]-'0' < 10 || prefix[0] == '-' || prefix[0] == '+'
	// A pair inside of a row of digit groups is passed by.
	always := len(prefix) < 2 || inRow(prefix[0]) && inRow(prefix[1])
	r.ruled = r.ruled || always
	r.rules = append(r.rules, rule{name: own.Name, label: l, pattern: pattern, prefix: prefix, always: always})
	return nil
}

// finish builds the tables of trigger bytes.
func (r *Redactor) finish() {
	for n, d := range r.detectors {
		for i := range len(d.triggers) {
			r.triggers.add(d.triggers[i], 1<<n)
		}
		for _, p := range d.pairs {
			r.triggers.addPair(p[0], p[1], 1<<n)
		}
		if d.number != nil {
			r.numbers = append(r.numbers, n)
		}
		if d == &secretValue {
			r.secretValue = n
		}
	}
	if r.secretValue >= 0 || len(r.keys.exact)+len(r.keys.globs) > 0 {
		for last := range 256 {
			for _, c := range []byte(delimiters + "\n") {
				if r.endsHeading(byte(last)) {
					r.triggers.addPair(byte(last), c, cell)
				}
			}
		}
	}
	if len(r.numbers) > 0 {
		for c := byte('0'); c <= '9'; c++ {
			r.triggers.add(c, digit)
		}
	}
	for _, own := range r.rules {
		if !own.always {
			r.triggers.addPair(own.prefix[0], own.prefix[1], prefix)
		}
	}
	for i := range len(spellingTriggers) {
		r.triggers.add(spellingTriggers[i], spelling)
	}
}

// Secret reports whether an attribute or JSON member of that name is removed as
// a whole, whatever it holds. It is for values that are no texts; Value asks by
// itself.
func (r *Redactor) Secret(name string) bool { return r.keys.match(plainName(name)) }
