package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

const (
	bodyLimit      = 1 << 20  // max_body_bytes of the processor, by default
	attributeLimit = 64 << 10 // max_attribute_bytes
	attributeCount = 1024     // max_attributes
)

// hostileInputs is every input of the table, by what it is.
func hostileInputs() map[string]hostile {
	all := make(map[string]hostile)
	for _, group := range []map[string]hostile{hostileText(), hostileSizes(), hostileValues(), hostileTimes(), hostileIDs(), hostileRequests()} {
		maps.Copy(all, group)
	}
	return all
}

// unquote reads a JSON string.
func unquote(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var s string
	require.NoError(t, json.Unmarshal(raw, &s), "%.200s", raw)
	return s
}

func hostileText() map[string]hostile {
	return map[string]hostile{
		"half of a surrogate pair in a string of OTLP JSON": {
			body: literal(TracesPath, fmt.Sprintf(literalCall, `{"key":"x","value":{"stringValue":"cut \ud83d"}}`)), spans: 1,
			check: func(t *testing.T, r hostileRun) {
				t.Helper()
				require.Equal(t, "cut \ufffd", unquote(t, r.units[0].Attributes["x"]))
			},
		},
		"half of a surrogate pair in JSON in a string": {
			body: call(func(_ ptrace.Span, a pcommon.Map) {
				a.PutStr("gen_ai.tool.call.result", `{"text":"cut \ud83d", "\udc00":1}`)
				a.PutStr("x", `{"text":"cut \ud83d"}`)
				a.PutStr("gen_ai.input.messages", `[{"role":"user","parts":[{"type":"text","content":"cut \ud83d"}]}]`)
			}), spans: 1,
			check: func(t *testing.T, r hostileRun) {
				t.Helper()
				require.Contains(t, string(r.calls[0].Result.Body), "cut ")
			},
		},
		"NUL bytes": {
			body: call(func(s ptrace.Span, a pcommon.Map) {
				s.SetName("a\x00b")
				a.PutStr("x", "a\x00b")
				a.PutStr("k\x00", "v")
				a.PutStr("gen_ai.tool.call.result", "a\x00b")
			}), spans: 1,
			check: func(t *testing.T, r hostileRun) {
				t.Helper()
				require.Equal(t, "a\x00b", r.units[0].Name)
				require.Equal(t, "a\x00b", unquote(t, r.units[0].Attributes["x"]))
				require.Equal(t, "a\x00b", unquote(t, r.calls[0].Result.Body))
			},
		},
		"invalid UTF-8 everywhere": {
			body: func(t *testing.T, id string) Request {
				t.Helper()
				td := goodCall(id, func(s ptrace.Span, a pcommon.Map) {
					s.SetName("\xff")
					s.Status().SetMessage("\xc3\x28")
					s.TraceState().FromRaw("\xff=1")
					a.PutStr("x", "\xed\xa0\x80")
					a.PutStr("\xfe", "v")
					a.PutStr("gen_ai.tool.call.result", "{\"a\":\"\xff\"}")
					a.PutStr("gen_ai.tool.call.id", "\xff")
					a.PutEmptyMap("m").PutStr("\xff", "\xff")
					e := s.Events().AppendEmpty()
					e.SetName("\xff")
					e.Attributes().PutStr("\xff", "\xff")
					s.Links().AppendEmpty().Attributes().PutStr("\xff", "\xff")
				})
				td.ResourceSpans().At(0).Resource().Attributes().PutStr("\xff", "\xff")
				td.ResourceSpans().At(0).ScopeSpans().At(0).Scope().SetName("\xff")
				return traces(t, td)
			}, spans: 1,
			check: func(t *testing.T, r hostileRun) {
				t.Helper()
				require.Equal(t, "\ufffd", r.units[0].Name)
				require.Equal(t, "v", unquote(t, r.units[0].Attributes["\ufffd"]))
			},
		},
		"escapes of a terminal, of HTML and of lines": {
			body: call(func(s ptrace.Span, a pcommon.Map) {
				s.SetName("\x1b[31m</script>\r\n\u2028'; DROP TABLE steps; --")
				a.PutStr("gen_ai.tool.name", "\x1b]0;x\a' OR 1=1")
			}), spans: 1,
			check: func(t *testing.T, r hostileRun) {
				t.Helper()
				require.Equal(t, "\x1b[31m</script>\r\n\u2028'; DROP TABLE steps; --", r.units[0].Name)
			},
		},
	}
}

