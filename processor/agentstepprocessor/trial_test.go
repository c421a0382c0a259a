package agentstepprocessor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

const trialRules = policyHead + `
tools: [{match: refund, class: act, target: "order/{order_id}"}]
rules:
  - {name: other, condition: 'true', message: m}
  - {name: refunds, condition: 'attributes["gen_ai.tool.name"] == "refund"', severity: critical, message: m}
  - {name: numbers, condition: 'Int(attributes["n"]) > 1 and Len(attributes["n"]) > 0', message: m}
`

func trialPolicy(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(path, []byte(trialRules), 0o600))
	return path
}

func trialSpans() ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "shop")
	spans := rs.ScopeSpans().AppendEmpty().Spans()
	for i, tool := range []string{"refund", "get_order", "refund", "refund"} {
		s := spans.AppendEmpty()
		s.SetName("execute_tool " + tool)
		s.SetTraceID([16]byte{1})
		if i != 3 { // the last is dropped
			s.SetSpanID([8]byte{byte(i + 1)})
		}
		s.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
		s.Attributes().PutStr("gen_ai.tool.name", tool)
		s.Attributes().PutStr("gen_ai.tool.call.arguments", `{"order_id": "7", "mail": "ann@example.com"}`)
	}
	return td
}

func TestATrialTellsWhichSpansMeetOneRuleAsTheProcessorSeesThem(t *testing.T) {
	trial, err := NewRuleTrial(trialPolicy(t), "refunds")
	require.NoError(t, err)
	trial.Try(trialSpans())
	trial.Try(trialSpans())
	got := trial.Result()
	require.Equal(t, 6, got.Spans)
	require.Equal(t, 2, got.Dropped)
	require.Len(t, got.Met, 4, "of one rule, not of the others")
	require.Empty(t, got.Failed)
	first := got.Met[0]
	require.Equal(t, "0100000000000000", first.SpanID)
	require.Equal(t, "execute_tool refund", first.Name)
	require.Equal(t, "shop", first.Service)
	require.Equal(t, "act", first.Kind)
	require.Equal(t, "order/7", first.Target)
	require.NotContains(t, first.Attributes["gen_ai.tool.call.arguments"], "ann@example.com")
	require.Equal(t, "critical", trial.Rule().Severity.String())
}

func TestATrialCountsSpansOnWhichTheConditionFails(t *testing.T) {
	trial, err := NewRuleTrial(trialPolicy(t), "numbers")
	require.NoError(t, err)
	td := trialSpans()
	td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().PutInt("n", 7) // Len wants a text or a list
	trial.Try(td)
	got := trial.Result()
	require.Empty(t, got.Met)
	require.Len(t, got.Failed, 1)
}

func TestATrialOfARuleThatIsNoneNamesThoseThereAre(t *testing.T) {
	_, err := NewRuleTrial(trialPolicy(t), "refund")
	require.ErrorContains(t, err, "it has: other, refunds, numbers")
	_, err = NewRuleTrial("builtin:demo", "refund")
	require.ErrorContains(t, err, "has no rules")
	_, err = NewRuleTrial(filepath.Join(t.TempDir(), "none.yaml"), "refund")
	require.ErrorIs(t, err, os.ErrNotExist)
}
