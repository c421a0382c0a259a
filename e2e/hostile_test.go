package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// hostile is one request that hurts, sent alone to a running program.
type hostile struct {
	body    func(t *testing.T, id string) Request
	status  int                // of the answer; 0 is 200
	says    string             // in the answer, where it is an error
	spans   int                // stored in the run of that id
	counted map[string]float64 // all that the counters of what was dropped, cut or refused add
	check   func(t *testing.T, told hostileRun)
}

// hostileRun is what the API tells of the run, with its content.
type hostileRun struct {
	id    string
	raw   string
	units []hostileSpan // all spans, attempts' first
	calls []hostileCall
}

type hostileCall struct {
	StepID    string         `json:"step_id"`
	SpanID    string         `json:"span_id"`
	Outcome   string         `json:"outcome"`
	Duration  float64        `json:"duration_ms"`
	Arguments hostileContent `json:"arguments"`
	Result    hostileContent `json:"result"`
	Spans     []hostileSpan  `json:"spans"`
}

type hostileContent struct {
	Recorded string          `json:"recorded"`
	Size     int64           `json:"size"`
	Body     json.RawMessage `json:"body"`
}

type hostileSpan struct {
	TraceID    string                     `json:"trace_id"`
	SpanID     string                     `json:"span_id"`
	Name       string                     `json:"name"`
	StartedAt  string                     `json:"started_at"`
	EndedAt    string                     `json:"ended_at"`
	Duration   float64                    `json:"duration_ms"`
	Dropped    int                        `json:"dropped"`
	Attributes map[string]json.RawMessage `json:"attributes"`
	Resource   map[string]json.RawMessage `json:"resource"`
	Events     []struct {
		Name       string                     `json:"name"`
		Attributes map[string]json.RawMessage `json:"attributes"`
	} `json:"events"`
}

// counters are the metrics that say what was not taken as it came, with the reason
// as their label.
var counters = []string{"steptrail_stream_dropped_total", "steptrail_stream_clamped_total", "steptrail_otlp_refused_total"}

// notTaken reads them: the last word of the name, a slash, the reason.
func notTaken(t *testing.T, in *Instance) map[string]float64 {
	t.Helper()
	out := make(map[string]float64)
	for _, name := range counters {
		for _, reason := range []string{
			"zero_trace_id", "zero_span_id", "redaction_limit", "attribute_limit", "start_too_old", "start_in_future", "body_size",
			"attribute_size", "other_signal", "too_large", "too_deep", "undecodable",
		} {
			sum, _, err := in.Metric(t.Context(), name, map[string]string{"reason": reason})
			require.NoError(t, err)
			if sum != 0 {
				short := strings.TrimSuffix(name, "_total")
				out[short[strings.LastIndexByte(short, '_')+1:]+"/"+reason] = sum
			}
		}
	}
	return out
}

// told asks for the run until it has as many spans, and checks that every form of
// the answer is valid UTF-8 and JSON.
func told(t *testing.T, in *Instance, id string, spans int) hostileRun {
	t.Helper()
	path := "/runs/" + url.PathEscape(id) + "/history?content=full"
	var out hostileRun
	Eventually(t, limit, func() error {
		status, body, err := in.Get(t.Context(), path, JSON)
		if err != nil {
			return err
		}
		if status != http.StatusOK {
			return fmt.Errorf("%s says %d: %.200s", path, status, body)
		}
		out = readRun(t, id, body)
		if len(out.units) != spans {
			return fmt.Errorf("want %d spans, got %d", spans, len(out.units))
		}
		return nil
	})
	for _, more := range []string{"/runs/" + url.PathEscape(id), "/runs?limit=500", "/findings?limit=500"} {
		status, body, err := in.Get(t.Context(), more, JSON)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status, "%s: %.300s", more, body)
		requireClean(t, body)
	}
	status, body, err := in.Get(t.Context(), path, "application/x-ndjson")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	for line := range bytes.Lines(body) {
		requireClean(t, line)
	}
	return out
}

func readRun(t *testing.T, id string, body []byte) hostileRun {
	t.Helper()
	requireClean(t, body)
	var h struct {
		Steps []struct {
			StepID   string        `json:"step_id"`
			Attempts []hostileCall `json:"attempts"`
		} `json:"steps"`
		Spans []hostileSpan `json:"spans"`
	}
	require.NoError(t, json.Unmarshal(body, &h))
	out := hostileRun{id: id, raw: string(body)}
	for _, s := range h.Steps {
		for _, a := range s.Attempts {
			a.StepID = s.StepID
			out.calls = append(out.calls, a)
			out.units = append(out.units, a.Spans...)
		}
	}
	out.units = append(out.units, h.Spans...)
	return out
}

