package agentstepprocessor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/goleak"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/contracttest"
	"github.com/steptrail/steptrail/internal/meter"
	"github.com/steptrail/steptrail/internal/meter/metertest"
	"github.com/steptrail/steptrail/internal/policyfile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheComponentHoldsTheContract(t *testing.T) {
	contracttest.Processor(t, NewFactory(), contracttest.Options{
		Type: "agentstep", DefaultInvalid: "policy_file",
		Config: func(t testing.TB, cfg component.Config) {
			c := cfg.(*Config)
			c.PolicyFile, c.DataDir = policyfile.Demo, t.TempDir()
		},
	})
}

func TestConfigNamesEveryProblem(t *testing.T) {
	err := (&Config{MaxAttributes: 1}).Validate()
	for _, key := range []string{
		"policy_file", "max_open_bytes", "max_open_time", "max_body_bytes", "max_attribute_bytes", "max_attributes",
	} {
		require.ErrorContains(t, err, key)
	}
}

func TestAPolicyWithAMistakeIsRefusedWithItsPlace(t *testing.T) {
	for name, test := range map[string]struct{ policy, want string }{
		"unknown detector":      {"version: 1\nredaction: {mode: mask, key: 0123456789abcdef0123, detectors: [email, passport]}\n", "passport"},
		"no retention":          {"version: 1\nredaction: {mode: mask, key: 0123456789abcdef0123, detectors: []}\n", "retention"},
		"a rule that is none":   {policyHead + "rules: [{name: bad, condition: 'attributes[', message: m}]\n", `rule "bad" does not compile`},
		"no key":                {strings.Replace(policyHead, `key: "0123456789abcdef0123456789abcdef"`, `key: "${env:STEPTRAIL_NO_SUCH_KEY}"`, 1), "redaction.key"},
		"an unknown key in it":  {policyHead + "colour: red\n", "colour"},
		"a pattern that is bad": {strings.Replace(policyHead, "keys:", "rules: [{name: x, pattern: '('}], keys:", 1), "pattern"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := createDefaultConfig().(*Config)
			cfg.PolicyFile = filepath.Join(t.TempDir(), "policy.yaml")
			cfg.DataDir = t.TempDir()
			require.NoError(t, os.WriteFile(cfg.PolicyFile, []byte(test.policy), 0o600))
			_, err := NewFactory().CreateTraces(t.Context(), processortest.NewNopSettings(Type), cfg, consumertest.NewNop())
			require.ErrorContains(t, err, test.want)
			entries, err := os.ReadDir(cfg.DataDir)
			require.NoError(t, err)
			require.Empty(t, entries, "no key is made for a policy of one's own")
		})
	}
}

