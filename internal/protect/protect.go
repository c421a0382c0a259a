// Package protect makes the redaction that a policy asks for, so that what is
// stored and what is asked for are redacted alike.
//
//	policy.Policy → redact.Config → redact.Redactor
package protect

import (
	"fmt"

	"github.com/steptrail/steptrail/internal/policy"
	"github.com/steptrail/steptrail/internal/redact"
)

// maxBytes is the longest text that redaction works on; a longer one is
// dropped.
const maxBytes = 32 << 20

// New makes the redactor that the policy asks for.
func New(p *policy.Policy) (*redact.Redactor, error) {
	r := &p.Redaction
	cfg := redact.Config{
		Mode:            redact.Mode(r.Mode.String()),
		Key:             []byte(r.Key.Reveal()),
		Detectors:       r.Detectors,
		Keys:            r.Keys,
		IdempotencyKeys: redact.Treatment(r.IdempotencyKeys.String()),
		Targets:         redact.Treatment(r.Targets.String()),
		MaxBytes:        maxBytes,
	}
	for _, rule := range r.Rules {
		cfg.Rules = append(cfg.Rules, redact.Rule{Name: rule.Name, Pattern: rule.Pattern.String()})
	}
	red, err := redact.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return red, nil
}