// loneSurrogate is an escape of half a pair, which strict readers of JSON refuse.
var loneSurrogate = regexp.MustCompile(`(?i)\\u(d[89ab][0-9a-f]{2}(\\u(d[c-f][0-9a-f]{2}))?|d[c-f][0-9a-f]{2})`)

// requireClean fails unless text is JSON that every reader takes: valid UTF-8, no
// half of a surrogate pair, no NUL.
func requireClean(t *testing.T, text []byte) {
	t.Helper()
	require.True(t, utf8.Valid(text), "no valid UTF-8: %.300q", text)
	require.True(t, json.Valid(text), "no valid JSON: %.300s", text)
	require.NotContains(t, string(text), "\x00")
	for _, found := range loneSurrogate.FindAllSubmatchIndex(text, -1) {
		escaped := 0
		for i := found[0] - 1; i >= 0 && text[i] == '\\'; i-- {
			escaped++
		}
		if escaped%2 == 0 && found[6] < 0 {
			t.Fatalf("half of a surrogate pair: %.100s", text[found[0]:])
		}
	}
}

// call is a request with one good tool call, changed by change.
func call(change func(span ptrace.Span, attributes pcommon.Map)) func(t *testing.T, id string) Request {
	return func(t *testing.T, id string) Request {
		t.Helper()
		return traces(t, goodCall(id, change))
	}
}

func goodCall(id string, change func(span ptrace.Span, attributes pcommon.Map)) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "hostile")
	span := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetTraceID(traceID(id))
	span.SetSpanID(spanID(id, 1))
	span.SetName("execute_tool get_order")
	start := time.Now().Add(-time.Minute)
	span.SetStartTimestamp(pcommon.NewTimestampFromTime(start))
	span.SetEndTimestamp(pcommon.NewTimestampFromTime(start.Add(time.Second)))
	a := span.Attributes()
	a.PutStr("agent.run.id", id)
	a.PutStr("gen_ai.operation.name", "execute_tool")
	a.PutStr("gen_ai.tool.name", "get_order")
	a.PutStr("gen_ai.tool.call.arguments", `{"order_id": 1}`)
	if change != nil {
		change(span, a)
	}
	return td
}

func traces(t *testing.T, td ptrace.Traces) Request {
	t.Helper()
	body, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	return Request{Path: TracesPath, ContentType: Protobuf, Gzip: true, Body: body}
}

// literal is a request in JSON as it stands, with the ids of the run in place of
// TRACE, SPAN and RUN.
func literal(path, body string) func(t *testing.T, id string) Request {
	return func(_ *testing.T, id string) Request {
		text := strings.NewReplacer("TRACE", traceID(id).String(), "SPAN", spanID(id, 1).String(), "RUN", id,
			"START", fmt.Sprint(time.Now().Add(-time.Minute).UnixNano()), "END", fmt.Sprint(time.Now().Add(-time.Second).UnixNano())).Replace(body)
		return Request{Path: path, ContentType: JSON, Body: []byte(text)}
	}
}

const literalCall = `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"hostile"}}]},"scopeSpans":[{"spans":[
{"traceId":"TRACE","spanId":"SPAN","name":"execute_tool get_order","startTimeUnixNano":"START","endTimeUnixNano":"END","attributes":[
{"key":"agent.run.id","value":{"stringValue":"RUN"}},{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},
{"key":"gen_ai.tool.name","value":{"stringValue":"get_order"}},%s]}]}]}]}`

func TestInputThatHurts(t *testing.T) {
	RequireEngine(t)
	in := Start(t, Options{})
	n := 0
	inputs := hostileInputs()
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		tc := inputs[name]
		n++
		id := fmt.Sprintf("hostile-%d", n)
		t.Run(name, func(t *testing.T) {
			before := notTaken(t, in)
			status, answer, err := in.Post(t.Context(), tc.body(t, id))
			require.NoError(t, err)
			want := tc.status
			if want == 0 {
				want = http.StatusOK
			}
			require.Equal(t, want, status, "%q", answer)
			require.Contains(t, string(answer), tc.says)
			after := notTaken(t, in)
			maps.DeleteFunc(after, func(reason string, _ float64) bool {
				after[reason] -= before[reason]
				return after[reason] == 0
			})
			counted := tc.counted
			if counted == nil {
				counted = map[string]float64{}
			}
			require.Equal(t, counted, after)
			if tc.spans == 0 {
				return
			}
			run := told(t, in, id, tc.spans)
			if tc.check != nil {
				tc.check(t, run)
			}
		})
	}
	t.Run("after all of it the program takes and tells a good run", func(t *testing.T) {
		require.NoError(t, postOK(t.Context(), in, traces(t, agentRun("good", 4, time.Now().Add(-time.Minute))), nil))
		require.Len(t, told(t, in, "good", 5).units, 5)
		require.Equal(t, 1, strings.Count(in.Log(), "dropped a span without ids"), "what is dropped is said once")
	})
}

func sum(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
