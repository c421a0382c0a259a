package agentstepprocessor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// allDetectors is a policy that removes everything there is a detector for.
const allDetectors = `
version: 1
redaction:
  mode: %s
  key: "0123456789abcdef0123456789abcdef"
  detectors: [email, credit_card, iban, phone, us_ssn, ip, jwt, bearer, api_key, private_key, url_credentials]
  keys: [password]
retention: {act: 400d, human: 400d, think: 90d, read: 90d, content: 30d, findings: 400d, access_log: 400d}
`

// spanPlaces are the places of a request of spans that can hold content.
var spanPlaces = map[string]func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, span ptrace.Span, secret string){
	"resource attribute": func(rs ptrace.ResourceSpans, _ ptrace.ScopeSpans, _ ptrace.Span, s string) {
		rs.Resource().Attributes().PutStr("r", s)
	},
	"resource attribute's name": func(rs ptrace.ResourceSpans, _ ptrace.ScopeSpans, _ ptrace.Span, s string) {
		rs.Resource().Attributes().PutStr(s, "r")
	},
	"resource's service.name": func(rs ptrace.ResourceSpans, _ ptrace.ScopeSpans, _ ptrace.Span, s string) {
		rs.Resource().Attributes().PutStr("service.name", s)
	},
	"scope's name":    func(_ ptrace.ResourceSpans, ss ptrace.ScopeSpans, _ ptrace.Span, s string) { ss.Scope().SetName(s) },
	"scope's version": func(_ ptrace.ResourceSpans, ss ptrace.ScopeSpans, _ ptrace.Span, s string) { ss.Scope().SetVersion(s) },
	"scope attribute": func(_ ptrace.ResourceSpans, ss ptrace.ScopeSpans, _ ptrace.Span, s string) {
		ss.Scope().Attributes().PutStr("c", s)
	},
	"scope attribute's name": func(_ ptrace.ResourceSpans, ss ptrace.ScopeSpans, _ ptrace.Span, s string) {
		ss.Scope().Attributes().PutStr(s, "c")
	},
	"span's name": func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span, s string) { span.SetName("to " + s) },
	"status message": func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span, s string) {
		span.Status().SetMessage(s)
	},
	"trace state": func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span, s string) {
		span.TraceState().FromRaw("a=" + s)
	},
	"attribute": attributePlace("x"),
	"attribute's name": func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span, s string) {
		span.Attributes().PutStr("to."+s, "x")
	},
	"arguments of a call": attributePlace("gen_ai.tool.call.arguments"),
	"result of a call":    attributePlace("gen_ai.tool.call.result"),
	"input messages":      attributePlace("gen_ai.input.messages"),
	"output messages":     attributePlace("gen_ai.output.messages"),
	"system instructions": attributePlace("gen_ai.system_instructions"),
	"name of a tool":      attributePlace("gen_ai.tool.name"),
	"name of an agent":    attributePlace("gen_ai.agent.name"),
	"name of a model":     attributePlace("gen_ai.request.model"),
	"conversation":        attributePlace("gen_ai.conversation.id"),
	"outcome":             attributePlace("agent.outcome"),
	"target":              attributePlace("agent.target"),
	"idempotency key":     attributePlace("agent.idempotency.key"),
	"URL":                 attributePlace("url.full"),
	"user":                attributePlace("enduser.id"),
	"database statement":  attributePlace("db.query.text"),
	"OpenInference input": attributePlace("input.value"),
	"list": func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span, s string) {
		span.Attributes().PutEmptySlice("l").AppendEmpty().SetStr(s)
	},
	"map": func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span, s string) {
		span.Attributes().PutEmptyMap("m").PutStr("a", s)
	},
	"map's name": func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span, s string) {
		span.Attributes().PutEmptyMap("n").PutStr(s, "a")
	},
	"bytes": func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span, s string) {
		span.Attributes().PutEmptyBytes("b").FromRaw([]byte("to " + s))
	},
	"JSON in JSON": func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span, s string) {
		span.Attributes().PutStr("j", `{"a":"{\"b\":\"`+s+`\"}"}`)
	},
	"event's name": func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span, s string) {
		span.Events().AppendEmpty().SetName(s)
	},
	"event attribute": func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span, s string) {
		span.Events().AppendEmpty().Attributes().PutStr("exception.message", s)
	},
	"event attribute's name": func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span, s string) {
		span.Events().AppendEmpty().Attributes().PutStr(s, "e")
	},
	"link attribute": func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span, s string) {
		span.Links().AppendEmpty().Attributes().PutStr("k", s)
	},
	"link attribute's name": func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span, s string) {
		span.Links().AppendEmpty().Attributes().PutStr(s, "k")
	},
	"link's trace state": func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span, s string) {
		span.Links().AppendEmpty().TraceState().FromRaw("a=" + s)
	},
	"schema of the resource": func(rs ptrace.ResourceSpans, _ ptrace.ScopeSpans, _ ptrace.Span, s string) {
		rs.SetSchemaUrl("https://x/" + s)
	},
	"schema of the scope": func(_ ptrace.ResourceSpans, ss ptrace.ScopeSpans, _ ptrace.Span, s string) {
		ss.SetSchemaUrl("https://x/" + s)
	},
	"value under a listed name": attributePlace("password"),
}

