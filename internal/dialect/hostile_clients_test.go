package dialect_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
	"github.com/steptrail/steptrail/internal/dialect"
)

// hostileSpan is a span in OTLP JSON: only there may a name come twice.
type hostileSpan struct{ json []byte }

func (h *hostileSpan) put(k, v string) {
	h.json = cjson.AppendQuoted(append(h.json, `,{"key":`...), k)
	h.json = append(cjson.AppendQuoted(append(h.json, `,"value":{"stringValue":`...), v), `}}`...)
}

func (h *hostileSpan) traces(t *testing.T, name, key, value string) ptrace.Traces {
	t.Helper()
	doc := `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"` + name + `","attributes":[{"key":"` + key + `","value":{"stringValue":"` + value + `"}}` +
		string(h.json) + `]}]}]}]}`
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(doc))
	require.NoError(t, err)
	return td
}

// What one span makes a dialect do is bounded by the span's size.
func TestHostileSpansOfEachClientCostAboutTheirSize(t *testing.T) {
	const many = 10_000
	deep := strings.Repeat(`{"output":{"kwargs":`, many) + `1` + strings.Repeat(`}}`, many)
	for name, s := range map[string]struct {
		dialect, span, key, value string
		fill                      func(h *hostileSpan)
	}{
		"flattened backwards, with a number that no list has": {"openllmetry", "openai.chat", "llm.request.type", "chat", func(h *hostileSpan) {
			h.put("gen_ai.prompt.999999999.content", "last")
			for i := many; i > 0; i-- {
				h.put("gen_ai.prompt."+strconv.Itoa(i)+".tool_calls."+strconv.Itoa(many-i)+".name", "f")
			}
		}},
		"one input again and again": {"openllmetry", "x.tool", "traceloop.span.kind", "tool", func(h *hostileSpan) {
			for range many {
				h.put("traceloop.entity.input", `{"args":[],"kwargs":{}}`)
			}
		}},
		"deep inputs and outputs": {"openllmetry", "x.tool", "traceloop.span.kind", "tool", func(h *hostileSpan) {
			h.put("traceloop.entity.input", deep)
			h.put("traceloop.entity.output", deep)
		}},
		"calls without end": {"vercel_ai", "ai.generateText", "ai.operationId", "ai.generateText", func(h *hostileSpan) {
			h.put("ai.response.toolCalls", `[`+strings.Repeat(`{"toolCallId":"c","toolName":"f","input":"{}"},`, many)+`1]`)
			h.put("ai.prompt", `{"messages":`+strings.Repeat("[", many)+strings.Repeat("]", many)+`}`)
		}},
		"one old name again and again": {"vercel_ai", "ai.toolCall", "ai.operationId", "ai.toolCall", func(h *hostileSpan) {
			for range many {
				h.put("ai.toolCall.name", "f")
			}
		}},
		"commands without end": {"claude_code", "claude_code.tool", "span.type", "tool", func(h *hostileSpan) {
			for range many {
				h.put("full_command", `rm "x"`)
			}
		}},
		"what an application attached": {"temporal", "RunActivity:x", "temporalActivityID", "1", func(h *hostileSpan) {
			for i := range many {
				h.put("traceloop.association.properties."+strconv.Itoa(i), "v")
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var h hostileSpan
			s.fill(&h)
			td := h.traces(t, s.span, s.key, s.value)
			var n dialect.Normalizer
			var st canon.Stated
			normalize := func(td ptrace.Traces) {
				n.Normalize("", td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0), &st)
			}
			copying := testing.AllocsPerRun(1, func() { copied(td) })
			both := testing.AllocsPerRun(1, func() { normalize(copied(td)) })
			require.Less(t, both-copying, 100+3*float64(many))
			require.Equal(t, s.dialect, st.Dialect)
		})
	}
}

// A span speaks of few calls, however often it says so.
func TestWhatASpanSaysOfCallsIsBounded(t *testing.T) {
	const many = 10_000
	cached := `{"messages":[` + strings.Repeat(`{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"1"},`, many)
	for scope, put := range map[string]func(h *hostileSpan){
		"pydantic-ai": func(h *hostileSpan) {
			h.put(canon.OperationName, "execute_tool")
			for range many {
				h.put("pydantic_ai.tool.deferral.name", "CallDeferred")
			}
		},
		"agent_framework": func(h *hostileSpan) {
			h.put(canon.OperationName, "invoke_agent")
			h.put(canon.OutputMessages, `[{"parts":[`+strings.Repeat(`{"type":"function_approval_request","function_call":{"call_id":"c"}},`, many)+`1]}]`)
		},
		"openinference.instrumentation.crewai": func(h *hostileSpan) {
			h.put("openinference.span.kind", "AGENT")
			h.put("output.value", cached+`1]}`)
		},
	} {
		t.Run(scope, func(t *testing.T) {
			var h hostileSpan
			put(&h)
			var n dialect.Normalizer
			var st canon.Stated
			n.Normalize(scope, h.traces(t, "x", "x", "x").ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0), &st)
			require.NotEmpty(t, st.Words)
			require.LessOrEqual(t, len(st.Words), 32)
		})
	}
}
