package agentstepprocessor

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/policy"
	"github.com/steptrail/steptrail/internal/policyfile"
)

// RuleTrial tries one rule of a policy on recorded spans, as the processor would:
// each span goes through dialect and redaction first. It is not safe for
// concurrent use.
type RuleTrial struct {
	state *state
	rule  policy.Rule
	found TrialResult
}

// TrialResult is what a trial came to.
type TrialResult struct {
	Spans   int            // that the rule was tried on
	Dropped int            // spans without ids, which the processor drops
	Met     []TrialSpan    // in the order in which they stand
	Failed  map[string]int // how often the condition failed on a span, by error
}

// TrialSpan is a span that met the rule, as it was when the rule was tried: its
// names and values are those of the canonical form, redacted.
type TrialSpan struct {
	TraceID, SpanID string
	Name            string
	Service         string
	Run             string            // explicit id, else the trace's
	Kind            string            // what policy and span say of it
	Tool, Target    string            // of calls
	Attributes      map[string]string // as text
}

// maxFailures bounds the different errors that are told apart.
const maxFailures = 100

// NewRuleTrial reads the policy that source names (a path, or builtin:demo) and
// compiles its rule of the name. Where the environment holds no redaction key,
// one is made for the trial: pseudonyms then differ from those in the store.
func NewRuleTrial(source, name string) (*RuleTrial, error) {
	set := trialSettings()
	p, conds, err := loadTrial(source, set)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(p.Rules, func(r policy.Rule) bool { return r.Name == name })
	if at < 0 {
		return nil, noRule(source, name, p.Rules)
	}
	t := &RuleTrial{rule: p.Rules[at]}
	p.Rules = p.Rules[at : at+1]
	if t.state, err = newStateWith(createDefaultConfig().(*Config), set, p, conds); err != nil { //nolint:forcetypeassert // our own
		return nil, err
	}
	t.state.tried = t.note
	t.found.Failed = map[string]int{}
	return t, nil
}

// trialSettings are those of a processor that tells nobody anything.
func trialSettings() processor.Settings {
	return processor.Settings{ID: component.NewID(Type), TelemetrySettings: component.TelemetrySettings{
		Logger: zap.NewNop(), TracerProvider: tracenoop.NewTracerProvider(), MeterProvider: metricnoop.NewMeterProvider(), Resource: pcommon.NewResource(),
	}}
}

// loadTrial reads a policy, under a redaction key of this call where the
// environment has none.
func loadTrial(source string, set processor.Settings) (*policy.Policy, *conditions, error) {
	conds, err := newConditions(set.TelemetrySettings)
	if err != nil {
		return nil, nil, err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	p, err := policyfile.Load(source, "", policy.WithConditionCheck(conds.check), policy.WithRedactionKey(hex.EncodeToString(key)))
	return p, conds, err
}

func noRule(source, name string, rules []policy.Rule) error {
	if len(rules) == 0 {
		return fmt.Errorf("policy %s has no rules", source)
	}
	names := make([]string, len(rules))
	for i := range rules {
		names[i] = rules[i].Name
	}
	return fmt.Errorf("policy %s has no rule %q; it has: %s", source, name, strings.Join(names, ", "))
}

// Rule is the rule that is tried.
func (t *RuleTrial) Rule() policy.Rule { return t.rule }

// Try tries the rule on spans, which are changed.
func (t *RuleTrial) Try(td ptrace.Traces) {
	w := <-t.state.workers
	defer func() {
		w.end()
		t.state.workers <- w
	}()
	w.start()
	w.traces(td)
	t.found.Spans += len(w.batch.steps)
	t.found.Dropped += int(w.counts.dropped[dropZeroTrace] + w.counts.dropped[dropZeroSpan])
}

// Result gives what all calls of Try came to.
func (t *RuleTrial) Result() TrialResult { return t.found }

func (t *RuleTrial) note(span ptrace.Span, rec *canon.Record, met bool, err error) {
	if err != nil {
		text := err.Error()
		if _, known := t.found.Failed[text]; !known && len(t.found.Failed) >= maxFailures {
			text = "other errors"
		}
		t.found.Failed[text]++
		return
	}
	if !met {
		return
	}
	s := &rec.Step
	out := TrialSpan{
		TraceID: s.Trace.String(), SpanID: s.Span.String(), Name: strings.Clone(s.Name), Service: strings.Clone(s.Service), Run: strings.Clone(s.Unit),
		Kind: s.Kind.String(), Tool: strings.Clone(s.Call.Tool), Target: strings.Clone(s.Call.Target), Attributes: map[string]string{},
	}
	for k, v := range span.Attributes().All() {
		out.Attributes[k] = v.AsString()
	}
	t.found.Met = append(t.found.Met, out)
}
