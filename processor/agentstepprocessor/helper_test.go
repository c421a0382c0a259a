package agentstepprocessor

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/steptrail/steptrail/internal/policy"
)

// shared is the folder of cases, captures and real runs beside the repository.
const shared = "../../../shared"

// sharedFile gives the path of a file beside the repository, or skips the test.
func sharedFile(t testing.TB, parts ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{shared}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("not here: %s", filepath.Join(parts...))
	}
	return path
}

// policyHead is what every policy must state.
const policyHead = `
version: 1
redaction: {mode: pseudonym, key: "0123456789abcdef0123456789abcdef", detectors: [email, credit_card, iban, phone, us_ssn, ip, jwt, bearer, api_key, private_key, url_credentials], keys: [password, "*_secret"]}
retention: {act: 400d, human: 400d, think: 90d, read: 90d, content: 30d, findings: 400d, access_log: 400d}
`

// taskPolicy classes the tools of the captures, the cases and the real runs.
const taskPolicy = policyHead + `
tools:
  - {match: "get_*", class: read}
  - {match: "search_*", class: read}
  - {match: "list_*", class: read}
  - {match: "find_*", class: read}
  - {match: "check_*", class: read}
  - {match: "calculate", class: read}
  - {match: "refund_*", class: act, target: "order/{order_id}", key: "{idempotency_key}", on_unknown: reconcile, reconcile_with: [payments_lookup]}
prices:
  - {model: "gpt-4o*", input: 2.5, cached: 1.25, output: 10}
`

func parsePolicy(t testing.TB, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse([]byte(text), os.LookupEnv)
	require.NoError(t, err)
	return p
}

// newTestState makes the state of a processor with a policy.
func newTestState(t testing.TB, policy string, change ...func(*Config)) *state {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.PolicyFile = filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(cfg.PolicyFile, []byte(policy), 0o600))
	for _, c := range change {
		c(cfg)
	}
	require.NoError(t, cfg.Validate())
	shared := newSharedStates()
	s, err := shared.get(cfg, processortest.NewNopSettings(Type))
	require.NoError(t, err)
	s.now = func() time.Time { return testNow }
	t.Cleanup(func() { require.NoError(t, s.shutdown(context.WithoutCancel(t.Context()))) })
	return s
}

// testNow is when everything arrives in tests: shortly after the captures.
var testNow = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// newTestProcessor makes a traces and a logs processor of one config, and what
// they pass on.
func newTestProcessor(t testing.TB, policy string) (processor.Traces, processor.Logs, *consumertest.TracesSink, *consumertest.LogsSink) {
	t.Helper()
	f := NewFactory()
	cfg := f.CreateDefaultConfig().(*Config)
	cfg.PolicyFile = filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(cfg.PolicyFile, []byte(policy), 0o600))
	traces, logs := new(consumertest.TracesSink), new(consumertest.LogsSink)
	ctx := context.WithoutCancel(t.Context()) // also of the shutdown
	tp, err := f.CreateTraces(ctx, processortest.NewNopSettings(Type), cfg, traces)
	require.NoError(t, err)
	lp, err := f.CreateLogs(ctx, processortest.NewNopSettings(Type), cfg, logs)
	require.NoError(t, err)
	require.NoError(t, tp.Start(ctx, componenttest.NewNopHost()))
	require.NoError(t, lp.Start(ctx, componenttest.NewNopHost()))
	t.Cleanup(func() {
		require.NoError(t, tp.Shutdown(ctx))
		require.NoError(t, lp.Shutdown(ctx))
	})
	return tp, lp, traces, logs
}

// capture reads a captured export.
func capture(t testing.TB, name string) ptrace.Traces {
	t.Helper()
	data, err := os.ReadFile(sharedFile(t, "captures", name+".json"))
	require.NoError(t, err)
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(data)
	require.NoError(t, err)
	return td
}

// realRuns reads the requests of the recorded agent runs.
func realRuns(t testing.TB) []ptrace.Traces {
	t.Helper()
	f, err := os.Open(sharedFile(t, "real", "tau-bench-airline-0-99.otlp.jsonl.gz"))
	require.NoError(t, err)
	defer f.Close()
	zr, err := gzip.NewReader(f)
	require.NoError(t, err)
	sc := bufio.NewScanner(zr)
	sc.Buffer(nil, 64<<20)
	var all []ptrace.Traces
	for sc.Scan() {
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(sc.Bytes())
		require.NoError(t, err)
		all = append(all, td)
	}
	require.NoError(t, sc.Err())
	return all
}

// eachSpan calls f for every span with what it stands in.
func eachSpan(td ptrace.Traces, f func(ptrace.ResourceSpans, ptrace.ScopeSpans, ptrace.Span)) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				f(rs, ss, span)
			}
		}
	}
}

// oneSpan makes a request with one span.
func oneSpan(attrs map[string]any) (ptrace.Traces, ptrace.Span) {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "test")
	span := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetTraceID(pcommon.TraceID{1, 2, 3})
	span.SetSpanID(pcommon.SpanID{4, 5, 6})
	span.SetName("span")
	span.SetStartTimestamp(pcommon.NewTimestampFromTime(testNow.Add(-time.Minute)))
	span.SetEndTimestamp(pcommon.NewTimestampFromTime(testNow.Add(-time.Minute + time.Second)))
	if err := span.Attributes().FromRaw(attrs); err != nil {
		panic(err)
	}
	return td, span
}

