package agentstepprocessor

import (
	"sync/atomic"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/policy"
	"github.com/steptrail/steptrail/internal/redact"
)

// tenantProtector adapts redaction of one tenant to what guard and analysis
// need. It is safe for concurrent use.
type tenantProtector struct {
	redactor *redact.Redactor
	tenant   *redact.Tenant
	tally    *redactTally
}

var _ protector = (*tenantProtector)(nil)

// Content redacts a message, arguments or a result.
func (p *tenantProtector) Content(raw string) (stored, compared string, replaced int, ok bool) {
	r, err := p.tenant.Text(raw)
	if err != nil {
		return "", "", 0, false
	}
	p.tally.add(r.Found)
	return r.Stored, r.Compare, r.Count, true
}

// Hash is the keyed hash of a comparison form.
func (p *tenantProtector) Hash(d canon.Domain, form []byte) agent.Digest {
	return agent.Digest(p.tenant.Hash(redact.Domain(d), form))
}

// Text redacts any other text.
func (p *tenantProtector) Text(key, s string) (string, int, bool) {
	r, err := p.tenant.Under(key, s)
	p.tally.add(r.Found)
	return r.Stored, r.Count, err == nil
}

// Secret reports whether a name is on the policy's list.
func (p *tenantProtector) Secret(name string) bool { return p.redactor.Secret(name) }

// Named redacts the value of a name on the policy's list.
func (p *tenantProtector) Named(name, value string) (string, int, bool) {
	r, err := p.tenant.Value(name, value)
	p.tally.add(r.Found)
	return r.Stored, r.Count, err == nil
}

// Key is what may be kept of an idempotency key.
func (p *tenantProtector) Key(s string) (string, bool) {
	kept, err := p.tenant.Key(s)
	return kept, err == nil
}

// Target is what may be kept of a target.
func (p *tenantProtector) Target(s string) (string, bool) {
	kept, err := p.tenant.Target(s)
	return kept, err == nil
}

// redactTally counts what was replaced, by what found it: a detector or rule of
// the policy, or its key list. It is safe for concurrent use.
type redactTally struct{ counts map[string]*atomic.Int64 }

// newRedactTally knows all that may find something under a policy.
func newRedactTally(p *policy.Policy) *redactTally {
	t := &redactTally{counts: map[string]*atomic.Int64{redact.KeyList: {}}}
	for _, d := range p.Redaction.Detectors {
		t.counts[d] = &atomic.Int64{}
	}
	for _, r := range p.Redaction.Rules {
		t.counts[r.Name] = &atomic.Int64{}
	}
	return t
}

func (t *redactTally) add(found []redact.Found) {
	for i := range found {
		n := t.counts[found[i].Detector]
		if n == nil {
			n = t.counts[redact.KeyList]
		}
		n.Add(int64(found[i].Count))
	}
}

// each gives the counts, in any order.
func (t *redactTally) each(f func(detector string, n int64)) {
	for name, n := range t.counts {
		f(name, n.Load())
	}
}
