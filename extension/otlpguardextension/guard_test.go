package otlpguardextension

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/steptrail/steptrail/internal/contracttest"
)

func TestTheExtensionHoldsTheContract(t *testing.T) {
	contracttest.Extension(t, NewFactory(), contracttest.Options{Type: "otlpguard"})
}

const limit = 1 << 20

// serve sends one request through the guard to a receiver that answers 200, or
// 400 where it cannot read the body or the body is "broken".
func serve(t *testing.T, urlPath, contentType string, body []byte) (*httptest.ResponseRecorder, []byte, map[string]int64) {
	t.Helper()
	reader := sdkmetric.NewManualReader()
	set := extensiontest.NewNopSettings(Type)
	set.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	g, err := newGuard(set)
	require.NoError(t, err)
	wrap, err := g.GetHTTPHandler(t.Context())
	require.NoError(t, err)
	var got []byte
	handler, err := wrap(t.Context(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		read, err := io.ReadAll(r.Body)
		if err != nil || string(read) == "broken" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte("the receiver's own words"))
			return
		}
		got = read
		w.WriteHeader(http.StatusOK)
	}))
	require.NoError(t, err)
	r := httptest.NewRequest(http.MethodPost, urlPath, bytes.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	handler.ServeHTTP(w, r)

	var all metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &all))
	counted := make(map[string]int64) // without those that are 0 from the start
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			for _, point := range m.Data.(metricdata.Sum[int64]).DataPoints {
				reason, _ := point.Attributes.Value("reason")
				if point.Value > 0 {
					counted[reason.AsString()] += point.Value
				}
			}
		}
	}
	return w, got, counted
}

func TestTheBodyOfAnotherSignalIsRefusedWithItsPath(t *testing.T) {
	for name, tc := range map[string]struct {
		path string
		pb   []byte
		json []byte
		want string
	}{
		"logs on the path of traces": {
			path: "/v1/traces", pb: logsPB(t, fullLog), json: logsJSON(t, fullLog), want: "/v1/logs",
		},
		"log records with nothing but a body, which decode into spans": {
			path: "/v1/traces", pb: logsPB(t, func(lr plog.LogRecord) { lr.Body().SetStr("hello") }), want: "/v1/logs",
		},
		"log records with a structured body and ids": {
			path: "/v1/traces", pb: logsPB(t, func(lr plog.LogRecord) {
				lr.Body().SetEmptyMap().PutStr("content", "hello")
				lr.SetTraceID(pcommon.TraceID{1})
				lr.SetSpanID(pcommon.SpanID{1})
			}), want: "/v1/logs",
		},
		"traces on the path of logs": {
			path: "/v1/logs", pb: tracesPB(t, fullSpan), json: tracesJSON(t, fullSpan), want: "/v1/traces",
		},
		"spans without times on the path of logs": {
			path: "/v1/logs", pb: tracesPB(t, func(s ptrace.Span) { s.SetTraceID(pcommon.TraceID{1}); s.SetSpanID(pcommon.SpanID{1}) }), want: "/v1/traces",
		},
		"metrics on the path of traces, a name as long as a trace id and a text as long as a span id": {
			path: "/v1/traces", pb: metricsPB(t), json: metricsJSON(t), want: "/v1/metrics",
		},
		"metrics on the path of logs": {path: "/v1/logs", pb: metricsPB(t), json: metricsJSON(t), want: "/v1/metrics"},
		"profiles on the path of traces": {
			path: "/v1/traces", json: []byte(` {"resourceProfiles": []}`), want: "/v1development/profiles",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.pb != nil {
				w, got, counted := serve(t, tc.path, "application/x-protobuf", tc.pb)
				require.Equal(t, http.StatusBadRequest, w.Code)
				require.Nil(t, got)
				var st spb.Status
				require.NoError(t, proto.Unmarshal(w.Body.Bytes(), &st))
				require.Contains(t, st.GetMessage(), "send it to "+tc.want)
				require.Equal(t, map[string]int64{"other_signal": 1}, counted)
			}
			if tc.json != nil {
				w, _, counted := serve(t, tc.path, "application/json; charset=utf-8", tc.json)
				require.Equal(t, http.StatusBadRequest, w.Code)
				require.Equal(t, "application/json", w.Header().Get("Content-Type"))
				require.Contains(t, w.Body.String(), "send it to "+tc.want)
				require.Equal(t, map[string]int64{"other_signal": 1}, counted)
			}
		})
	}
}

