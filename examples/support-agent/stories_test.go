package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

func play(t *testing.T, s string) (*payments, tracetest.SpanStubs) {
	t.Helper()
	spans := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithSyncer(spans))
	bank := newPayments()
	stories, err := storiesOf(s)
	require.NoError(t, err)
	stories[0].play(t.Context(), newAgent(provider.Tracer("test"), bank, s+"-1", time.Unix(1_800_000_000, 0)))
	return bank, spans.GetSpans()
}

func refundSpans(spans tracetest.SpanStubs) (out []map[string]string) {
	for _, s := range spans {
		if s.Name != "execute_tool issue_refund" {
			continue
		}
		attrs := map[string]string{}
		for _, a := range s.Attributes {
			attrs[string(a.Key)] = a.Value.String()
		}
		out = append(out, attrs)
	}
	return out
}

func TestTheNaiveAgentRefundsTwice(t *testing.T) {
	bank, spans := play(t, "naive")
	require.Len(t, bank.booked, 2)
	refunds := refundSpans(spans)
	require.Len(t, refunds, 2)
	require.Equal(t, "timeout", refunds[0]["error.type"])
	require.NotContains(t, refunds[0], "agent.idempotency.key")
	require.Contains(t, refunds[1]["gen_ai.tool.call.result"], "re_1002")
}

func TestTheDesignedAgentRefundsOnce(t *testing.T) {
	bank, spans := play(t, "designed")
	require.Len(t, bank.booked, 1)
	require.EqualValues(t, amount, bank.total())
	refunds := refundSpans(spans)
	require.Len(t, refunds, 2)
	require.Equal(t, []string{"new", "duplicate"}, []string{refunds[0]["agent.gate.decision"], refunds[1]["agent.gate.decision"]})
	require.Equal(t, refunds[0]["agent.idempotency.key"], refunds[1]["agent.idempotency.key"])
	require.Equal(t, "unknown", refunds[0]["agent.outcome"])
}

func TestTheKeyNamesOneActAndNoOther(t *testing.T) {
	key := keyOf("r", "s", "t", "a")
	require.Equal(t, key, keyOf("r", "s", "t", "a"))
	for _, other := range []string{keyOf("r2", "s", "t", "a"), keyOf("r", "s2", "t", "a"), keyOf("r", "s", "t2", "a"), keyOf("r", "s", "t", "a2"), keyOf("rs", "", "t", "a")} {
		require.NotEqual(t, key, other)
	}
}

func TestTheGateLetsAnActRunOnce(t *testing.T) {
	g := newGate()
	said, _ := g.enter("k")
	require.Equal(t, gateNew, said)
	said, _ = g.enter("k")
	require.Equal(t, gateInFlight, said)
	g.leave("k", gateDuplicate, "done")
	said, result := g.enter("k")
	require.Equal(t, gateDuplicate, said)
	require.Equal(t, "done", result)
}