func hostileSizes() map[string]hostile {
	cut := func(size int) hostile {
		text := strings.Repeat("ä", size/2-1) + "bc" // even length, its limit falls within a rune or between two
		return hostile{
			body: call(func(s ptrace.Span, a pcommon.Map) {
				a.PutStr("x", "1"+text)
				a.PutStr("gen_ai.tool.call.result", "1"+text)
				s.Events().AppendEmpty().Attributes().PutStr("e", text)
				s.Links().AppendEmpty().Attributes().PutStr("l", text)
			}), spans: 1,
			counted: map[string]float64{"clamped/attribute_size": 3, "clamped/body_size": 1},
			check: func(t *testing.T, r hostileRun) {
				t.Helper()
				kept := unquote(t, r.units[0].Attributes["x"])
				require.LessOrEqual(t, len(kept), attributeLimit)
				require.Greater(t, len(kept), attributeLimit-utf8.UTFMax)
				require.True(t, strings.HasPrefix("1"+text, kept), "cut on a character")
				require.Contains(t, r.raw, fmt.Sprintf("x %d sha256:%s", len(text)+1, sum("1"+text)))
				result := r.calls[0].Result
				require.Equal(t, int64(len(text)+1), result.Size)
				require.Contains(t, string(result.Body), fmt.Sprintf(`"size":%d`, len(text)+1))
				require.Contains(t, string(result.Body), sum("1"+text))
				require.Less(t, len(result.Body), bodyLimit+1024)
				require.Greater(t, len(result.Body), bodyLimit-1024)
			},
		}
	}
	return map[string]hostile{
		"attributes of 2 MB": cut(2 << 20),
		"attributes of 8 MB": cut(8 << 20),
		"10,000 attributes": {
			body: call(func(_ ptrace.Span, a pcommon.Map) {
				for i := range 10_000 {
					a.PutStr(fmt.Sprintf("key.%d", i), "v")
				}
			}), spans: 1,
			counted: map[string]float64{"dropped/attribute_limit": 10_000 - attributeCount},
			check: func(t *testing.T, r hostileRun) {
				t.Helper()
				require.Equal(t, 10_000-attributeCount, r.units[0].Dropped)
				require.Len(t, r.calls, 1, "what makes it a call is kept")
			},
		},
		"a resource with an attribute of 8 MB": {
			body: func(t *testing.T, id string) Request {
				t.Helper()
				td := goodCall(id, nil)
				td.ResourceSpans().At(0).Resource().Attributes().PutStr("x", strings.Repeat("x", 8<<20))
				return traces(t, td)
			}, spans: 1, counted: map[string]float64{"clamped/attribute_size": 1},
			check: func(t *testing.T, r hostileRun) {
				t.Helper()
				require.Len(t, unquote(t, r.units[0].Resource["x"]), attributeLimit)
			},
		},
		"a name, an id and an attribute's name of 1 MB": {
			body: call(func(s ptrace.Span, a pcommon.Map) {
				s.SetName(strings.Repeat("n", 1<<20))
				a.PutStr("gen_ai.tool.call.id", strings.Repeat("i", 1<<20))
				a.PutStr(strings.Repeat("k", 1<<20), "v")
			}), spans: 1,
			check: func(t *testing.T, r hostileRun) {
				t.Helper()
				require.Len(t, r.units[0].Name, attributeLimit)
				require.Less(t, len(r.raw), 1<<20, "no name is kept whole")
			},
			counted: map[string]float64{"clamped/attribute_size": 3},
		},
		"a structured value of 4 MB in small pieces": {
			body: call(func(_ ptrace.Span, a pcommon.Map) {
				list := a.PutEmptySlice("x")
				for range 1 << 18 {
					list.AppendEmpty().SetStr("0123456789abcdef")
				}
			}), spans: 1,
			counted: map[string]float64{"clamped/attribute_size": 1},
			check: func(t *testing.T, r hostileRun) {
				t.Helper()
				require.Less(t, len(r.raw), 4*attributeLimit)
			},
		},
	}
}

