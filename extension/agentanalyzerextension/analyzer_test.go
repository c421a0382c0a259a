package agentanalyzerextension

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.uber.org/zap/zaptest"

	"github.com/steptrail/steptrail/extension/agentstorageextension"
	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/contracttest"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
	"github.com/steptrail/steptrail/internal/policyfile"
	"github.com/steptrail/steptrail/internal/store"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// host is a collector that has one storage extension.
type host struct{ storage component.Component }

func (h host) GetExtensions() map[component.ID]component.Component {
	return map[component.ID]component.Component{component.MustNewID("agentstorage"): h.storage}
}

// storage hands out a store that is there, or none yet.
type storage struct{ store *store.Store }

func (storage) Start(context.Context, component.Host) error { return nil }
func (storage) Shutdown(context.Context) error              { return nil }
func (s storage) Store() (*store.Store, error) {
	if s.store == nil {
		return nil, agentstorageextension.ErrNotReady
	}
	return s.store, nil
}

func TestTheExtensionHoldsTheContract(t *testing.T) {
	contracttest.Extension(t, NewFactory(), contracttest.Options{
		Type:           "agentanalyzer",
		DefaultInvalid: "policy_file",
		Config:         func(_ testing.TB, cfg component.Config) { cfg.(*Config).PolicyFile = policyfile.Demo },
		Host:           func(testing.TB) component.Host { return host{storage{}} },
	})
}

func TestEveryProblemOfAConfigIsNamed(t *testing.T) {
	cfg := &Config{Interval: time.Hour, Overlap: time.Millisecond, Timeout: time.Second}
	err := cfg.Validate()
	for _, key := range []string{"storage must", "policy_file must", "interval is 1h0m0s", "overlap is 1ms", "timeout is 1s"} {
		require.ErrorContains(t, err, key)
	}
}

func TestAMissingStorageIsAnErrorOfTheStart(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.PolicyFile = policyfile.Demo
	ext, err := NewFactory().Create(t.Context(), extensiontest.NewNopSettings(Type), cfg)
	require.NoError(t, err)
	cfg.Storage = component.MustNewIDWithName("agentstorage", "other")
	require.ErrorContains(t, ext.Start(t.Context(), host{storage{}}), "agentstorage/other")
	require.NoError(t, ext.Shutdown(t.Context()))
}

func TestASweepWritesDownWhatTheStoreHolds(t *testing.T) {
	e := enginetest.Start(t)
	st, err := store.Open(t.Context(), e.Options(), store.Config{Database: e.Database})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	require.NoError(t, st.Migrate(t.Context()))

	now := time.Now()
	batch := store.NewBatch()
	for i, key := range []string{"", "k-1", "k-1"} {
		batch.AddSpan(span(now, byte(i+1), key), nil, nil)
	}
	require.NoError(t, st.Insert(t.Context(), batch))

	cfg := createDefaultConfig().(*Config)
	cfg.PolicyFile, cfg.Interval = policyfile.Demo, minInterval
	set := extensiontest.NewNopSettings(Type)
	var points func(string) map[string]float64
	set.TelemetrySettings, points = telemetry(t)
	set.Logger = zaptest.NewLogger(t)
	a, err := newAnalyzer(set, cfg)
	require.NoError(t, err)
	a.policy.Detection.Quiet = 50 * time.Millisecond // the demo policy's is made for people
	require.NoError(t, a.Start(t.Context(), host{storage{st}}))
	defer func() { require.NoError(t, a.Shutdown(context.WithoutCancel(t.Context()))) }()

	id := agent.NewFindingID("default", "run-1", "key.duplicate", "k-1")
	require.Eventually(t, func() bool { // the summary is written after the finding, and counted after that
		return points("steptrail_tool_duration")["tool=refund"] == 2
	}, 3*time.Minute, 100*time.Millisecond)
	found, err := st.Tenant("default").Findings(t.Context(), store.FindingFilter{ID: id})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, agent.StatusOpen, found[0].Status)
	sums, err := st.Tenant("default").Summaries(t.Context(), store.RunFilter{Limit: 10})
	require.NoError(t, err)
	require.Len(t, sums, 1)
	require.EqualValues(t, 2, sums[0].Counts[agent.KindAct].Attempts)
	require.Equal(t, map[string]float64{"agent=helper,kind=act,outcome=ok,tool=refund": 2}, points("steptrail_attempts"))
	require.Equal(t, map[string]float64{"agent=helper,kind=act,outcome=ok,tool=refund": 2}, points("steptrail_steps"))

	require.Eventually(t, func() bool {
		return points("steptrail_open_findings")["kind=key.duplicate,severity=critical"] == 1
	}, 3*time.Minute, 100*time.Millisecond)
}

func span(now time.Time, id byte, key string) *agent.Step {
	s := &agent.Step{
		Tenant: "default", Unit: "run-1", RunID: "run-1", Trace: agent.TraceID{15: 1}, Span: agent.SpanID{7: id},
		Index: -1, Service: "svc", Sign: agent.SignOK, Op: agent.OpAgent, Agent: "helper",
		Start: now.Add(time.Duration(id) * time.Second).UnixNano(), End: now.Add(time.Duration(id)*time.Second + 1e8).UnixNano(),
		Received: now.UnixNano(), Expires: now.Add(time.Hour).Unix(), ContentExpires: now.Add(time.Hour).Unix(),
	}
	if key != "" {
		s.Op, s.Agent, s.Parent = agent.OpTool, "", agent.SpanID{7: 1}
		s.Kind, s.KindSource, s.Outcome = agent.KindAct, agent.KindSourcePolicy, agent.OutcomeOK
		s.Call.Tool, s.Call.Target, s.Call.Key = "refund", "order/1", key
	}
	return s
}