func attributePlace(key string) func(ptrace.ResourceSpans, ptrace.ScopeSpans, ptrace.Span, string) {
	return func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span, s string) {
		span.Attributes().PutStr(key, s)
	}
}

// logPlaces are those of a request of log records.
var logPlaces = map[string]func(rl plog.ResourceLogs, sl plog.ScopeLogs, lr plog.LogRecord, secret string){
	"resource attribute": func(rl plog.ResourceLogs, _ plog.ScopeLogs, _ plog.LogRecord, s string) {
		rl.Resource().Attributes().PutStr("r", s)
	},
	"scope attribute": func(_ plog.ResourceLogs, sl plog.ScopeLogs, _ plog.LogRecord, s string) {
		sl.Scope().Attributes().PutStr("c", s)
	},
	"scope's name": func(_ plog.ResourceLogs, sl plog.ScopeLogs, _ plog.LogRecord, s string) { sl.Scope().SetName(s) },
	"body":         func(_ plog.ResourceLogs, _ plog.ScopeLogs, lr plog.LogRecord, s string) { lr.Body().SetStr("to " + s) },
	"body that is a map": func(_ plog.ResourceLogs, _ plog.ScopeLogs, lr plog.LogRecord, s string) {
		lr.Body().SetEmptyMap().PutEmptySlice("a").AppendEmpty().SetStr(s)
	},
	"name in the body": func(_ plog.ResourceLogs, _ plog.ScopeLogs, lr plog.LogRecord, s string) {
		lr.Body().SetEmptyMap().PutStr(s, "a")
	},
	"attribute": func(_ plog.ResourceLogs, _ plog.ScopeLogs, lr plog.LogRecord, s string) {
		lr.Attributes().PutStr("x", s)
	},
	"attribute's name": func(_ plog.ResourceLogs, _ plog.ScopeLogs, lr plog.LogRecord, s string) {
		lr.Attributes().PutStr(s, "x")
	},
	"messages": func(_ plog.ResourceLogs, _ plog.ScopeLogs, lr plog.LogRecord, s string) {
		lr.Attributes().PutStr("gen_ai.input.messages", s)
	},
	"name of an agent": func(_ plog.ResourceLogs, _ plog.ScopeLogs, lr plog.LogRecord, s string) {
		lr.Attributes().PutStr("gen_ai.agent.name", s)
	},
	"severity":     func(_ plog.ResourceLogs, _ plog.ScopeLogs, lr plog.LogRecord, s string) { lr.SetSeverityText(s) },
	"event's name": func(_ plog.ResourceLogs, _ plog.ScopeLogs, lr plog.LogRecord, s string) { lr.SetEventName(s) },
	"schema": func(rl plog.ResourceLogs, sl plog.ScopeLogs, _ plog.LogRecord, s string) {
		rl.SetSchemaUrl("x:" + s)
		sl.SetSchemaUrl("y:" + s)
	},
}

// placeSecrets are one of each kind; %04d makes each its own.
var placeSecrets = []string{"canary%04d@example.com", "sk" + "_live_Q8x2Lm9vT4nR7pWz%04d", "postgres://app:s3cr3t-%04d@db"}