func hostileValues() map[string]hostile {
	deep := strings.Repeat(`{"arrayValue":{"values":[`, 300) + `{"stringValue":"bottom"}` + strings.Repeat(`]}}`, 300)
	return map[string]hostile{
		"values nested 300 deep": {
			body:  literal(TracesPath, fmt.Sprintf(literalCall, `{"key":"x","value":`+deep+`},{"key":"gen_ai.tool.call.result","value":`+deep+`}`)),
			spans: 1, counted: map[string]float64{"dropped/redaction_limit": 1},
			check: func(t *testing.T, r hostileRun) {
				t.Helper()
				require.Contains(t, string(r.units[0].Attributes["x"]), "nested too deep")
				require.NotContains(t, r.raw, "bottom")
			},
		},
		"JSON in a string nested 100,000 deep": {
			body: call(func(_ ptrace.Span, a pcommon.Map) {
				a.PutStr("gen_ai.tool.call.arguments", strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000))
				a.PutStr("gen_ai.input.messages", strings.Repeat(`[{"a":`, 50_000))
			}), spans: 1,
		},
		"JSON nested deeper than the limit": {
			body:   literal(TracesPath, fmt.Sprintf(literalCall, `{"key":"x","value":`+strings.Repeat(`{"arrayValue":{"values":[`, 1000)+strings.Repeat(`]}}`, 1000)+`}`)),
			status: http.StatusBadRequest, says: "nested deeper than 1024 levels", counted: map[string]float64{"refused/too_deep": 1},
		},
		"structured values instead of JSON strings": {
			body: call(func(_ ptrace.Span, a pcommon.Map) {
				a.PutEmptyMap("gen_ai.tool.call.arguments").PutInt("order_id", 7)
				list := a.PutEmptyMap("gen_ai.tool.call.result").PutEmptySlice("lines")
				list.AppendEmpty().SetDouble(1.5)
				list.AppendEmpty()
				a.PutEmptyBytes("b").FromRaw([]byte{0, 255})
			}), spans: 1,
			check: func(t *testing.T, r hostileRun) {
				t.Helper()
				require.JSONEq(t, `{"order_id":7}`, string(r.calls[0].Arguments.Body))
				require.JSONEq(t, `{"lines":[1.5,null]}`, string(r.calls[0].Result.Body))
			},
		},
		"JSON cut off by the sender": {
			body: call(func(_ ptrace.Span, a pcommon.Map) {
				a.PutStr("gen_ai.tool.call.arguments", `{"order_id": 1, "no`)
				a.PutStr("gen_ai.input.messages", `[{"role":"user","parts":[{"type":"te`)
			}), spans: 1,
			check: func(t *testing.T, r hostileRun) {
				t.Helper()
				require.Equal(t, `{"order_id": 1, "no`, unquote(t, r.calls[0].Arguments.Body), "kept as text")
			},
		},
		"numbers that JSON has not": {
			body: call(func(_ ptrace.Span, a pcommon.Map) {
				a.PutDouble("nan", math.NaN())
				a.PutDouble("inf", math.Inf(1))
				a.PutDouble("neg", math.Inf(-1))
				a.PutDouble("gen_ai.request.temperature", math.NaN())
				a.PutDouble("gen_ai.usage.cost", math.Inf(1))
				a.PutStr("gen_ai.tool.call.result", `{"a":NaN,"b":-Infinity}`)
				m := a.PutEmptyMap("m")
				m.PutDouble("nan", math.NaN())
			}), spans: 1,
			check: func(t *testing.T, r hostileRun) {
				t.Helper()
				require.JSONEq(t, `"NaN"`, string(r.units[0].Attributes["nan"]))
				require.JSONEq(t, `"Infinity"`, string(r.units[0].Attributes["inf"]))
				require.JSONEq(t, `"-Infinity"`, string(r.units[0].Attributes["neg"]))
			},
		},
		"numbers that JSON has not, in OTLP JSON": {
			body: literal(TracesPath, fmt.Sprintf(literalCall, `{"key":"nan","value":{"doubleValue":"NaN"}},{"key":"i","value":{"intValue":"-1"}}`)), spans: 1,
			check: func(t *testing.T, r hostileRun) {
				t.Helper()
				require.JSONEq(t, `"NaN"`, string(r.units[0].Attributes["nan"]))
				require.Equal(t, "-1", string(r.units[0].Attributes["i"]))
			},
		},
		"the ends of int64": {
			body: call(func(_ ptrace.Span, a pcommon.Map) {
				a.PutInt("min", math.MinInt64)
				a.PutInt("max", math.MaxInt64)
				a.PutInt("gen_ai.usage.input_tokens", math.MaxInt64)
				a.PutInt("gen_ai.usage.output_tokens", math.MinInt64)
				a.PutInt("agent.step.attempt", math.MinInt64)
				a.PutInt("agent.step.index", math.MaxInt64)
			}), spans: 1,
			check: func(t *testing.T, r hostileRun) {
				t.Helper()
				require.Equal(t, strconv.Itoa(math.MinInt64), string(r.units[0].Attributes["min"]))
				require.Equal(t, strconv.Itoa(math.MaxInt64), string(r.units[0].Attributes["max"]))
			},
		},
		"one name many times": {
			body:  literal(TracesPath, fmt.Sprintf(literalCall, strings.Repeat(`{"key":"x","value":{"stringValue":"a"}},`, 50)+`{"key":"x","value":{"intValue":"3"}}`)),
			spans: 1,
			check: func(t *testing.T, r hostileRun) {
				t.Helper()
				require.Equal(t, 1, strings.Count(r.raw, `"x":`))
			},
		},
	}
}

