package agentstepprocessor

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

func TestTheKindOfAStepComesFromTheStrongestSource(t *testing.T) {
	s := newTestState(t, policyHead+`
tools:
  - {match: "delete_*", class: act}
  - {match: "get_*", class: read}
  - {match: "handover", class: handoff}
  - {match: "noted"}
  - {match: "pay", class: act, reconcile_with: [lookup]}
`)
	for name, test := range map[string]struct {
		attrs  map[string]any
		kind   agent.Kind
		source agent.KindSource
		public string // agent.step.kind / source on the span
		op     agent.Op
	}{
		"the policy, even against the span": {map[string]any{"gen_ai.tool.name": "delete_user", "agent.step.kind": "read"}, agent.KindAct, agent.KindSourcePolicy, "act/policy", agent.OpTool},
		"the policy, without a prefix":      {map[string]any{"gen_ai.tool.name": "mcp__crm__get_user"}, agent.KindRead, agent.KindSourcePolicy, "read/policy", agent.OpTool},
		"a class of hand-off":               {map[string]any{"gen_ai.tool.name": "handover"}, agent.KindOther, agent.KindSourcePolicy, "other/policy", agent.OpHandoff},
		"a tool that settles":               {map[string]any{"gen_ai.tool.name": "lookup"}, agent.KindReconcile, agent.KindSourcePolicy, "reconcile/policy", agent.OpTool},
		"the span":                          {map[string]any{"gen_ai.tool.name": "x", "agent.step.kind": "reading"}, agent.KindRead, agent.KindSourceReported, "read/reported", agent.OpTool},
		"a rule without class":              {map[string]any{"gen_ai.tool.name": "noted", "agent.step.kind": "act"}, agent.KindAct, agent.KindSourceReported, "act/reported", agent.OpTool},
		"an effect that only reads":         {map[string]any{"gen_ai.tool.name": "x", "agent.tool.effect": "read_only"}, agent.KindRead, agent.KindSourceReported, "read/reported", agent.OpTool},
		"an effect that destroys":           {map[string]any{"gen_ai.tool.name": "x", "agent.tool.effect": "destructive"}, agent.KindAct, agent.KindSourceReported, "act/reported", agent.OpTool},
		"evidence":                          {map[string]any{"gen_ai.tool.name": "x", "gen_ai.tool.type": "datastore"}, agent.KindRead, agent.KindSourceEvidence, "read/evidence", agent.OpTool},
		"nothing":                           {map[string]any{"gen_ai.tool.name": "x"}, agent.KindUnset, agent.KindSourceUnset, "act/default", agent.OpTool},
		"a kind nobody knows":               {map[string]any{"gen_ai.tool.name": "x", "agent.step.kind": "ponder"}, agent.KindUnset, agent.KindSourceUnset, "ponder/", agent.OpTool},
		"a kind that a processor derived":   {map[string]any{"gen_ai.tool.name": "x", "agent.step.kind": "read", "agent.step.kind.source": "policy"}, agent.KindUnset, agent.KindSourceUnset, "act/default", agent.OpTool},
	} {
		t.Run(name, func(t *testing.T) {
			test.attrs["gen_ai.operation.name"] = "execute_tool"
			td, span := oneSpan(test.attrs)
			rec := run(t, s, td)
			require.Equal(t, test.kind, rec.Step.Kind)
			require.Equal(t, test.source, rec.Step.KindSource)
			require.Equal(t, test.op, rec.Step.Op)
			require.Equal(t, test.public, attr(span, canon.StepKind)+"/"+attr(span, canon.StepKindSource))
		})
	}
}

func attr(span ptrace.Span, key string) string {
	v, ok := span.Attributes().Get(key)
	if !ok {
		return ""
	}
	return v.AsString()
}

