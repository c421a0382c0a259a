package agentstepprocessor

import (
	"encoding/json"
	"maps"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processorhelper"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/policy"
)

// run takes one span through the processor and reads it back.
func run(t *testing.T, s *state, td ptrace.Traces) *canon.Record {
	t.Helper()
	out, err := s.processTraces(t.Context(), td)
	require.NoError(t, err)
	requireValid(t, out)
	var rec *canon.Record
	eachSpan(out, func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, span ptrace.Span) {
		r := new(canon.Reader)
		r.Resource(rs.Resource())
		r.Scope(ss.Scope())
		rec = r.Span(span)
	})
	return rec
}

// requireValid checks that all that leaves is valid UTF-8 and can be written as
// JSON.
func requireValid(t *testing.T, td ptrace.Traces) {
	t.Helper()
	data, err := (&ptrace.JSONMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	require.True(t, json.Valid(data))
	require.True(t, utf8.Valid(data))
	eachSpan(td, func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, span ptrace.Span) {
		require.True(t, utf8.ValidString(span.Name()))
		require.True(t, utf8.ValidString(span.Status().Message()))
		require.True(t, utf8.ValidString(ss.Scope().Name()))
		validMap(t, rs.Resource().Attributes())
		validMap(t, span.Attributes())
		for _, ev := range span.Events().All() {
			require.True(t, utf8.ValidString(ev.Name()))
			validMap(t, ev.Attributes())
		}
	})
}

func validMap(t *testing.T, m pcommon.Map) {
	t.Helper()
	for k, v := range m.All() {
		require.True(t, utf8.ValidString(k), "%q", k)
		validValue(t, v)
	}
}

func validValue(t *testing.T, v pcommon.Value) {
	t.Helper()
	switch v.Type() {
	case pcommon.ValueTypeStr:
		require.True(t, utf8.ValidString(v.Str()), "%q", v.Str())
	case pcommon.ValueTypeMap:
		validMap(t, v.Map())
	case pcommon.ValueTypeSlice:
		for _, e := range v.Slice().All() {
			validValue(t, e)
		}
	}
}

func nested(depth int, leaf any) any {
	for range depth {
		leaf = map[string]any{"a": leaf}
	}
	return leaf
}

func TestHostileValuesDoNoHarm(t *testing.T) {
	tool := map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund_payment"}
	with := func(more map[string]any) map[string]any {
		out := map[string]any{}
		maps.Copy(out, tool)
		maps.Copy(out, more)
		return out
	}
	bad := "a\xff\xfeb\x00c\xed\xa0\x80"
	for name, attrs := range map[string]map[string]any{
		"invalid UTF-8 everywhere": with(map[string]any{
			"gen_ai.tool.call.arguments": bad, "gen_ai.tool.call.id": bad, "agent.run.id": bad, "agent.target": bad, "agent.idempotency.key": bad,
			"x" + bad: bad, "list": []any{bad, map[string]any{bad: bad}}, "gen_ai.tool.call.result": `{"a":"` + bad + `"}`,
		}),
		"lone surrogates and NUL in JSON": with(map[string]any{"gen_ai.tool.call.arguments": `{"a":"\ud800","b":"\u0000"}`}),
		"numbers that are none":           with(map[string]any{"agent.cost.usd": math.NaN(), "gen_ai.usage.input_tokens": math.Inf(1), "x": math.Inf(-1)}),
		"the ends of int64": with(map[string]any{
			"gen_ai.usage.input_tokens": int64(math.MaxInt64), "gen_ai.usage.output_tokens": int64(math.MinInt64),
			"agent.step.attempt": int64(math.MaxInt64), "agent.step.index": int64(math.MinInt64), "agent.cost.usd": math.MaxFloat64,
		}),
		"structured values instead of JSON": with(map[string]any{
			"gen_ai.tool.call.arguments": map[string]any{"a": []any{1, 2.5, nil, true}}, "agent.run.id": []any{"r"}, "gen_ai.tool.name": map[string]any{"a": 1},
		}),
		"deep nesting as value":        with(map[string]any{"x": nested(300, "leaf"), "gen_ai.tool.call.arguments": nested(300, 1)}),
		"deep nesting as JSON":         with(map[string]any{"gen_ai.tool.call.arguments": strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)}),
		"JSON cut off by the sender":   with(map[string]any{"gen_ai.tool.call.arguments": `{"order_id":"A-10`, "gen_ai.input.messages": `[{"role":"user","parts":[{"ty`}),
		"messages that are none":       {"gen_ai.operation.name": "chat", "gen_ai.input.messages": `[1,"x",null,[[]],{"role":7,"parts":{"a":1}},{}]`, "gen_ai.output.messages": "plain"},
		"a thousand messages":          {"gen_ai.operation.name": "chat", "gen_ai.input.messages": "[" + strings.Repeat(`{"role":"user","content":"x"},`, 999) + "{}]"},
		"more messages than any model": {"gen_ai.operation.name": "chat", "gen_ai.input.messages": "[" + strings.Repeat(`{},`, 100_000) + "{}]"},
		"enums nobody knows":           with(map[string]any{"agent.outcome": "perhaps", "agent.step.kind": "ponder", "agent.gate.decision": 7}),
		"facts and findings from outside": with(map[string]any{
			"agent.facts": []byte{1, 2, 3}, "agent.policy.hash": "mine", "agent.tenant": "other", "agent.redacted": 99,
		}),
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestState(t, taskPolicy)
			td, _ := oneSpan(attrs)
			rec := run(t, s, td)
			require.NotNil(t, rec)
			require.Equal(t, defaultTenant, rec.Step.Tenant)
			require.Equal(t, s.policy.Hash(), rec.Step.PolicyHash)
			require.GreaterOrEqual(t, rec.Step.Model.Tokens.Input, int64(0))
			require.Less(t, rec.Step.Model.CostNano, int64(math.MaxInt64))
		})
	}
}