func hostileTimes() map[string]hostile {
	at := func(start, end uint64, counted map[string]float64, check func(*testing.T, hostileRun)) hostile {
		return hostile{body: call(func(s ptrace.Span, _ pcommon.Map) {
			s.SetStartTimestamp(pcommon.Timestamp(start))
			s.SetEndTimestamp(pcommon.Timestamp(end))
		}), spans: 1, counted: counted, check: check}
	}
	year2200 := time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
	return map[string]hostile{
		"no times at all": at(0, 0, map[string]float64{"clamped/start_too_old": 1}, func(t *testing.T, r hostileRun) {
			t.Helper()
			require.Equal(t, "1970-01-01T00:00:00.000000000Z", r.units[0].StartedAt)
		}),
		"the year 2200": at(uint64(year2200.UnixNano()), uint64(year2200.Add(time.Second).UnixNano()), map[string]float64{"clamped/start_in_future": 1}, func(t *testing.T, r hostileRun) {
			t.Helper()
			require.Equal(t, "2200-01-01T00:00:00.000000000Z", r.units[0].StartedAt, "the time is kept as sent; only the term is bounded")
		}),
		"the last times there are": at(math.MaxUint64, math.MaxUint64, map[string]float64{"clamped/start_in_future": 1}, nil),
		"an end before the start": {
			body: call(func(s ptrace.Span, _ pcommon.Map) { s.SetEndTimestamp(s.StartTimestamp() - 5_000_000_000) }), spans: 1,
			check: func(t *testing.T, r hostileRun) {
				t.Helper()
				require.GreaterOrEqual(t, r.units[0].Duration, 0.0)
			},
		},
		"clocks of services an hour apart": {
			body: func(t *testing.T, id string) Request {
				t.Helper()
				td := goodCall(id, nil)
				other := td.ResourceSpans().AppendEmpty()
				other.Resource().Attributes().PutStr("service.name", "behind")
				child := other.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
				parent := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
				parent.CopyTo(child)
				child.SetParentSpanID(parent.SpanID())
				child.SetSpanID(spanID(id, 2))
				child.SetName("POST /orders")
				child.SetStartTimestamp(parent.StartTimestamp() - 3_600_000_000_000)
				child.SetEndTimestamp(parent.EndTimestamp() - 3_600_000_000_000)
				child.Attributes().Clear()
				child.Attributes().PutStr("http.request.method", "POST")
				return traces(t, td)
			}, spans: 2,
		},
		"a backfill of 100 weeks in one request": {
			body: func(t *testing.T, id string) Request {
				t.Helper()
				td := goodCall(id, nil)
				spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
				for week := 1; week < 100; week++ {
					span := spans.AppendEmpty()
					spans.At(0).CopyTo(span)
					span.SetSpanID(spanID(id, week+1))
					span.SetStartTimestamp(pcommon.NewTimestampFromTime(time.Now().Add(-time.Duration(week) * 7 * 24 * time.Hour)))
					span.SetEndTimestamp(span.StartTimestamp() + 1000)
				}
				return traces(t, td)
			}, spans: 100,
			// Their term is that of a start a week ago, so that one INSERT stays within few partitions.
			counted: map[string]float64{"clamped/start_too_old": 99},
		},
	}
}