func TestTargetAndKeyAreMadeFromTheArguments(t *testing.T) {
	s := newTestState(t, policyHead+`
tools: [{match: "refund", class: act, target: "order/{order.id}", key: "{key}"}]
`)
	for name, test := range map[string]struct{ arguments, target, key string }{
		"both":                  {`{"order":{"id":7731},"key":"k-1"}`, "order/7731", "k-1"},
		"an argument is absent": {`{"order":{"id":"7731"}}`, "order/7731", ""},
		"JSON in a string":      {`"{\"order\":{\"id\":\"A\"},\"key\":\"k\"}"`, "order/A", "k"},
		"no JSON":               {`order 7731`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			td, span := oneSpan(map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund", "gen_ai.tool.call.arguments": test.arguments})
			rec := run(t, s, td)
			require.Equal(t, test.target, rec.Step.Call.Target)
			require.Equal(t, test.key, rec.Step.Call.Key)
			require.Equal(t, test.target, attr(span, canon.Target))
			require.Equal(t, test.key, attr(span, canon.IdempotencyKey))
		})
	}
	td, _ := oneSpan(map[string]any{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund", "gen_ai.tool.call.arguments": `{"order":{"id":1},"key":"k"}`,
		"agent.target": "order/2", "agent.idempotency.key": "mine",
	})
	rec := run(t, s, td)
	require.Equal(t, "order/2", rec.Step.Call.Target, "what the span states goes first")
	require.Equal(t, "mine", rec.Step.Call.Key)
}

func TestCostIsReportedOrComputedExactly(t *testing.T) {
	s := newTestState(t, taskPolicy)
	chat := func(more map[string]any) *canon.Record {
		attrs := map[string]any{
			"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o", "gen_ai.usage.input_tokens": 1001,
			"gen_ai.usage.cache_read.input_tokens": 1, "gen_ai.usage.output_tokens": 3,
		}
		maps.Copy(attrs, more)
		td, _ := oneSpan(attrs)
		return run(t, s, td)
	}
	m := chat(nil).Step.Model
	require.Equal(t, int64(1000*2500+1250+3*10000), m.CostNano)
	require.Equal(t, agent.CostSourceComputed, m.CostSource)
	m = chat(map[string]any{"agent.cost.usd": 0.25}).Step.Model
	require.Equal(t, int64(250_000_000), m.CostNano)
	require.Equal(t, agent.CostSourceReported, m.CostSource)
	m = chat(map[string]any{"agent.cost.usd": 0.25, "agent.cost.source": "computed"}).Step.Model
	require.Equal(t, agent.CostSourceComputed, m.CostSource, "what a processor computed is computed anew")
	require.NotEqual(t, int64(250_000_000), m.CostNano)
	m = chat(map[string]any{"gen_ai.request.model": "unknown"}).Step.Model
	require.Equal(t, agent.CostSourceUnset, m.CostSource)
	for _, usd := range []float64{100_001, 1e9, -1, math.NaN(), math.Inf(1)} {
		m = chat(map[string]any{"agent.cost.usd": usd}).Step.Model
		require.NotEqual(t, agent.CostSourceReported, m.CostSource, "%f is believed", usd)
	}
	m = chat(map[string]any{"agent.cost.usd": 100_000.0}).Step.Model
	require.Equal(t, int64(agent.MaxCostNano), m.CostNano)
	m = chat(map[string]any{"gen_ai.usage.output_tokens": 1 << 40}).Step.Model
	require.Equal(t, int64(agent.MaxCostNano), m.CostNano, "a run's sum fits")
}

func TestTermsFollowThePolicyAndSampling(t *testing.T) {
	text := strings.Replace(policyHead, "retention:", "sampling: {read_content: 0.5, grace: 1d}\nretention:", 1) + `
tools: [{match: "get_*", class: read}, {match: "pay", class: act}]
`
	s := newTestState(t, text)
	day := int64(24 * 3600)
	term := func(tool, run_ string, failed bool) (step, content int64) {
		td, span := oneSpan(map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "agent.run.id": run_})
		if failed {
			span.Status().SetCode(ptrace.StatusCodeError)
		}
		rec := run(t, s, td)
		from := rec.Step.Start / int64(time.Second)
		return (rec.Step.Expires - from) / day, (rec.Step.ContentExpires - from) / day
	}
	step, content := term("pay", "r", false)
	require.Equal(t, []int64{400, 30}, []int64{step, content})
	kept := 0
	for i := range 200 {
		id := fmt.Sprint("run-", i)
		step, content := term("get_x", id, false)
		require.Equal(t, int64(90), step)
		require.Contains(t, []int64{1, 30}, content)
		if content == 30 {
			kept++
		}
		_, again := term("get_y", id, false)
		require.Equal(t, content, again, "one answer for a unit")
		_, failed := term("get_x", id, true)
		require.Equal(t, int64(30), failed, "a step that fails keeps its content")
	}
	require.InDelta(t, 100, kept, 30)
}

