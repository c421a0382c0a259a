package policy

import "time"

// Retention is how long what is kept.
type Retention struct {
	// Act, Human, Think and Read are the terms of steps; see Step.
	Act, Human, Think, Read time.Duration
	// Content is the term of messages, arguments and results; see ContentOf.
	Content time.Duration
	// Findings is the term of findings.
	Findings time.Duration
	// AccessLog is the term of the record of who read what.
	AccessLog time.Duration
}

// Step is the term of a step: reconcile follows act, other and hand-offs follow read. A step of no class is taken for an act.
func (r Retention) Step(c Class) time.Duration {
	switch c {
	case ClassHuman:
		return r.Human
	case ClassThink:
		return r.Think
	case ClassRead, ClassOther, ClassHandoff:
		return r.Read
	default:
		return r.Act
	}
}

// ContentOf is the term of a step's content. It never outlives the step.
func (r Retention) ContentOf(c Class) time.Duration { return min(r.Content, r.Step(c)) }

// Retention is that of a tenant: the policy's terms, with the tenant's own in their place.
func (p *Policy) Retention(tenant string) Retention {
	if r, ok := p.tenants[tenant]; ok {
		return r
	}
	return p.retention
}