func TestNothingStaysInAnyPlaceOfASpan(t *testing.T) {
	for _, mode := range []string{"pseudonym", "mask"} {
		tp, _, sink, _ := newTestProcessor(t, fmt.Sprintf(allDetectors, mode))
		for place, put := range spanPlaces {
			for n, form := range placeSecrets {
				secret := fmt.Sprintf(form, n)
				td := ptrace.NewTraces()
				rs := td.ResourceSpans().AppendEmpty()
				ss := rs.ScopeSpans().AppendEmpty()
				span := ss.Spans().AppendEmpty()
				span.SetTraceID(pcommon.TraceID{1})
				span.SetSpanID(pcommon.SpanID{byte(n + 1)})
				put(rs, ss, span, secret)
				sink.Reset()
				require.NoError(t, tp.ConsumeTraces(t.Context(), td))
				out, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(sink.AllTraces()[0])
				require.NoError(t, err)
				require.NotContains(t, string(out), canary(secret), "%s: %s (%s)", place, secret, mode)
			}
		}
	}
}

func TestNothingStaysInAnyPlaceOfALogRecord(t *testing.T) {
	for _, mode := range []string{"pseudonym", "mask"} {
		_, lp, _, sink := newTestProcessor(t, fmt.Sprintf(allDetectors, mode))
		for place, put := range logPlaces {
			for n, form := range placeSecrets {
				secret := fmt.Sprintf(form, n)
				ld := plog.NewLogs()
				rl := ld.ResourceLogs().AppendEmpty()
				sl := rl.ScopeLogs().AppendEmpty()
				put(rl, sl, sl.LogRecords().AppendEmpty(), secret)
				sink.Reset()
				require.NoError(t, lp.ConsumeLogs(t.Context(), ld))
				out, err := (&plog.ProtoMarshaler{}).MarshalLogs(sink.AllLogs()[0])
				require.NoError(t, err)
				require.NotContains(t, string(out), canary(secret), "%s: %s (%s)", place, secret, mode)
			}
		}
	}
}

// canary is the part of a secret that must be nowhere.
func canary(secret string) string {
	if _, password, ok := strings.Cut(secret, "app:"); ok {
		return strings.TrimSuffix(password, "@db")
	}
	return secret
}

func TestNumbersAreTextsToRedaction(t *testing.T) {
	tp, _, sink, _ := newTestProcessor(t, fmt.Sprintf(allDetectors, "mask"))
	td := ptrace.NewTraces()
	span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetTraceID(pcommon.TraceID{1})
	span.SetSpanID(pcommon.SpanID{1})
	at := span.Attributes()
	at.PutInt("card", 4111111111111111)
	at.PutDouble("pan", 4111111111111111)
	at.PutInt("phone", 4155552671)
	at.PutInt("order", 4155552671)
	at.PutInt("at", 1715774400123456789)
	at.PutDouble("score", 0.4532015112830366)
	require.NoError(t, tp.ConsumeTraces(t.Context(), td))
	got := sink.AllTraces()[0].ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().AsRaw()
	for key, want := range map[string]any{
		"card": "[CREDIT_CARD]", "pan": "[CREDIT_CARD]", "phone": "[PHONE]", "order": int64(4155552671), "at": int64(1715774400123456789), "score": 0.4532015112830366,
	} {
		require.Equal(t, want, got[key], key)
	}
}

func TestIdsOfTheAnalysisAreUntouched(t *testing.T) {
	tp, _, sink, _ := newTestProcessor(t, fmt.Sprintf(allDetectors, "mask"))
	td := ptrace.NewTraces()
	span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetTraceID(pcommon.TraceID{1})
	span.SetSpanID(pcommon.SpanID{1})
	ids := []string{"agent.run.id", "agent.step.id", "gen_ai.tool.call.id", "gen_ai.agent.id", "gen_ai.response.id"}
	for _, key := range ids {
		span.Attributes().PutStr(key, "4111111111111111")
	}
	require.NoError(t, tp.ConsumeTraces(t.Context(), td))
	got := sink.AllTraces()[0].ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes()
	for _, key := range ids {
		v, ok := got.Get(key)
		require.True(t, ok, key)
		require.Equal(t, "4111111111111111", v.Str(), key)
	}
}

func TestMasksOfNamesDoNotFallTogether(t *testing.T) {
	tp, _, sink, _ := newTestProcessor(t, fmt.Sprintf(allDetectors, "mask"))
	td := ptrace.NewTraces()
	span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetTraceID(pcommon.TraceID{1})
	span.SetSpanID(pcommon.SpanID{1})
	span.Attributes().PutStr("ann@example.com", "1")
	span.Attributes().PutStr("bob@example.com", "2")
	require.NoError(t, tp.ConsumeTraces(t.Context(), td))
	got := sink.AllTraces()[0].ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().AsRaw()
	require.Equal(t, "1", got["[EMAIL]"])
	require.Equal(t, "2", got["[EMAIL]#2"])
}
