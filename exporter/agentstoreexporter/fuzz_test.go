package agentstoreexporter

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/processor/agentstepprocessor"
)

// fuzzPolicy redacts in both ways that a value may go, and classes tools.
const fuzzPolicy = `
version: 1
redaction: {mode: pseudonym, key: "0123456789abcdef0123456789abcdef", detectors: [email, ip, bearer], keys: [password]}
retention: {act: 400d, human: 400d, think: 90d, read: 90d, content: 30d, findings: 400d, access_log: 400d}
tools:
  - {match: "get_*", class: read}
  - {match: "*", class: act, target: "order/{order_id}", key: "{idempotency_key}"}
`

// pathInputs is how many inputs of the fuzzer share the processor's state.
const pathInputs = 50

// path is everything between a receiver and the queue: the processor, and this
// exporter's encoding.
type path struct {
	processor processor.Traces
	annotated *consumertest.TracesSink
	metrics   *sdkmetric.ManualReader
	exporter  *storeExporter
	dropped   int64 // that the processor had counted before
	sent      int   // requests since it was made
}

// newPath makes one in the folder, for the policy's file. close ends it.
func newPath(t testing.TB, folder string) *path {
	t.Helper()
	p := &path{annotated: new(consumertest.TracesSink), metrics: sdkmetric.NewManualReader()}
	f := agentstepprocessor.NewFactory()
	cfg := f.CreateDefaultConfig().(*agentstepprocessor.Config)
	cfg.PolicyFile = filepath.Join(folder, "policy.yaml")
	cfg.MaxBodyBytes, cfg.MaxAttributeBytes, cfg.MaxAttributes = 1<<10, 1<<8, 64 // so that small inputs reach them
	require.NoError(t, os.WriteFile(cfg.PolicyFile, []byte(fuzzPolicy), 0o600))
	set := processortest.NewNopSettings(agentstepprocessor.Type)
	set.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(p.metrics))
	var err error
	ctx := context.WithoutCancel(t.Context()) // it outlives the one input
	p.processor, err = f.CreateTraces(ctx, set, cfg, p.annotated)
	require.NoError(t, err)
	require.NoError(t, p.processor.Start(ctx, componenttest.NewNopHost()))
	m, err := newInstruments(set.MeterProvider)
	require.NoError(t, err)
	p.exporter = &storeExporter{logger: zap.NewNop(), metrics: m}
	p.exporter.readers.New = func() any { return new(canon.Reader) }
	return p
}

func (p *path) close(t testing.TB) {
	require.NoError(t, p.processor.Shutdown(context.WithoutCancel(t.Context())))
}

// droppedSpans is how many spans the processor has counted as left out since it
// was asked last.
func (p *path) droppedSpans(t testing.TB) int {
	var all metricdata.ResourceMetrics
	require.NoError(t, p.metrics.Collect(t.Context(), &all))
	total := int64(0)
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != "steptrail_stream_dropped" {
				continue
			}
			for _, point := range m.Data.(metricdata.Sum[int64]).DataPoints {
				if reason, _ := point.Attributes.Value("reason"); strings.HasPrefix(reason.AsString(), "zero_") {
					total += point.Value
				}
			}
		}
	}
	was := p.dropped
	p.dropped = total
	return int(total - was)
}

// send takes a request as the receiver would and checks what holds of every one:
// spans in are spans in the rows and spans counted as dropped, and all text in the
// rows is valid UTF-8.
func (p *path) send(t testing.TB, td ptrace.Traces) {
	p.annotated.Reset()
	in := td.SpanCount()
	require.NoError(t, p.processor.ConsumeTraces(t.Context(), td))
	rows := 0
	for _, out := range p.annotated.AllTraces() {
		requireText(t, out)
		req, err := p.exporter.traces(t.Context(), out)
		require.NoError(t, err)
		n := req.(*request).batch.Spans()
		data, err := encoding{p.exporter}.Marshal(t.Context(), req)
		require.NoError(t, err)
		_, back, err := encoding{p.exporter}.Unmarshal(data)
		require.NoError(t, err)
		require.Equal(t, n, back.(*request).batch.Spans())
		rows += n
	}
	require.Equal(t, in, rows+p.droppedSpans(t), "spans in, and spans stored or counted as dropped")
}

