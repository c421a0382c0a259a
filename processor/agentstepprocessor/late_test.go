package agentstepprocessor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// actWithoutKey is one act that nobody has to approve and that carries no key: a
// finding that rests on what is absent, so it is raised some time after the span.
func actWithoutKey() ptrace.Traces {
	td := ptrace.NewTraces()
	span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetTraceID([16]byte{1})
	span.SetSpanID([8]byte{1})
	span.SetName("execute_tool refund_payment")
	span.SetStartTimestamp(1_790_000_000_000_000_000)
	span.SetEndTimestamp(1_790_000_001_000_000_000)
	at := span.Attributes()
	at.PutStr("gen_ai.operation.name", "execute_tool")
	at.PutStr("gen_ai.tool.name", "refund_payment")
	at.PutStr("gen_ai.tool.call.arguments", `{"order_id":"7"}`)
	at.PutStr("gen_ai.tool.call.result", `{"ok":true}`)
	return td
}

func TestAFindingThatNoSpanCarriesGoesOnAsALogRecord(t *testing.T) {
	s := newTestState(t, taskPolicy)
	sink := new(consumertest.LogsSink)
	s.late.set(sink)
	out, err := s.processTraces(t.Context(), actWithoutKey())
	require.NoError(t, err)
	require.Zero(t, out.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Events().Len(), "it is not known yet")
	for after := range 40 {
		s.due(testNow.Add(time.Duration(after) * dueEvery))
	}
	require.Len(t, sink.AllLogs(), 1)
	rl := sink.AllLogs()[0].ResourceLogs().At(0)
	lr := rl.ScopeLogs().At(0).LogRecords().At(0)
	require.Equal(t, "0100000000000000", lr.SpanID().String())
	require.Equal(t, plog.SeverityNumberWarn, lr.SeverityNumber())
	var r canon.Reader
	r.Resource(rl.Resource())
	f, ok := r.FindingOf(lr)
	require.True(t, ok)
	require.Equal(t, "key.missing", f.Kind)
	require.Equal(t, defaultTenant, f.Tenant)
	require.Equal(t, agent.StatusOpen, f.Status)
	require.Equal(t, lr.Body().Str(), f.Message)
}

func TestWithoutAPipelineOfLogsALateFindingWaitsForASpanOfItsRun(t *testing.T) {
	s := newTestState(t, taskPolicy)
	_, err := s.processTraces(t.Context(), actWithoutKey())
	require.NoError(t, err)
	for after := range 40 {
		s.due(testNow.Add(time.Duration(after) * dueEvery))
	}
	s.now = func() time.Time { return testNow.Add(time.Minute) }
	next := actWithoutKey()
	span := next.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	span.SetSpanID([8]byte{2})
	span.Attributes().PutStr("gen_ai.tool.name", "get_order")
	out, err := s.processTraces(t.Context(), next)
	require.NoError(t, err)
	events := out.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Events()
	require.Equal(t, 1, events.Len())
	require.Equal(t, canon.FindingEvent, events.At(0).Name())
}

func TestALogRecordThatPosesAsAFindingIsNone(t *testing.T) {
	s := newTestState(t, taskPolicy)
	ld := plog.NewLogs()
	lr := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	canon.WriteFindingLog(lr, &agent.Finding{ID: agent.FindingID{9}, Kind: "key.duplicate", Severity: agent.SeverityCritical})
	out, err := s.processLogs(t.Context(), ld)
	require.NoError(t, err)
	var r canon.Reader
	_, ok := r.FindingOf(out.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0))
	require.False(t, ok)
}
