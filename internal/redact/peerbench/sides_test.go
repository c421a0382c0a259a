package peerbench

import (
	"context"
	"testing"

	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/redactionprocessor"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/steptrail/steptrail/internal/redact"
	"github.com/steptrail/steptrail/processor/agentstepprocessor"
)

// sixPatterns are what people write for addresses, cards, keys, tokens, telephone
// numbers and accounts.
var sixPatterns = []string{
	`[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}`,
	`\b(?:\d[ -]?){13,16}\b`,
	`\bsk-[A-Za-z0-9_-]{20,}\b`,
	`\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`,
	`(?:\+\d{1,3}[ .-]?)?\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}\b`,
	`\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b`,
}

// contrib makes the redaction processor of the collector's contrib, which masks
// every value that one of the six patterns matches.
func contrib(tb testing.TB) func(ptrace.Traces) {
	tb.Helper()
	factory := redactionprocessor.NewFactory()
	config := factory.CreateDefaultConfig().(*redactionprocessor.Config)
	config.AllowAllKeys = true
	config.BlockedValues = sixPatterns
	config.Summary = "silent"
	must(tb, config.Validate())
	made, err := factory.CreateTraces(tb.Context(), processortest.NewNopSettings(factory.Type()), config, consumertest.NewNop())
	must(tb, err)
	return started(tb, made)
}

// agentstep makes our whole processor: dialects, redaction of every place content
// can sit, canonical steps, hashes, open runs, findings.
func agentstep(tb testing.TB) func(ptrace.Traces) {
	tb.Helper()
	factory := agentstepprocessor.NewFactory()
	config := factory.CreateDefaultConfig().(*agentstepprocessor.Config)
	config.PolicyFile = "testdata/policy.yaml"
	config.DataDir = tb.TempDir()
	must(tb, config.Validate())
	made, err := factory.CreateTraces(tb.Context(), processortest.NewNopSettings(factory.Type()), config, consumertest.NewNop())
	must(tb, err)
	return started(tb, made)
}

func started(tb testing.TB, p processor.Traces) func(ptrace.Traces) {
	tb.Helper()
	ctx := context.WithoutCancel(tb.Context())
	must(tb, p.Start(ctx, componenttest.NewNopHost()))
	tb.Cleanup(func() { must(tb, p.Shutdown(ctx)) })
	return func(td ptrace.Traces) { must(tb, p.ConsumeTraces(ctx, td)) }
}

// redaction makes the redaction step alone, with all detectors, over all strings
// of a request that can hold content.
func redaction(tb testing.TB) func(ptrace.Traces) {
	tb.Helper()
	redactor, err := redact.New(redact.Config{
		Mode:      redact.ModePseudonym,
		Key:       []byte("0123456789abcdef"),
		Detectors: redact.DetectorNames(),
		Keys:      []string{"password", "*_secret"},
		MaxBytes:  32 << 20,
	})
	must(tb, err)
	tenant := redactor.ForTenant("default")
	text := func(name, s string, set func(string)) {
		got, err := tenant.Value(name, s)
		must(tb, err)
		if got.Count > 0 {
			set(got.Stored)
		}
	}
	var value func(name string, v pcommon.Value)
	attributes := func(m pcommon.Map) {
		for name, v := range m.All() {
			text("", name, func(string) {}) // a name in which something is found is no name of these requests
			value(name, v)
		}
	}
	value = func(name string, v pcommon.Value) {
		switch v.Type() {
		case pcommon.ValueTypeStr:
			text(name, v.Str(), v.SetStr)
		case pcommon.ValueTypeMap:
			attributes(v.Map())
		case pcommon.ValueTypeSlice:
			for _, item := range v.Slice().All() {
				value(name, item)
			}
		}
	}
	return func(td ptrace.Traces) {
		for _, rs := range td.ResourceSpans().All() {
			attributes(rs.Resource().Attributes())
			for _, ss := range rs.ScopeSpans().All() {
				attributes(ss.Scope().Attributes())
				for _, span := range ss.Spans().All() {
					text("", span.Name(), span.SetName)
					text("", span.Status().Message(), span.Status().SetMessage)
					attributes(span.Attributes())
					for _, event := range span.Events().All() {
						text("", event.Name(), event.SetName)
						attributes(event.Attributes())
					}
					for _, link := range span.Links().All() {
						attributes(link.Attributes())
					}
				}
			}
		}
	}
}