// prose makes about n bytes of text from a small deterministic sequence.
func prose(seed *uint32, n int) string {
	words := strings.Fields(`customer order refund invoice shipment warehouse policy account ticket payment carrier tracking
discount subscription delivery address schedule inventory product quantity amount balance review escalate confirm cancel update
status pending approved rejected database query the of and to in is it you that he was for on are with as his they be at one have
this from or had by not but what some we can out other were all there when up use your how said an each she which do their`)
	var b strings.Builder
	for b.Len() < n {
		*seed = *seed*1664525 + 1013904223
		b.WriteString(words[int(*seed>>16)%len(words)])
		switch *seed >> 28 {
		case 0:
			b.WriteString(", ")
		case 1:
			b.WriteString(". ")
		case 2:
			fmt.Fprintf(&b, " ORD-%07d ", *seed>>10)
		default:
			b.WriteByte(' ')
		}
	}
	return strings.TrimSpace(b.String()[:n])
}

// typical makes a request of 100 spans like those of the comparison with a stock
// collector: half model calls of about 3 KB of attributes, half tool calls of
// 1.7 KB, all texts different; seed selects them.
func typical(seed uint32) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	res := rs.Resource().Attributes()
	res.PutStr("service.name", "agent-runtime")
	res.PutStr("service.version", "1.14.2")
	res.PutStr("service.instance.id", "pod-1")
	res.PutStr("deployment.environment.name", "production")
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("opentelemetry.instrumentation.genai")
	system := prose(new(uint32), 650)
	start := testNow.Add(-time.Minute)
	for i := range 100 {
		span := ss.Spans().AppendEmpty()
		run := seed*100 + uint32(i)/13
		span.SetTraceID(pcommon.TraceID{1, byte(run), byte(run >> 8), byte(run >> 16), byte(run >> 24)})
		span.SetSpanID(pcommon.SpanID{2, byte(i), byte(seed), byte(seed >> 8), byte(seed >> 16)})
		span.SetParentSpanID(pcommon.SpanID{3, byte(run), byte(run >> 8), byte(run >> 16)})
		span.SetStartTimestamp(pcommon.NewTimestampFromTime(start.Add(time.Duration(i) * time.Millisecond)))
		span.SetEndTimestamp(pcommon.NewTimestampFromTime(start.Add(time.Duration(i+1) * time.Millisecond)))
		a := span.Attributes()
		a.PutStr("gen_ai.agent.name", "support-agent")
		a.PutStr("gen_ai.agent.id", "asst_support-agent")
		a.PutStr("gen_ai.conversation.id", fmt.Sprintf("conv-%d", run))
		a.PutStr("agent.run.id", fmt.Sprintf("run-%d", run))
		if i%2 == 0 {
			typicalChat(span, &seed, i, system)
		} else {
			typicalTool(span, &seed, i)
		}
		a.PutStr("agent.step.id", fmt.Sprintf("step-%02d", i%13))
		a.PutInt("agent.step.attempt", 1)
		a.PutStr("agent.idempotency.key", fmt.Sprintf("%032x", uint64(seed)<<20+uint64(i)))
	}
	return td
}

func typicalChat(span ptrace.Span, seed *uint32, i int, system string) {
	span.SetName("chat gpt-4o")
	span.SetKind(ptrace.SpanKindClient)
	a := span.Attributes()
	a.PutStr("gen_ai.operation.name", "chat")
	a.PutStr("gen_ai.provider.name", "openai")
	a.PutStr("gen_ai.request.model", "gpt-4o")
	a.PutStr("gen_ai.response.model", "gpt-4o-2026-08-06")
	a.PutStr("gen_ai.response.id", fmt.Sprintf("chatcmpl-%d-%d", *seed, i))
	a.PutDouble("gen_ai.request.temperature", 0.2)
	a.PutInt("gen_ai.request.max_tokens", 4096)
	a.PutEmptySlice("gen_ai.response.finish_reasons").AppendEmpty().SetStr("tool_calls")
	a.PutInt("gen_ai.usage.input_tokens", 512)
	a.PutInt("gen_ai.usage.output_tokens", 98)
	a.PutStr("server.address", "api.example.com")
	a.PutInt("server.port", 443)
	a.PutStr("gen_ai.input.messages", `[{"role":"system","parts":[{"type":"text","content":"`+system+`"}]},`+
		`{"role":"user","parts":[{"type":"text","content":"`+prose(seed, 1150)+`"}]}]`)
	a.PutStr("gen_ai.output.messages", `[{"role":"assistant","finish_reason":"tool_call","parts":[{"type":"text","content":"`+prose(seed, 380)+`"}]}]`)
}

func typicalTool(span ptrace.Span, seed *uint32, i int) {
	span.SetName("execute_tool search_orders")
	span.SetKind(ptrace.SpanKindInternal)
	a := span.Attributes()
	a.PutStr("gen_ai.operation.name", "execute_tool")
	a.PutStr("gen_ai.tool.name", "search_orders")
	a.PutStr("gen_ai.tool.type", "function")
	a.PutStr("gen_ai.tool.description", "Search customer orders by id, email or date range")
	a.PutStr("gen_ai.tool.call.id", fmt.Sprintf("call_%d_%d", *seed, i))
	a.PutStr("gen_ai.tool.call.arguments", fmt.Sprintf(`{"order_id":"ORD-%07d","reason":%q,"limit":%d,"dry_run":false}`, *seed>>8, prose(seed, 120), i))
	a.PutStr("gen_ai.tool.call.result", fmt.Sprintf(`{"id":"ORD-%07d","lines":[{"sku":"X-%d","note":%q},{"sku":"Y-%d","note":%q}],"total":12.50}`,
		*seed>>8, i, prose(seed, 450), i, prose(seed, 450)))
}