func TestRulesAreMetOnTheRedactedSpan(t *testing.T) {
	s := newTestState(t, policyHead+`
rules:
  - {name: bypassed, severity: critical, condition: 'attributes["guardrail.result"] == "bypass"', message: "the guardrail was bypassed"}
  - {name: leaked, condition: 'IsMatch(attributes["note"], "ana@example")', message: m}
  - {name: failing, condition: 'Len(attributes["no such thing"]) > 1', message: m}
`)
	td, _ := oneSpan(map[string]any{"gen_ai.operation.name": "chat", "guardrail.result": "bypass", "note": "ana@example.com"})
	rec := run(t, s, td)
	require.Equal(t, []string{"bypassed"}, rec.Step.Rules)
}

func TestNothingThatMustGoLeaves(t *testing.T) {
	s := newTestState(t, strings.Replace(taskPolicy, "retention:", "limits: []\nretention:", 1))
	const secret = "ana@example.com"
	td, span := oneSpan(map[string]any{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "send_mail", "gen_ai.tool.call.id": "call_1",
		"gen_ai.tool.call.arguments": `{"to":"` + secret + `","api_secret":"hunter2"}`, "gen_ai.tool.call.result": "sent to " + secret,
		"gen_ai.input.messages": `[{"role":"user","parts":[{"type":"text","content":"` + secret + `"}]}]`,
		"note":                  secret, "list": []any{secret, map[string]any{"a": secret, "password": 5}}, "password": "hunter2", "client_secret": map[string]any{"x": "hunter2"},
		"agent.human.actor": secret, "user.id": secret, "url.full": "https://x.example/?m=" + secret,
		"agent.call.arguments.hash": "sha256:" + strings.Repeat("ab", 32),
	})
	span.SetName("mail to " + secret)
	span.Status().SetCode(ptrace.StatusCodeError)
	span.Status().SetMessage("cannot reach " + secret)
	ev := span.Events().AppendEmpty()
	ev.SetName("exception")
	ev.Attributes().PutStr("exception.message", "no such user "+secret)
	l := span.Links().AppendEmpty()
	l.SetTraceID(pcommon.TraceID{9})
	l.Attributes().PutStr("why", secret)
	td.ResourceSpans().At(0).Resource().Attributes().PutStr("owner", secret)
	td.ResourceSpans().At(0).ScopeSpans().At(0).Scope().Attributes().PutStr("author", secret)
	rec := run(t, s, td)
	data, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	for _, gone := range []string{secret, "hunter2", strings.Repeat("ab", 32), strings.Repeat("\xab", 32)} {
		require.NotContains(t, string(data), gone)
	}
	require.Equal(t, "call_1", rec.Step.Call.ID)
	require.False(t, rec.Step.Call.ArgumentsSent.IsZero())
	require.Positive(t, rec.Step.Redacted)
}

func TestEqualPersonalDataStaysEqualInBothModes(t *testing.T) {
	for _, mode := range []string{"pseudonym", "mask"} {
		s := newTestState(t, strings.Replace(taskPolicy, "mode: pseudonym", "mode: "+mode, 1))
		digest := func(to string) agent.Digest {
			td, _ := oneSpan(map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "send", "gen_ai.tool.call.arguments": `{"to":"` + to + `"}`})
			c := run(t, s, td).Step.Call.Arguments
			require.Equal(t, agent.RecordedYes, c.State, mode)
			return c.Digest
		}
		ana, again, bo := digest("ana@example.com"), digest("ana@example.com"), digest("bo@example.com")
		require.Equal(t, ana, again, mode)
		require.NotEqual(t, ana, bo, mode)
	}
}
