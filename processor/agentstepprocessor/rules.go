package agentstepprocessor

import (
	"context"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlspan"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/ottlfuncs"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/policy"
)

// rule is a compiled rule of the policy.
type rule struct {
	name      string
	condition *ottl.Condition[*ottlspan.TransformContext]
}

// conditions compiles OTTL conditions in the span context. The standard
// converters are known; they change nothing.
type conditions struct {
	parser ottl.Parser[*ottlspan.TransformContext]
}

func newConditions(set component.TelemetrySettings) (*conditions, error) {
	parser, err := ottlspan.NewParser(ottlfuncs.StandardConverters[*ottlspan.TransformContext](), set)
	if err != nil {
		return nil, err
	}
	return &conditions{parser: parser}, nil
}

// check reports what is wrong with a condition, for the policy's list of
// problems.
func (c *conditions) check(condition string) error {
	_, err := c.parser.ParseCondition(condition)
	return err
}

func (c *conditions) compile(rules []policy.Rule) ([]rule, error) {
	compiled := make([]rule, 0, len(rules))
	for i := range rules {
		cond, err := c.parser.ParseCondition(rules[i].Condition)
		if err != nil {
			return nil, rules[i].Problem(err)
		}
		compiled = append(compiled, rule{name: rules[i].Name, condition: cond})
	}
	return compiled, nil
}

// rules notes which rules of the policy a span meets. It is asked once the span
// has left dialect and redaction, and before the processor writes on it.
func (w *worker) rules(span ptrace.Span, rec *canon.Record) {
	if len(w.s.rules) == 0 {
		return
	}
	ctx := context.Background()
	tc := ottlspan.NewTransformContext(w.resourceSpans, w.scopeSpans, span)
	for i := range w.s.rules {
		met, err := w.s.rules[i].condition.Eval(ctx, tc)
		if w.s.tried != nil {
			w.s.tried(span, rec, met, err)
		}
		switch {
		case err != nil:
			w.counts.rules++
		case met:
			rec.Step.Rules = append(rec.Step.Rules, w.s.rules[i].name)
		}
	}
	tc.Close()
}
