package agentstoreexporter

import (
	"context"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"
	"pgregory.net/rapid"

	"github.com/steptrail/steptrail/extension/agentstorageextension"
	"github.com/steptrail/steptrail/extension/filestorageextension"
	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/contracttest"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
	"github.com/steptrail/steptrail/internal/store"
)

func TestTheExporterHoldsTheContract(t *testing.T) {
	s := openStore(t)
	contracttest.Exporter(t, NewFactory(), contracttest.Options{
		Type: "agentstore",
		Host: func(testing.TB) component.Host { return hostWith(s, nil) },
	})
}

func TestConfigProblemsNameTheirKeys(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.Storage = component.ID{}
	cfg.Queue.Get().Batch.Get().Sizer = exporterhelper.RequestSizerTypeBytes
	err := confmap.Validate(cfg)
	require.ErrorContains(t, err, "storage must name")
	require.ErrorContains(t, err, "sending_queue::batch::sizer")
}

// storedLimit is how long a test waits for what is stored in a moment on a machine that has time for it.
const storedLimit = 2 * time.Minute

// What is allowed on top of the three seconds is for a machine on which an insert and a look take long by themselves.
func TestSpansAreVisibleWithinThreeSeconds(t *testing.T) {
	s := openStore(t)
	e := startTraces(t, createDefaultConfig().(*Config), hostWith(s, nil))
	for trace := byte(1); ; trace += 2 {
		begin := time.Now()
		b := s.NewBatch()
		id := agent.TraceID{trace}
		b.AddSpan(&agent.Step{Tenant: "acme", Unit: id.String(), Trace: id, Span: agent.SpanID{1}, Expires: begin.Unix() + 1000}, nil, nil)
		require.NoError(t, s.Insert(t.Context(), b))
		require.Equal(t, 1, stored(t, s, trace))
		work := time.Since(begin)

		begin = time.Now()
		require.NoError(t, e.ConsumeTraces(t.Context(), spans(trace+1, 3)))
		require.Eventually(t, func() bool { return stored(t, s, trace+1) == 3 }, storedLimit, 20*time.Millisecond)
		took := time.Since(begin)
		t.Logf("visible after %v, an insert and a look take %v", took, work)
		if took < 3*time.Second+5*work {
			return
		}
		require.Less(t, trace, byte(9), "never in time") // one of five may be held up
	}
}

func TestSpansThatNoProcessorAnnotatedAreLeftOut(t *testing.T) {
	s := openStore(t)
	e := startTraces(t, createDefaultConfig().(*Config), hostWith(s, nil))
	td := spans(1, 1)
	td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().Remove(canon.Facts)
	require.NoError(t, e.ConsumeTraces(t.Context(), td))
	require.NoError(t, e.ConsumeTraces(t.Context(), spans(2, 1)))
	require.Eventually(t, func() bool { return stored(t, s, 2) == 1 }, storedLimit, 20*time.Millisecond)
	require.Zero(t, stored(t, s, 1))
}

func TestAFindingIsStoredWithTheSpanThatCarriesIt(t *testing.T) {
	s := openStore(t)
	e := startTraces(t, createDefaultConfig().(*Config), hostWith(s, nil))
	td := spans(1, 1)
	f := agent.Finding{
		ID: agent.FindingID{9}, Tenant: "acme", Run: "run", Kind: "key.duplicate", Severity: agent.SeverityCritical,
		Status: agent.StatusOpen, DetectedAt: time.Now().UnixNano(), Message: "twice",
	}
	canon.WriteFinding(td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0), &f)
	require.NoError(t, e.ConsumeTraces(t.Context(), td))
	require.Eventually(t, func() bool {
		got, err := s.Tenant("acme").Findings(t.Context(), store.FindingFilter{Kind: "key.duplicate"})
		require.NoError(t, err)
		return len(got) == 1 && got[0].ID == f.ID
	}, storedLimit, 20*time.Millisecond)
}