func TestTheDemoPolicyGetsAKeyOfItsOwnAtTheStart(t *testing.T) {
	t.Setenv("STEPTRAIL_REDACTION_KEY", "")
	cfg := createDefaultConfig().(*Config)
	cfg.PolicyFile, cfg.DataDir = policyfile.Demo, filepath.Join(t.TempDir(), "data")
	p, err := NewFactory().CreateTraces(t.Context(), processortest.NewNopSettings(Type), cfg, consumertest.NewNop())
	require.NoError(t, err)
	require.NoDirExists(t, cfg.DataDir, "a config that is only validated writes nothing")
	require.NoError(t, p.Start(t.Context(), componenttest.NewNopHost()))
	require.NoError(t, p.Shutdown(t.Context()))
	info, err := os.Stat(filepath.Join(cfg.DataDir, policyfile.KeyFile))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestTheReadmeNamesEveryOptionAndItsDefault(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	d := createDefaultConfig().(*Config)
	options := map[string]string{
		"policy_file": "none, required", "data_dir": d.DataDir, "max_open_bytes": fmt.Sprint(d.MaxOpenBytes), "max_open_time": d.MaxOpenTime.String(),
		"max_body_bytes": fmt.Sprint(d.MaxBodyBytes), "max_attribute_bytes": fmt.Sprint(d.MaxAttributeBytes),
		"max_attributes": fmt.Sprint(d.MaxAttributes), "message_cache_bytes": fmt.Sprint(d.MessageCacheBytes),
	}
	for key, value := range options {
		if key != "policy_file" {
			value = "`" + value + "`"
		}
		require.Contains(t, string(readme), fmt.Sprintf("| `%s` | %s |", key, value))
	}
}

func TestTheReadmeNamesEveryMetric(t *testing.T) { metertest.Readme(t, meter.Table(described)) }

func TestMetricsCountWhatHappenedAndStartAtZero(t *testing.T) {
	tel := componenttest.NewTelemetry()
	set := processortest.NewNopSettings(Type)
	set.TelemetrySettings = tel.NewTelemetrySettings()
	cfg := createDefaultConfig().(*Config)
	cfg.PolicyFile = filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(cfg.PolicyFile, []byte(taskPolicy), 0o600))
	p, err := NewFactory().CreateTraces(t.Context(), set, cfg, consumertest.NewNop())
	require.NoError(t, err)
	value := func(name string, attrs ...string) (int64, bool) {
		var rm metricdata.ResourceMetrics
		require.NoError(t, tel.Reader.Collect(t.Context(), &rm))
		for _, scope := range rm.ScopeMetrics {
			for _, m := range scope.Metrics {
				if m.Name != name {
					continue
				}
				var points []metricdata.DataPoint[int64]
				switch data := m.Data.(type) {
				case metricdata.Sum[int64]:
					points = data.DataPoints
				case metricdata.Gauge[int64]:
					points = data.DataPoints
				}
				for _, dp := range points {
					match := true
					for i := 0; i < len(attrs); i += 2 {
						v, _ := dp.Attributes.Value(attribute.Key(attrs[i]))
						match = match && v.AsString() == attrs[i+1]
					}
					if match {
						return dp.Value, true
					}
				}
			}
		}
		return 0, false
	}
	n, ok := value("steptrail_findings", "kind", "key.duplicate", "severity", "critical")
	require.True(t, ok, "a finding that never came is there")
	require.Zero(t, n)
	require.NoError(t, p.ConsumeTraces(t.Context(), keyCase()))
	td, span := oneSpan(map[string]any{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_order", "agent.step.kind": "act", "agent.outcome": "perhaps",
		"note": "ana@example.com", "password": "hunter2",
	})
	span.SetStartTimestamp(1)
	require.NoError(t, p.ConsumeTraces(t.Context(), td))
	for _, want := range []struct {
		name  string
		attrs []string
		value int64
	}{
		{"steptrail_stream_spans", nil, 6},
		{"steptrail_findings", []string{"kind", "key.duplicate", "severity", "critical"}, 2},
		{"steptrail_stream_steps", []string{"kind", "act", "outcome", "ok"}, 4},
		{"steptrail_stream_steps", []string{"kind", "read", "outcome", "ok"}, 1},
		{"steptrail_stream_redacted_values", []string{"detector", "email"}, 1},
		{"steptrail_stream_redacted_values", []string{"detector", "keys"}, 1},
		{"steptrail_stream_redacted_values", []string{"detector", "iban"}, 0},
		{"steptrail_stream_unknown_values", []string{"attribute", "agent.outcome"}, 1},
		{"steptrail_stream_kind_conflicts", nil, 1},
		{"steptrail_stream_clamped", []string{"reason", "start_too_old"}, 1},
		{"steptrail_stream_dropped", []string{"reason", "zero_span_id"}, 0},
		{"steptrail_stream_open_runs", nil, 2},
	} {
		got, ok := value(want.name, want.attrs...)
		require.True(t, ok, "%s %v", want.name, want.attrs)
		if want.name == "steptrail_stream_open_runs" {
			require.Positive(t, got)
			continue
		}
		require.Equal(t, want.value, got, "%s %v", want.name, want.attrs)
	}
	require.NoError(t, p.Shutdown(t.Context()))
	require.NoError(t, tel.Shutdown(t.Context()))
}

func TestAFindingIsCountedOnceHoweverOftenItsSpansCome(t *testing.T) {
	tp, _, sink, _ := newTestProcessor(t, taskPolicy)
	for range 3 {
		require.NoError(t, tp.ConsumeTraces(t.Context(), keyCase()))
	}
	seen := map[agent.FindingID]int{}
	for _, td := range sink.AllTraces() {
		for id := range collect([]ptrace.Traces{td}, nil).findings {
			seen[id]++
		}
	}
	require.NotEmpty(t, seen)
	for id, n := range seen {
		require.Equal(t, 3, n, "a span that comes again gets its finding %s again", id)
	}
}
