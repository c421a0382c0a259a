package agentqueryextension

import (
	"slices"
	"sync"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/policyfile"
	"github.com/steptrail/steptrail/internal/protect"
	"github.com/steptrail/steptrail/internal/redact"
	"github.com/steptrail/steptrail/query"
)

// redaction does to what a request says what the processor does to the
// attributes that it is compared with.
type redaction struct {
	redactor *redact.Redactor
	tenants  sync.Map // of *redact.Tenant, by tenant
}

var _ query.Redaction = (*redaction)(nil)

// newRedaction makes the redaction of the policy, under the key that the
// processor redacts with, which it makes where the processor would.
func newRedaction(cfg *Config) (*redaction, error) {
	p, err := policyfile.Load(cfg.PolicyFile, cfg.DataDir)
	if err != nil {
		return nil, err
	}
	r, err := protect.New(p)
	if err != nil {
		return nil, err
	}
	return &redaction{redactor: r}, nil
}

func (r *redaction) tenant(name string) *redact.Tenant {
	if t, ok := r.tenants.Load(name); ok {
		return t.(*redact.Tenant) //nolint:forcetypeassert // nothing else is stored
	}
	t, _ := r.tenants.LoadOrStore(name, r.redactor.ForTenant(name))
	return t.(*redact.Tenant) //nolint:forcetypeassert // nothing else is stored
}

// names are the attributes that a field is read from.
var names = map[query.Field][]string{
	query.FieldUser:    {canon.UserID},
	query.FieldSession: {canon.SessionID, canon.ConversationID},
}

func (r *redaction) Stored(tenant string, field query.Field, value string) (spellings []string, ok bool) {
	t := r.tenant(tenant)
	if field == query.FieldTarget {
		kept, err := t.Target(value)
		return []string{kept}, err == nil
	}
	for _, name := range names[field] {
		got, err := t.Value(name, value)
		if err != nil || got.Stored != got.Compare { // dropped, or a mask
			return nil, false
		}
		if !slices.Contains(spellings, got.Stored) {
			spellings = append(spellings, got.Stored)
		}
	}
	return spellings, true
}

func (r *redaction) Text(tenant, text string) (string, bool) {
	got, err := r.tenant(tenant).Text(text)
	return got.Stored, err == nil
}