func TestAFindingThatCameAsALogRecordIsStored(t *testing.T) {
	s := openStore(t)
	cfg := createDefaultConfig().(*Config)
	set := exportertest.NewNopSettings(NewFactory().Type())
	e, err := NewFactory().CreateLogs(t.Context(), set, cfg)
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context(), hostWith(s, nil)))
	t.Cleanup(func() { require.NoError(t, e.Shutdown(context.WithoutCancel(t.Context()))) })
	f := agent.Finding{
		ID: agent.FindingID{8}, Tenant: "late", Run: "run", Kind: "key.missing", Severity: agent.SeverityWarning, Status: agent.StatusOpen,
		DetectedAt: time.Now().UnixNano(), Message: "no key", Evidence: []agent.Evidence{{Unit: "u", Trace: agent.TraceID{1}, Span: agent.SpanID{2}, Attempt: 1}},
	}
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr(canon.Tenant, "late")
	canon.WriteFindingLog(rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty(), &f)
	require.NoError(t, e.ConsumeLogs(t.Context(), ld))
	require.Eventually(t, func() bool {
		got, err := s.Tenant("late").Findings(t.Context(), store.FindingFilter{Kind: "key.missing"})
		return err == nil && len(got) == 1 && got[0].ID == f.ID && got[0].Message == f.Message
	}, storedLimit, 20*time.Millisecond)
}

func TestMergingAndSplittingKeepsEveryItemOnceAndInOrder(t *testing.T) {
	e := &storeExporter{}
	rapid.Check(t, func(r *rapid.T) {
		maxSize := rapid.IntRange(0, 7).Draw(r, "max")
		left, right := rapid.IntRange(0, 20).Draw(r, "left"), rapid.IntRange(0, 20).Draw(r, "right")
		a, b := e.newRequest(), e.newRequest()
		for i := range left {
			add(a.batch, byte(i))
		}
		for i := range right {
			add(b.batch, byte(left+i))
		}
		var other xexporterhelper.Request
		if rapid.Bool().Draw(r, "merge") {
			other = b
		} else {
			right = 0
		}
		out, err := a.MergeSplit(t.Context(), maxSize, exporterhelper.RequestSizerTypeItems, other)
		if err != nil {
			r.Fatal(err)
		}
		if len(out) == 0 {
			r.Fatal("no request")
		}
		total := 0
		for i, req := range out {
			n := req.ItemsCount()
			total += n
			if maxSize > 0 && n > maxSize {
				r.Fatalf("request %d of %d has %d items, at most %d are allowed", i, len(out), n, maxSize)
			}
			if last := out[len(out)-1].ItemsCount(); last > n {
				r.Fatalf("the last request has %d items, more than the %d of request %d", last, n, i)
			}
		}
		if total != left+right {
			r.Fatalf("%d items, want %d", total, left+right)
		}
	})
}

func TestARequestComesBackFromDiskAsItWas(t *testing.T) {
	e := &storeExporter{}
	req := e.newRequest()
	for i := range byte(5) {
		add(req.batch, i)
	}
	enc := encoding{e}
	data, err := enc.Marshal(t.Context(), req)
	require.NoError(t, err)
	_, back, err := enc.Unmarshal(data)
	require.NoError(t, err)
	require.Equal(t, req.ItemsCount(), back.ItemsCount())
	require.Equal(t, req.BytesSize(), back.BytesSize())
	again, err := enc.Marshal(t.Context(), back)
	require.NoError(t, err)
	require.Equal(t, data, again)
}

func add(b *store.Batch, id byte) {
	b.AddSpan(&agent.Step{Tenant: "acme", Unit: "u", Trace: agent.TraceID{1}, Span: agent.SpanID{id + 1}, Expires: time.Now().Unix() + 1000},
		[]agent.Body{{Ref: agent.Ref{id%3 + 1}, Text: "body", Expires: time.Now().Unix() + 1000}}, nil)
}