func TestTenThousandAttributesAreLimitedAndThoseOfOursStay(t *testing.T) {
	s := newTestState(t, taskPolicy)
	td, span := oneSpan(nil)
	for i := range 10_000 {
		span.Attributes().PutInt([]string{"x", "agent.x", "gen_ai.x"}[i%3]+strings.Repeat("y", i%7)+string(rune('a'+i%26))+time.Duration(i).String(), int64(i))
	}
	span.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
	span.Attributes().PutStr("gen_ai.tool.name", "refund_payment")
	rec := run(t, s, td)
	require.Equal(t, "refund_payment", rec.Step.Call.Tool)
	require.Equal(t, agent.OpTool, rec.Step.Op)
	require.InDelta(t, s.cfg.MaxAttributes, len(rec.Step.Attributes), 5)
	require.InDelta(t, 10_000-s.cfg.MaxAttributes, rec.Step.Dropped, 5)
}

// Names that redaction masks are all alike, so each needs a number of its own.
func TestTenThousandNamesThatAreMaskedCostLittle(t *testing.T) {
	s := newTestState(t, strings.Replace(taskPolicy, "mode: pseudonym", "mode: mask", 1))
	named := func(after string) (*canon.Record, time.Duration) {
		td, span := oneSpan(nil)
		nested := span.Attributes().PutEmptyMap("nested")
		at, logs := span.Attributes(), plog.NewLogs()
		rl := logs.ResourceLogs().AppendEmpty()
		record := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		for _, m := range []pcommon.Map{nested, at, rl.Resource().Attributes(), record.Attributes()} {
			m.EnsureCapacity(10_000)
			for i := range 10_000 {
				m.PutInt("user"+strconv.Itoa(i)+after, int64(i))
			}
		}
		began := time.Now()
		rec := run(t, s, td)
		_, err := s.processLogs(t.Context(), logs)
		require.NoError(t, err)
		return rec, time.Since(began)
	}
	_, harmless := named(".example.com")
	rec, took := named("@example.com")
	t.Logf("%v, names that stay %v", took, harmless)
	require.Less(t, took, max(20*time.Second, 100*harmless)) // a look through all names for each number took minutes
	require.Len(t, rec.Step.Attributes, s.cfg.MaxAttributes)
	require.Equal(t, agent.Attr{Key: "[EMAIL]#2", Value: "1", JSON: true}, rec.Step.Attributes[2])
}