func TestWhatThePathTakesIsPassedOnAsItCame(t *testing.T) {
	spans := map[string]func(ptrace.Span){
		"full":        fullSpan,
		"without ids": func(s ptrace.Span) { s.SetName("GET /") },
		"with a name like a message": func(s ptrace.Span) {
			fullSpan(s)
			s.SetName("\n\x05hello")
		},
		"without name":             func(s ptrace.Span) { s.SetTraceID(pcommon.TraceID{1}) },
		"empty":                    func(ptrace.Span) {},
		"larger than what is seen": func(s ptrace.Span) { fullSpan(s); s.Attributes().PutStr("x", strings.Repeat("x", 100<<10)) },
	}
	for name, fill := range spans {
		t.Run("a span "+name, func(t *testing.T) {
			for contentType, body := range map[string][]byte{
				"application/x-protobuf": tracesPB(t, fill), "application/json": tracesJSON(t, fill),
			} {
				w, got, counted := serve(t, "/v1/traces", contentType, body)
				require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
				require.Equal(t, body, got)
				require.Empty(t, counted)
			}
		})
	}
	for name, fill := range map[string]func(plog.LogRecord){
		"full": fullLog, "with a body alone": func(lr plog.LogRecord) { lr.Body().SetStr("GET /") }, "empty": func(plog.LogRecord) {},
	} {
		t.Run("a log record "+name, func(t *testing.T) {
			for contentType, body := range map[string][]byte{
				"application/x-protobuf": logsPB(t, fill), "application/json": logsJSON(t, fill),
			} {
				w, got, _ := serve(t, "/v1/logs", contentType, body)
				require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
				require.Equal(t, body, got)
			}
		})
	}
	t.Run("nothing", func(t *testing.T) {
		w, _, _ := serve(t, "/v1/traces", "application/x-protobuf", nil)
		require.Equal(t, http.StatusOK, w.Code)
	})
	t.Run("a content type that the receiver refuses by itself", func(t *testing.T) {
		w, _, _ := serve(t, "/v1/traces", "text/plain", logsJSON(t, fullLog))
		require.Equal(t, http.StatusOK, w.Code)
	})
	t.Run("a path of somebody's own", func(t *testing.T) {
		w, _, _ := serve(t, "/otlp", "application/json", logsJSON(t, fullLog))
		require.Equal(t, http.StatusOK, w.Code)
	})
}

func TestABodyOverTheLimitIsTooLargeAndNotBad(t *testing.T) {
	body := tracesPB(t, func(s ptrace.Span) { fullSpan(s); s.Attributes().PutStr("x", strings.Repeat("x", limit)) })
	w, _, counted := serve(t, "/v1/traces", "application/x-protobuf", body)
	require.Equal(t, http.StatusRequestEntityTooLarge, w.Code)
	var st spb.Status
	require.NoError(t, proto.Unmarshal(w.Body.Bytes(), &st))
	require.Contains(t, st.GetMessage(), "larger than 1048576 bytes")
	require.Equal(t, map[string]int64{"too_large": 1}, counted)
}

func TestJSONThatIsNestedTooDeepIsRefused(t *testing.T) {
	nested := func(levels int) []byte {
		return []byte(`{"x\"[":"[[\\\\","resourceSpans":` + strings.Repeat(`[`, levels-1) + strings.Repeat(`]`, levels-1) + `}`)
	}
	w, _, counted := serve(t, "/v1/traces", "application/json", nested(maxNesting))
	require.Equal(t, http.StatusOK, w.Code)
	require.Empty(t, counted)
	for _, levels := range []int{maxNesting + 1, limit / 4} {
		w, _, counted = serve(t, "/v1/traces", "application/json", nested(levels))
		require.Equal(t, http.StatusBadRequest, w.Code)
		require.Contains(t, w.Body.String(), "nested deeper than 1024 levels")
		require.Equal(t, map[string]int64{"too_deep": 1}, counted)
	}
}

func TestWhatTheReceiverCannotReadIsCounted(t *testing.T) {
	w, _, counted := serve(t, "/v1/traces", "application/json", []byte("broken"))
	require.Equal(t, http.StatusBadRequest, w.Code)
	require.Equal(t, "the receiver's own words", w.Body.String())
	require.Equal(t, map[string]int64{"undecodable": 1}, counted)
}