// spans are annotated spans of one trace, as the processor passes them on.
func spans(trace byte, n int) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr(canon.Tenant, "acme")
	ss := rs.ScopeSpans().AppendEmpty()
	var r canon.Reader
	var a canon.Annotator
	r.Resource(rs.Resource())
	r.Scope(ss.Scope())
	for i := range n {
		span := ss.Spans().AppendEmpty()
		span.SetTraceID([16]byte{trace})
		span.SetSpanID([8]byte{byte(i + 1)})
		span.SetName("chat")
		span.SetStartTimestamp(pcommon.NewTimestampFromTime(time.Now()))
		span.SetEndTimestamp(pcommon.NewTimestampFromTime(time.Now().Add(time.Millisecond)))
		rec := r.Read(span, &canon.Stated{})
		rec.Step.Unit = rec.Step.Trace.String()
		rec.Step.Received = time.Now().UnixNano()
		rec.Step.Expires = time.Now().Add(24 * time.Hour).Unix()
		rec.Step.ContentExpires = rec.Step.Expires
		a.Annotate(span, rec, nil)
	}
	return td
}

// stored is how many spans of the trace the store has, each once.
func stored(t *testing.T, s *store.Store, trace byte) int {
	t.Helper()
	g, err := s.Tenant("acme").RunGroup(t.Context(), agent.TraceID{trace}.String())
	if err != nil {
		require.ErrorIs(t, err, store.ErrNotFound)
		return 0
	}
	seen := map[agent.SpanID]bool{}
	for _, st := range g.Input.Steps {
		require.False(t, seen[st.Span], "a span is there twice")
		seen[st.Span] = true
	}
	return len(seen)
}

func openStore(t *testing.T) *store.Store {
	t.Helper()
	e := enginetest.Start(t)
	s, err := store.Open(t.Context(), e.Options(), store.Config{Database: e.Database})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.Migrate(t.Context()))
	return s
}

type traces interface {
	component.Component
	ConsumeTraces(context.Context, ptrace.Traces) error
}

func startTraces(t *testing.T, cfg *Config, host component.Host) traces {
	t.Helper()
	e, err := NewFactory().CreateTraces(t.Context(), settings(t), cfg)
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context(), host))
	t.Cleanup(func() { require.NoError(t, e.Shutdown(context.WithoutCancel(t.Context()))) })
	return e
}

// settings have an id that does not change, by which the queue on disk is found.
func settings(t testing.TB) exporter.Settings {
	t.Helper()
	set := exportertest.NewNopSettings(Type)
	set.ID = component.NewID(Type)
	set.Logger = zaptest.NewLogger(t, zaptest.Level(zap.ErrorLevel))
	return set
}

// fileStorage is the file_storage extension of the distribution.
func fileStorage(t testing.TB, dir string) component.Component {
	t.Helper()
	f := filestorageextension.NewFactory()
	cfg := f.CreateDefaultConfig().(*filestorage.Config)
	cfg.Directory, cfg.Compaction.Directory = dir, dir
	ext, err := f.Create(t.Context(), extensiontest.NewNopSettings(f.Type()), cfg)
	require.NoError(t, err)
	require.NoError(t, ext.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, ext.Shutdown(context.WithoutCancel(t.Context()))) })
	return ext
}

// hostWith has an agentstorage extension with the store, or with none, and a
// file_storage extension where disk is not nil.
func hostWith(s *store.Store, disk component.Component) component.Host {
	exts := map[component.ID]component.Component{component.MustNewID("agentstorage"): &fakeStorage{store: s}}
	if disk != nil {
		exts[component.MustNewID("file_storage")] = disk
	}
	return host{exts}
}

type host struct {
	exts map[component.ID]component.Component
}

func (h host) GetExtensions() map[component.ID]component.Component { return h.exts }

type fakeStorage struct {
	component.StartFunc
	component.ShutdownFunc
	store *store.Store
}

func (f *fakeStorage) Store() (*store.Store, error) {
	if f.store == nil {
		return nil, agentstorageextension.ErrNotReady
	}
	return f.store, nil
}