func TestLargeValuesAreCutAndSaySo(t *testing.T) {
	s := newTestState(t, taskPolicy)
	big := strings.Repeat("ä", 4<<20) // 8 MB
	td, span := oneSpan(map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f", "gen_ai.tool.call.result": big, "x": big})
	rec := run(t, s, td)
	require.Equal(t, int64(8<<20), rec.Step.Call.Result.Size)
	require.Len(t, rec.Bodies, 1)
	require.Less(t, len(rec.Bodies[0].Text), s.cfg.MaxBodyBytes+512)
	x, _ := span.Attributes().Get("x")
	require.LessOrEqual(t, len(x.Str()), s.cfg.MaxAttributeBytes)
	cut, ok := span.Attributes().Get(canon.Truncated)
	require.True(t, ok)
	require.Equal(t, 2, cut.Slice().Len())
	require.Contains(t, cut.Slice().At(0).Str(), " 8388608 sha256:")
}

func TestTimesThatNobodyHasDoNoHarm(t *testing.T) {
	s := newTestState(t, taskPolicy)
	for name, start := range map[string]uint64{
		"zero": 0, "the year 2200": uint64(time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()), "the last": math.MaxUint64,
		"a hundred weeks ago": uint64(testNow.Add(-100 * 7 * 24 * time.Hour).UnixNano()),
	} {
		t.Run(name, func(t *testing.T) {
			td, span := oneSpan(map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund_payment"})
			span.SetStartTimestamp(pcommon.Timestamp(start))
			span.SetEndTimestamp(1)
			rec := run(t, s, td)
			from, to := testNow.Add(-policy.OldestStart).Add(400*24*time.Hour).Unix(), testNow.Add(policy.NewestStart).Add(400*24*time.Hour).Unix()
			require.GreaterOrEqual(t, rec.Step.Expires, from)
			require.LessOrEqual(t, rec.Step.Expires, to)
			require.LessOrEqual(t, rec.Step.ContentExpires, rec.Step.Expires)
			require.GreaterOrEqual(t, rec.Step.Start, int64(0))
		})
	}
}

func TestASpanWithoutIdsIsDroppedAloneAndSaidOnce(t *testing.T) {
	s := newTestState(t, taskPolicy)
	core, logs := observer.New(zap.WarnLevel)
	s.log = zap.New(core)
	td, good := oneSpan(nil)
	spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	good.CopyTo(spans.AppendEmpty())
	spans.At(1).SetTraceID(pcommon.TraceID{})
	good.CopyTo(spans.AppendEmpty())
	spans.At(2).SetSpanID(pcommon.SpanID{})
	out, err := s.processTraces(t.Context(), td)
	require.NoError(t, err)
	require.Equal(t, 1, out.SpanCount())
	bad, span := oneSpan(nil)
	span.SetTraceID(pcommon.TraceID{})
	_, err = s.processTraces(t.Context(), bad)
	require.ErrorIs(t, err, processorhelper.ErrSkipProcessingData, "nothing is left to pass on")
	require.Equal(t, 1, logs.Len())
}

func TestLogRecordsAreRedactedAndTheirContentReadBack(t *testing.T) {
	s := newTestState(t, taskPolicy)
	ld := plog.NewLogs()
	records := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	message := func(event, text string) {
		lr := records.AppendEmpty()
		lr.SetTraceID(pcommon.TraceID{1})
		lr.SetSpanID(pcommon.SpanID{2})
		lr.SetTimestamp(pcommon.NewTimestampFromTime(testNow))
		lr.SetEventName(event)
		lr.Body().SetEmptyMap().PutStr("content", text)
	}
	message("gen_ai.user.message", "write to ana@example.com")
	message("gen_ai.choice", "done\xff")
	other := records.AppendEmpty()
	other.Body().SetStr("ana@example.com logged in")
	other.Attributes().PutStr("agent.facts", "from outside")
	out, err := s.processLogs(t.Context(), ld)
	require.NoError(t, err)
	data, err := (&plog.JSONMarshaler{}).MarshalLogs(out)
	require.NoError(t, err)
	require.NotContains(t, string(data), "ana@example.com")
	c := collect(nil, []plog.Logs{out})
	require.Len(t, c.input.Logs, 2)
	require.False(t, c.input.Logs[0].Output)
	require.True(t, c.input.Logs[1].Output)
	require.Less(t, c.input.Logs[0].Position, c.input.Logs[1].Position)
	require.Equal(t, agent.RoleUser, c.input.Facts[c.input.Logs[0].Message].Role)
}
