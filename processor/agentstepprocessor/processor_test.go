package agentstepprocessor

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/steptrail/steptrail/internal/canon"
)

func TestSmoke(t *testing.T) {
	f := NewFactory()
	cfg := f.CreateDefaultConfig().(*Config)
	cfg.PolicyFile = "builtin:demo"
	cfg.DataDir = t.TempDir()
	sink := new(consumertest.TracesSink)
	p, err := f.CreateTraces(context.Background(), processortest.NewNopSettings(Type), cfg, sink)
	require.NoError(t, err)
	require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
	defer func() { require.NoError(t, p.Shutdown(context.Background())) }()
	for _, name := range []string{"otel-genai-agent-attrs-duplicate-refund", "otel-http-retry-same-idempotency-key"} {
		data, err := os.ReadFile(filepath.Join("../../../shared/captures", name+".json"))
		if err != nil {
			t.Skip("no captures")
		}
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(data)
		require.NoError(t, err)
		require.NoError(t, p.ConsumeTraces(context.Background(), td))
	}
	var r canon.Reader
	for _, td := range sink.AllTraces() {
		for _, rs := range td.ResourceSpans().All() {
			r.Resource(rs.Resource())
			for _, ss := range rs.ScopeSpans().All() {
				r.Scope(ss.Scope())
				for _, sp := range ss.Spans().All() {
					rec := r.Span(sp)
					s := &rec.Step
					t.Logf("%s %s op=%v kind=%v/%v sign=%v out=%v tool=%s key=%s target=%s args=%v bodies=%d facts=%d rest=%v http=%v", s.Name, s.Dialect, s.Op, s.Kind, s.KindSource, s.Sign, s.Outcome, s.Call.Tool, s.Call.Key, s.Call.Target, s.Call.Arguments.State, len(rec.Bodies), len(rec.Facts), s.Attributes, s.HTTP)
				}
			}
		}
	}
}