// requireText reads annotated spans as the exporter does and fails on a text that
// is no valid UTF-8.
func requireText(t testing.TB, td ptrace.Traces) {
	var r canon.Reader
	for _, rs := range td.ResourceSpans().All() {
		r.Resource(rs.Resource())
		for _, ss := range rs.ScopeSpans().All() {
			r.Scope(ss.Scope())
			for _, span := range ss.Spans().All() {
				rec := r.Span(span)
				for name, part := range map[string]any{"step": rec.Step, "bodies": rec.Bodies, "facts": rec.Facts, "findings": rec.Findings} {
					if bad := brokenText(reflect.ValueOf(part), name); bad != "" {
						t.Fatalf("no valid UTF-8 in %s", bad)
					}
				}
			}
		}
	}
}

// brokenText gives the place of the first text in v that is no valid UTF-8.
func brokenText(v reflect.Value, at string) string {
	switch v.Kind() {
	case reflect.String:
		if at != "step.Facts" && !utf8.ValidString(v.String()) { // those are binary
			return at + ": " + v.String()
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return ""
		}
		for i := range v.Len() {
			if bad := brokenText(v.Index(i), at); bad != "" {
				return bad
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if bad := brokenText(v.Field(i), at+"."+v.Type().Field(i).Name); bad != "" {
				return bad
			}
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return brokenText(v.Elem(), at)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if bad := brokenText(k, at) + brokenText(v.MapIndex(k), at); bad != "" {
				return bad
			}
		}
	}
	return ""
}

// FuzzReceiveToRow takes the body of a request all the way to the bytes that the
// queue holds.
func FuzzReceiveToRow(f *testing.F) {
	seed := func(td ptrace.Traces) {
		req := ptraceotlp.NewExportRequestFromTraces(td)
		pb, err := req.MarshalProto()
		require.NoError(f, err)
		f.Add(pb, false)
		js, err := req.MarshalJSON()
		require.NoError(f, err)
		f.Add(js, true)
	}
	seed(hostileTraces())
	for _, pattern := range []string{"../../internal/dialect/testdata/*.json", "../../../shared/captures/*.json"} {
		files, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, name := range files {
			data, err := os.ReadFile(name)
			require.NoError(f, err)
			if td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(data); err == nil && len(data) < 24<<10 && td.SpanCount() > 0 {
				seed(td)
			}
		}
	}
	folder := f.TempDir()
	p := newPath(f, folder)
	f.Cleanup(func() { p.close(f) })
	f.Fuzz(func(t *testing.T, body []byte, isJSON bool) {
		req := ptraceotlp.NewExportRequest()
		unmarshal := req.UnmarshalProto
		if isJSON {
			unmarshal = req.UnmarshalJSON
		}
		if unmarshal(body) != nil {
			return // the receiver answers 400
		}
		// Inputs are alike, so they would all be one run that grows. Now and then the
		// state begins anew.
		if p.sent++; p.sent > pathInputs {
			p.close(t)
			p = newPath(t, folder)
		}
		p.send(t, req.Traces())
	})
}

// hostileTraces is one request with what hurts in every place.
func hostileTraces() ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("\xff", "\xff")
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("\xff")
	for i := range 4 {
		span := ss.Spans().AppendEmpty()
		span.SetTraceID([16]byte{byte(i)})
		span.SetSpanID([8]byte{1})
		span.SetName("\xed\xa0\x80\x00")
		span.Status().SetMessage("\xff")
		span.TraceState().FromRaw("\xff")
		span.SetStartTimestamp(math.MaxUint64)
		a := span.Attributes()
		for _, k := range []string{
			"gen_ai.tool.name", "gen_ai.tool.call.id", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "gen_ai.input.messages",
			"agent.run.id", "agent.step.id", "agent.target", "agent.idempotency.key", "agent.outcome", "http.request.method",
			"server.address", "url.full", "error.type", "gen_ai.request.model", "session.id", "user.id", "\xfe",
		} {
			a.PutStr(k, "{\"order_id\":\"\xff\\ud83d\",\"a\":[1e999,")
		}
		a.PutStr("gen_ai.operation.name", "execute_tool")
		a.PutDouble("x", math.NaN())
		a.PutInt("gen_ai.usage.input_tokens", math.MinInt64)
		a.PutEmptyMap("m").PutEmptySlice("\xff").AppendEmpty().SetStr("\xff")
		e := span.Events().AppendEmpty()
		e.SetName("exception")
		e.Attributes().PutStr("exception.message", "\xff")
		l := span.Links().AppendEmpty()
		l.Attributes().PutStr("\xff", "\xff")
		l.TraceState().FromRaw("\xff")
	}
	return td
}
