package agentstepprocessor

import (
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/redact"
)

// RedactionTrial shows what would be stored of texts and recorded telemetry under
// a policy. It is not safe for concurrent use.
type RedactionTrial struct {
	state  *state
	tenant *redact.Tenant
}

// NewRedactionTrial reads the policy that source names (a path, or builtin:demo).
// Where the environment holds no redaction key, one is made for the trial:
// pseudonyms then differ from those in the store.
func NewRedactionTrial(source string) (*RedactionTrial, error) {
	set := trialSettings()
	p, conds, err := loadTrial(source, set)
	if err != nil {
		return nil, err
	}
	s, err := newStateWith(createDefaultConfig().(*Config), set, p, conds) //nolint:forcetypeassert // our own
	if err != nil {
		return nil, err
	}
	return &RedactionTrial{state: s, tenant: s.redactor.ForTenant(defaultTenant)}, nil
}

// Text redacts a text.
func (t *RedactionTrial) Text(s string) (redact.Redacted, error) { return t.tenant.Text(s) }

// Traces makes spans what they are when they leave the processor.
func (t *RedactionTrial) Traces(td ptrace.Traces) { t.work(func(w *worker) { w.traces(td) }) }

// Logs makes log records what they are when they leave the processor.
func (t *RedactionTrial) Logs(ld plog.Logs) { t.work(func(w *worker) { w.logs(ld) }) }

func (t *RedactionTrial) work(f func(*worker)) {
	w := <-t.state.workers
	defer func() {
		w.end()
		t.state.workers <- w
	}()
	w.start()
	f(w)
}

// RefusedText is what is stored of a text that redaction refuses to look through.
const RefusedText = refusedText