// What is seen of a body may end anywhere.
func TestNoBeginningOfABodyIsTakenForAnotherSignal(t *testing.T) {
	for own, bodies := range map[signal][][]byte{
		signalTraces: {tracesPB(t, fullSpan), tracesJSON(t, fullSpan)},
		signalLogs:   {logsPB(t, fullLog), logsJSON(t, fullLog)},
	} {
		for i, body := range bodies {
			for n := range len(body) + 1 {
				if got := signalOf(body[:n], i == 0, n < len(body), own); got != signalNone && got != own {
					t.Fatalf("the first %d bytes of %s are taken for %s", n, own, got)
				}
			}
		}
	}
}

func FuzzSignal(f *testing.F) {
	f.Add([]byte(`{"resourceLogs":[]}`), false, false, true)
	f.Fuzz(func(_ *testing.T, body []byte, isProto, cut, traces bool) {
		own := signalLogs
		if traces {
			own = signalTraces
		}
		signalOf(body, isProto, cut, own) // does not panic and ends
	})
}

func TestTheReadmeNamesTheReasons(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, reason := range []string{reasonSignal, reasonTooLarge, reasonTooDeep, reasonUndecodable} {
		require.Contains(t, string(text), "`"+reason+"`")
	}
}

func fullSpan(s ptrace.Span) {
	s.SetTraceID(pcommon.TraceID{1})
	s.SetSpanID(pcommon.SpanID{2})
	s.SetParentSpanID(pcommon.SpanID{3})
	s.SetName("chat")
	s.SetKind(ptrace.SpanKindClient)
	s.SetStartTimestamp(5)
	s.SetEndTimestamp(6)
	s.Attributes().PutStr("a", "b")
	s.Events().AppendEmpty().SetName("e")
	s.Links().AppendEmpty().SetTraceID(pcommon.TraceID{4})
	s.Status().SetMessage("m")
	s.SetFlags(1)
}

func fullLog(lr plog.LogRecord) {
	lr.SetTimestamp(5)
	lr.SetObservedTimestamp(6)
	lr.SetSeverityNumber(plog.SeverityNumberInfo)
	lr.SetSeverityText("INFO")
	lr.Body().SetEmptyMap().PutStr("content", "hello")
	lr.Attributes().PutStr("a", "b")
	lr.SetTraceID(pcommon.TraceID{1})
	lr.SetSpanID(pcommon.SpanID{2})
	lr.SetEventName("gen_ai.user.message")
}

func newTraces(fill func(ptrace.Span)) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "s")
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("scope")
	fill(ss.Spans().AppendEmpty())
	return td
}

func newLogs(fill func(plog.LogRecord)) plog.Logs {
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", "s")
	fill(rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty())
	return ld
}

func newMetrics() pmetric.Metrics {
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("system.cpu.times")
	m.SetDescription("CPU time")
	m.SetEmptyGauge().DataPoints().AppendEmpty().SetIntValue(1)
	return md
}

func tracesPB(t *testing.T, fill func(ptrace.Span)) []byte {
	t.Helper()
	return must((&ptrace.ProtoMarshaler{}).MarshalTraces(newTraces(fill)))(t)
}

func tracesJSON(t *testing.T, fill func(ptrace.Span)) []byte {
	t.Helper()
	return must((&ptrace.JSONMarshaler{}).MarshalTraces(newTraces(fill)))(t)
}

func logsPB(t *testing.T, fill func(plog.LogRecord)) []byte {
	t.Helper()
	return must((&plog.ProtoMarshaler{}).MarshalLogs(newLogs(fill)))(t)
}

func logsJSON(t *testing.T, fill func(plog.LogRecord)) []byte {
	t.Helper()
	return must((&plog.JSONMarshaler{}).MarshalLogs(newLogs(fill)))(t)
}

func metricsPB(t *testing.T) []byte {
	t.Helper()
	return must((&pmetric.ProtoMarshaler{}).MarshalMetrics(newMetrics()))(t)
}

func metricsJSON(t *testing.T) []byte {
	t.Helper()
	return must((&pmetric.JSONMarshaler{}).MarshalMetrics(newMetrics()))(t)
}

func must(body []byte, err error) func(*testing.T) []byte {
	return func(t *testing.T) []byte {
		t.Helper()
		require.NoError(t, err)
		return body
	}
}
