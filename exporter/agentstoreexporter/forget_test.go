package agentstoreexporter

import (
	"bytes"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/extension/agentstorageextension"
	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
	"github.com/steptrail/steptrail/internal/store"
)

// awayStorage is a storage extension whose store can be away.
type awayStorage struct {
	component.StartFunc
	component.ShutdownFunc
	store *store.Store
	away  atomic.Bool
}

func (s *awayStorage) Store() (*store.Store, error) {
	if s.away.Load() {
		return nil, agentstorageextension.ErrNotReady
	}
	return s.store, nil
}

// named are spans of a trace, from the n-th on, whose names say a text.
func named(trace byte, n int, text string) ptrace.Traces {
	td := spans(trace, 1)
	span := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	span.SetName(text)
	span.SetSpanID([8]byte{byte(n)})
	return td
}

func inFolder(t *testing.T, dir, text string) bool {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue // a file that was written anew
		}
		require.NoError(t, err)
		if bytes.Contains(data, []byte(text)) {
			return true
		}
	}
	return false
}

func erase(t *testing.T, s *store.Store, trace byte) {
	t.Helper()
	unit := agent.TraceID{trace}.String()
	id, now := agent.JobID{trace}, time.Now().UnixNano()
	require.NoError(t, s.AddUnits(t.Context(), store.ErasureUnits, "acme", id, []agent.UnitOfRun{{Unit: unit, Run: unit}}, false, now))
	require.NoError(t, s.Erase(t.Context(), "acme", id, []string{unit}, []string{unit}, false, now))
}

// What has passed the queue, waits in it or comes late: nothing of it stays in
// the queue's file once it was erased.
func TestTheQueueKeepsNothingOfAnErasedUnit(t *testing.T) {
	s, dir := openStore(t), t.TempDir()
	storage, disk := &awayStorage{store: s}, fileStorage(t, dir)
	e := startTraces(t, onDisk(), host{map[component.ID]component.Component{
		component.MustNewID("agentstorage"): storage, component.MustNewID("file_storage"): disk,
	}})
	const canary = "CANARY-in-the-queue"
	require.NoError(t, e.ConsumeTraces(t.Context(), named(1, 1, canary+"-stored")))
	require.Eventually(t, func() bool { return stored(t, s, 1) == 1 }, time.Minute, 50*time.Millisecond)
	require.True(t, inFolder(t, dir, canary+"-stored"), "the page is free and still holds it")

	storage.away.Store(true)
	require.NoError(t, e.ConsumeTraces(t.Context(), named(1, 2, canary+"-queued")))
	erase(t, s, 1)
	gone := disk.(forgetter).Forget()
	require.Never(t, gone, time.Second, 200*time.Millisecond, "what was queued is still there")
	require.True(t, inFolder(t, dir, canary+"-queued"))

	storage.away.Store(false)
	require.Eventually(t, gone, time.Minute, 50*time.Millisecond)
	require.False(t, inFolder(t, dir, canary))
	require.Equal(t, 2, stored(t, s, 1), "what happened stays")
	g, err := s.Tenant("acme").RunGroup(t.Context(), agent.TraceID{1}.String())
	require.NoError(t, err)
	for _, st := range g.Input.Steps {
		require.True(t, st.Erased)
		require.Empty(t, st.Name)
	}

	// What comes now is known before it gets to the queue.
	storage.away.Store(true)
	storage.away.Store(false)
	require.NoError(t, e.ConsumeTraces(t.Context(), named(1, 3, canary+"-late")))
	require.False(t, inFolder(t, dir, canary))
	require.Eventually(t, func() bool { return stored(t, s, 1) == 3 }, time.Minute, 50*time.Millisecond)
	require.False(t, inFolder(t, dir, canary))
}

// Another process erases: this one's queue forgets by itself.
func TestTheQueueForgetsWhatAnotherProcessErased(t *testing.T) {
	engine := enginetest.Start(t)
	open := func() *store.Store {
		s, err := store.Open(t.Context(), engine.Options(), store.Config{Database: engine.Database})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s
	}
	here, there := open(), open()
	require.NoError(t, here.Migrate(t.Context()))
	dir := t.TempDir()
	disk := fileStorage(t, dir)
	e := startTraces(t, onDisk(), hostWith(here, disk))
	const canary = "CANARY-in-the-queue"
	require.NoError(t, e.ConsumeTraces(t.Context(), named(1, 1, canary)))
	require.Eventually(t, func() bool { return stored(t, here, 1) == 1 }, time.Minute, 50*time.Millisecond)
	require.True(t, inFolder(t, dir, canary))
	erase(t, there, 1)
	require.Eventually(t, func() bool { return !inFolder(t, dir, canary) }, time.Minute, 50*time.Millisecond)

	// A span that comes before this process knows is erased on its way out, and
	// the queue forgets it as well.
	erase(t, there, 2)
	require.NoError(t, e.ConsumeTraces(t.Context(), named(2, 1, canary)))
	require.Eventually(t, func() bool { return stored(t, here, 2) == 1 && !inFolder(t, dir, canary) }, time.Minute, 50*time.Millisecond)
}
