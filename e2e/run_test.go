package e2e

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run is what the tests read of a run in the API.
type run struct {
	RunID     string           `json:"run_id"`
	SessionID string           `json:"session_id"`
	Agent     string           `json:"agent"`
	Status    string           `json:"status"`
	Spans     int              `json:"spans"`
	Traces    []string         `json:"traces"`
	Counts    map[string]count `json:"counts"`
	Findings  map[string]int   `json:"findings"`
}

type count struct {
	Steps    int `json:"steps"`
	Attempts int `json:"attempts"`
	Errors   int `json:"errors"`
}

// history is what the tests read of a run's history.
type history struct {
	Run   run    `json:"run"`
	Steps []step `json:"steps"`
}

type step struct {
	StepID   string    `json:"step_id"`
	Kind     string    `json:"kind"`
	Tool     string    `json:"tool"`
	Attempts []attempt `json:"attempts"`
}

type attempt struct {
	Number  int    `json:"number"`
	SpanID  string `json:"span_id"`
	Outcome string `json:"outcome"`
}

// agentRun makes one run of an agent in one trace: the agent's span and below it steps model calls and tool calls in
// turn, each a step of its own. Equal arguments give equal spans, ids included.
func agentRun(id string, steps int, start time.Time) ptrace.Traces {
	traces := ptrace.NewTraces()
	rs := traces.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "e2e-agent")
	spans := rs.ScopeSpans().AppendEmpty().Spans()
	spans.EnsureCapacity(steps + 1)
	trace, root := traceID(id), spanID(id, 0)

	agent := spans.AppendEmpty()
	agent.SetTraceID(trace)
	agent.SetSpanID(root)
	agent.SetName("invoke_agent e2e")
	agent.SetStartTimestamp(pcommon.NewTimestampFromTime(start))
	agent.SetEndTimestamp(pcommon.NewTimestampFromTime(start.Add(time.Duration(steps+1) * time.Millisecond)))
	agent.Attributes().PutStr("gen_ai.operation.name", "invoke_agent")
	agent.Attributes().PutStr("gen_ai.agent.name", "e2e")
	agent.Attributes().PutStr("agent.run.id", id)

	for i := range steps {
		span := spans.AppendEmpty()
		span.SetTraceID(trace)
		span.SetSpanID(spanID(id, i+1))
		span.SetParentSpanID(root)
		span.SetStartTimestamp(pcommon.NewTimestampFromTime(start.Add(time.Duration(i) * time.Millisecond)))
		span.SetEndTimestamp(pcommon.NewTimestampFromTime(start.Add(time.Duration(i+1) * time.Millisecond)))
		attributes := span.Attributes()
		attributes.PutStr("agent.run.id", id)
		attributes.PutStr("agent.step.id", fmt.Sprintf("step-%d", i))
		if i%2 == 0 {
			span.SetName("chat test-model")
			attributes.PutStr("gen_ai.operation.name", "chat")
			attributes.PutStr("gen_ai.request.model", "test-model")
			attributes.PutStr("gen_ai.input.messages", fmt.Sprintf(`[{"role":"user","parts":[{"type":"text","content":"%s: question %d"}]}]`, id, i))
			continue
		}
		span.SetName("execute_tool get_order")
		attributes.PutStr("gen_ai.operation.name", "execute_tool")
		attributes.PutStr("gen_ai.tool.name", "get_order")
		attributes.PutStr("gen_ai.tool.call.id", fmt.Sprintf("%s-call-%d", id, i))
		attributes.PutStr("gen_ai.tool.call.arguments", fmt.Sprintf(`{"order_id": %d}`, i))
		attributes.PutStr("gen_ai.tool.call.result", fmt.Sprintf(`{"order_id": %d, "status": "shipped"}`, i))
	}
	return traces
}

// traceID and spanID give ids that depend on the run's name alone.

func traceID(id string) pcommon.TraceID {
	sum := sha256.Sum256([]byte(id))
	return pcommon.TraceID(sum[:16])
}

func spanID(id string, i int) pcommon.SpanID {
	sum := sha256.Sum256(binary.BigEndian.AppendUint32([]byte(id), uint32(i)))
	return pcommon.SpanID(sum[:8])
}
