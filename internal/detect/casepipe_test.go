package detect_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/policy"
	"github.com/steptrail/steptrail/processor/agentstepprocessor"
)

// pipe takes export requests through dialect, redaction and canonical form, as
// the product does, and keeps the steps.
type pipe struct {
	input  agent.Input
	policy *policy.Policy
}

func parsePolicy(t testing.TB, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse([]byte(text), nil)
	require.NoError(t, err, text)
	return p
}

// process sends the requests through the processor.
func process(t testing.TB, policyText string, requests []ptrace.Traces, logs ...plog.Logs) *pipe {
	t.Helper()
	p := &pipe{policy: parsePolicy(t, policyText), input: agent.Input{Facts: map[agent.Ref]*agent.MessageFacts{}}}
	path := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(path, []byte(policyText), 0o600))
	factory := agentstepprocessor.NewFactory()
	cfg := factory.CreateDefaultConfig().(*agentstepprocessor.Config)
	cfg.PolicyFile = path
	sink := &consumertest.TracesSink{}
	proc, err := factory.CreateTraces(t.Context(), processortest.NewNopSettings(factory.Type()), cfg, sink)
	require.NoError(t, err)
	require.NoError(t, proc.Start(t.Context(), componenttest.NewNopHost()))
	for _, td := range requests {
		require.NoError(t, proc.ConsumeTraces(t.Context(), td))
	}
	kept := p.processLogs(t, factory, cfg, logs)
	require.NoError(t, proc.Shutdown(t.Context()))
	for _, td := range sink.AllTraces() {
		p.read(td)
	}
	for _, ld := range kept {
		p.readLogs(ld)
	}
	return p
}

func (p *pipe) processLogs(t testing.TB, factory processor.Factory, cfg component.Config, logs []plog.Logs) []plog.Logs {
	t.Helper()
	sink := &consumertest.LogsSink{}
	proc, err := factory.CreateLogs(t.Context(), processortest.NewNopSettings(factory.Type()), cfg, sink)
	require.NoError(t, err)
	require.NoError(t, proc.Start(t.Context(), componenttest.NewNopHost()))
	for _, ld := range logs {
		require.NoError(t, proc.ConsumeLogs(t.Context(), ld))
	}
	require.NoError(t, proc.Shutdown(t.Context()))
	return sink.AllLogs()
}

// readLogs keeps the content of annotated log records.
func (p *pipe) readLogs(ld plog.Logs) {
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				var r canon.Reader // one each, so that nothing is shared
				r.Resource(rl.Resource())
				r.Scope(sl.Scope())
				for _, rec := range r.Log(lr) {
					f := rec.Facts
					p.input.Facts[f.Ref] = &f
					p.input.Logs = append(p.input.Logs, rec.Content)
				}
			}
		}
	}
}

// read keeps the steps and facts of annotated spans.
func (p *pipe) read(td ptrace.Traces) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				var r canon.Reader // one each, so that nothing is shared
				r.Resource(rs.Resource())
				r.Scope(ss.Scope())
				rec := r.Span(span)
				step := rec.Step
				step.Received = max(step.Start, step.End)
				p.input.Steps = append(p.input.Steps, &step)
				for i := range rec.Facts {
					f := rec.Facts[i]
					p.input.Facts[f.Ref] = &f
				}
			}
		}
	}
}

// under indexes acts by their key, as the store does.
func under(acts []agent.Act) func(string) []agent.Act {
	index := map[string][]agent.Act{}
	for _, a := range acts {
		if a.Key != "" {
			index[a.Key] = append(index[a.Key], a)
		}
	}
	return func(key string) []agent.Act { return slices.Clone(index[key]) }
}