func hostileIDs() map[string]hostile {
	return map[string]hostile{
		"all-zero and empty ids beside a good one": {
			body: func(t *testing.T, id string) Request {
				t.Helper()
				td := goodCall(id, nil)
				spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
				spans.At(0).CopyTo(spans.AppendEmpty())
				spans.At(1).SetTraceID(pcommon.TraceID{})
				spans.At(0).CopyTo(spans.AppendEmpty())
				spans.At(2).SetSpanID(pcommon.SpanID{})
				spans.At(0).CopyTo(spans.AppendEmpty())
				spans.At(3).SetTraceID(pcommon.TraceID{})
				return traces(t, td)
			}, spans: 1, counted: map[string]float64{"dropped/zero_trace_id": 2, "dropped/zero_span_id": 1},
		},
		"all-zero ids in JSON, alone": {
			body:    literal(TracesPath, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"00000000000000000000000000000000","spanId":"0000000000000000","name":"x"},{"traceId":"","spanId":"","name":"y"}]}]}]}`),
			counted: map[string]float64{"dropped/zero_trace_id": 2},
		},
		"span ids that repeat in another trace": {
			body: func(t *testing.T, id string) Request {
				t.Helper()
				td := goodCall(id, nil)
				spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
				spans.At(0).CopyTo(spans.AppendEmpty())
				spans.At(1).SetTraceID(traceID(id + "/other"))
				return traces(t, td)
			}, spans: 2,
			check: func(t *testing.T, r hostileRun) {
				t.Helper()
				require.Equal(t, r.units[0].SpanID, r.units[1].SpanID)
				require.NotEqual(t, r.units[0].TraceID, r.units[1].TraceID)
			},
		},
		"one span three times in a request": {
			body: func(t *testing.T, id string) Request {
				t.Helper()
				td := goodCall(id, nil)
				spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
				spans.At(0).CopyTo(spans.AppendEmpty())
				spans.At(0).CopyTo(spans.AppendEmpty())
				return traces(t, td)
			}, spans: 1,
		},
		"a span that is its own parent": {
			body: call(func(s ptrace.Span, _ pcommon.Map) { s.SetParentSpanID(s.SpanID()) }), spans: 1,
		},
	}
}

// hostileRequests are refused whole.
func hostileRequests() map[string]hostile {
	raw := func(r Request) func(*testing.T, string) Request { return func(*testing.T, string) Request { return r } }
	bad, undecodable := http.StatusBadRequest, map[string]float64{"refused/undecodable": 1}
	signal := map[string]float64{"refused/other_signal": 1}
	return map[string]hostile{
		"JSON that is cut off":       {body: raw(Request{Path: TracesPath, ContentType: JSON, Body: []byte(`{"resourceSpans":[{"scopeSpans`)}), status: bad, counted: undecodable},
		"protobuf that is garbage":   {body: raw(Request{Path: TracesPath, ContentType: Protobuf, Body: []byte{0xff, 0xff, 0xff}}), status: bad, counted: undecodable},
		"ids that are too short":     {body: literal(TracesPath, strings.Replace(fmt.Sprintf(literalCall, `{"key":"x"}`), "TRACE", "abcd", 1)), status: bad, counted: undecodable},
		"logs as protobuf on traces": {body: raw(Request{Path: TracesPath, ContentType: Protobuf, Body: logsBody(false)}), status: bad, says: "send it to /v1/logs", counted: signal},
		"logs as JSON on traces":     {body: raw(Request{Path: TracesPath, ContentType: JSON, Body: logsBody(true)}), status: bad, says: "send it to /v1/logs", counted: signal},
		"traces as protobuf on logs": {
			body: func(t *testing.T, id string) Request {
				t.Helper()
				r := traces(t, goodCall(id, nil))
				r.Path = LogsPath
				return r
			}, status: bad, says: "send it to /v1/traces", counted: signal,
		},
		"traces as JSON on logs": {body: literal(LogsPath, fmt.Sprintf(literalCall, `{"key":"x"}`)), status: bad, says: "send it to /v1/traces", counted: signal},
		"a gzip bomb of 65 MiB": {
			body:   call(func(_ ptrace.Span, a pcommon.Map) { a.PutStr("x", strings.Repeat("x", 65<<20)) }),
			status: http.StatusRequestEntityTooLarge, says: "larger than 67108864 bytes", counted: map[string]float64{"refused/too_large": 1},
		},
		"a gzip bomb of 256 MiB of zeros": {
			body:   raw(Request{Path: TracesPath, ContentType: Protobuf, Gzip: true, Body: make([]byte, 256<<20)}),
			status: http.StatusRequestEntityTooLarge, counted: map[string]float64{"refused/too_large": 1},
		},
		"65 MiB as they are": {
			body: func(t *testing.T, id string) Request {
				t.Helper()
				r := call(func(_ ptrace.Span, a pcommon.Map) { a.PutStr("x", strings.Repeat("x", 65<<20)) })(t, id)
				r.Gzip = false
				return r
			}, status: http.StatusRequestEntityTooLarge, counted: map[string]float64{"refused/too_large": 1},
		},
	}
}

func logsBody(asJSON bool) []byte {
	ld := plog.NewLogs()
	record := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	record.Body().SetStr("hello") // decodes into a span with a strange name and no ids
	marshal := (&plog.ProtoMarshaler{}).MarshalLogs
	if asJSON {
		marshal = (&plog.JSONMarshaler{}).MarshalLogs
	}
	body, err := marshal(ld)
	if err != nil {
		panic(err)
	}
	return body
}
