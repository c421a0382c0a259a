package filestorageextension

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/steptrail/steptrail/internal/contracttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestItHoldsTheContract(t *testing.T) {
	contracttest.Extension(t, NewFactory(), contracttest.Options{
		Type:           "file_storage",
		DefaultInvalid: "directory must exist",
		Config: func(t testing.TB, cfg component.Config) {
			c := cfg.(*filestorage.Config)
			c.Directory = t.TempDir()
			c.Compaction.Directory = c.Directory
		},
	})
}

// canary stands in what is to be forgotten.
const canary = "CANARY-forget-me"

// bench is the extension over one folder, with one client.
type bench struct {
	t   *testing.T
	dir string
	ext *files
	storage.Client
	logs *observer.ObservedLogs
}

func open(t *testing.T, dir string, change func(*filestorage.Config)) *bench {
	t.Helper()
	f := NewFactory()
	cfg := f.CreateDefaultConfig().(*filestorage.Config)
	cfg.Directory, cfg.Compaction.Directory, cfg.Recreate = dir, dir, true
	if change != nil {
		change(cfg)
	}
	set := extensiontest.NewNopSettings(f.Type())
	core, logs := observer.New(zap.WarnLevel)
	set.Logger = zap.New(core)
	ext, err := f.Create(t.Context(), set, cfg)
	require.NoError(t, err)
	require.NoError(t, ext.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, ext.Shutdown(context.WithoutCancel(t.Context()))) })
	files := ext.(*files)
	c, err := files.GetClient(t.Context(), component.KindExporter, component.MustNewID("agentstore"), "traces")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close(context.WithoutCancel(t.Context()))) })
	return &bench{t, dir, files, c, logs}
}

func (b *bench) set(key string) {
	b.t.Helper()
	value := bytes.Repeat([]byte(canary+" of "+key+"\n"), 1000)
	require.NoError(b.t, b.Batch(b.t.Context(), storage.SetOperation("qmv0", []byte("index")), storage.SetOperation(key, value)))
}

func (b *bench) delete(key string) {
	b.t.Helper()
	require.NoError(b.t, b.Batch(b.t.Context(), storage.SetOperation("qmv0", []byte("index")), storage.DeleteOperation(key)))
}

// onDisk reports whether any file of the folder holds the text.
func (b *bench) onDisk(text string) bool {
	b.t.Helper()
	found := false
	entries, err := os.ReadDir(b.dir)
	require.NoError(b.t, err)
	require.NotEmpty(b.t, entries)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(b.dir, e.Name()))
		require.NoError(b.t, err)
		found = found || bytes.Contains(data, []byte(text))
	}
	return found
}

func eventually(t *testing.T, gone func() bool) {
	t.Helper()
	require.Eventually(t, gone, time.Minute, 50*time.Millisecond)
}

func TestWhatWasTakenOutIsInTheFileUntilItIsForgotten(t *testing.T) {
	b := open(t, t.TempDir(), nil)
	b.set("0")
	b.delete("0")
	require.True(t, b.onDisk(canary), "upstream leaves the pages as they are")
	eventually(t, b.ext.Forget())
	require.False(t, b.onDisk(canary))

	value, err := b.Get(t.Context(), "qmv0")
	require.NoError(t, err)
	require.Equal(t, "index", string(value))
	require.True(t, b.ext.Forget()(), "nothing came since: nothing is to be done")
}

func TestForgettingWaitsForWhatIsStored(t *testing.T) {
	b := open(t, t.TempDir(), nil)
	b.set("0")
	b.set("1")
	gone := b.ext.Forget()
	b.set("2") // later: nobody waits for it, and it stays
	b.delete("0")
	require.Never(t, gone, 3*lookEvery, lookEvery)
	require.True(t, b.onDisk(canary+" of 0"))
	b.delete("1")
	eventually(t, gone)
	require.False(t, b.onDisk(canary+" of 0"))
	require.False(t, b.onDisk(canary+" of 1"))
	value, err := b.Get(t.Context(), "2")
	require.NoError(t, err)
	require.Contains(t, string(value), canary+" of 2")

	b.delete("2")
	require.True(t, gone(), "it was about what came before it")
	require.True(t, b.onDisk(canary+" of 2"))
	eventually(t, b.ext.Forget())
	require.False(t, b.onDisk(canary))
}

func TestAnEntryThatIsStoredAgainIsWaitedForAgain(t *testing.T) {
	b := open(t, t.TempDir(), nil)
	b.set("0")
	require.NoError(t, b.Batch(t.Context(), storage.DeleteOperation("0"), storage.SetOperation("0", []byte(canary))))
	gone := b.ext.Forget()
	require.Never(t, gone, 2*lookEvery, lookEvery)
	require.NoError(t, b.Batch(t.Context(), storage.SetOperation("0", []byte("x")), storage.DeleteOperation("0")))
	eventually(t, gone)
	require.False(t, b.onDisk(canary))
}

func TestWhatCouldNotBeStoredIsNotWaitedFor(t *testing.T) {
	b := open(t, t.TempDir(), func(c *filestorage.Config) { c.MaxSize = 1 << 20 })
	require.Error(t, b.Set(t.Context(), "0", make([]byte, 2<<20)))
	eventually(t, b.ext.Forget())
}

// killDirEnv makes the test binary the process that is killed.
const killDirEnv = "STEPTRAIL_TEST_FORGET_DIR"

// TestForgetAndBeKilled is no test of its own:
// TestAKilledProcessForgetsAfterItsNextStart runs it in a process that it kills.
func TestForgetAndBeKilled(t *testing.T) {
	dir := os.Getenv(killDirEnv)
	if dir == "" {
		t.Skip("run by TestAKilledProcessForgetsAfterItsNextStart")
	}
	b := open(t, dir, nil)
	b.set("0")
	b.set("1")
	b.ext.Forget()
	b.delete("0")
	fmt.Println("ready")
	select {} // until it is killed
}

func TestAKilledProcessForgetsAfterItsNextStart(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestForgetAndBeKilled$")
	cmd.Env = append(os.Environ(), killDirEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	ready := false
	for lines := bufio.NewScanner(out); !ready && lines.Scan(); {
		ready = lines.Text() == "ready"
	}
	require.True(t, ready)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()

	b := open(t, dir, nil)
	require.True(t, b.onDisk(canary+" of 0"))
	gone := b.ext.Forget()
	require.Never(t, gone, 3*lookEvery, lookEvery, "an entry of the process before is still there")
	value, err := b.Get(t.Context(), "1")
	require.NoError(t, err)
	require.Contains(t, string(value), canary+" of 1")
	b.delete("1")
	eventually(t, gone)
	require.False(t, b.onDisk(canary))
}

func TestADamagedFileThatWasKeptIsWaitedFor(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data[1-2]") // no pattern
	require.NoError(t, os.Mkdir(dir, 0o700))
	b := open(t, dir, nil)
	kept := filepath.Join(b.dir, "exporter_agentstore__traces.20260101T000000.000Z.backup")
	require.NoError(t, os.WriteFile(kept, []byte(canary), 0o600))
	gone := b.ext.Forget()
	require.Never(t, gone, 3*lookEvery, lookEvery)
	require.Equal(t, 1, b.logs.Len(), "said once")
	require.Contains(t, b.logs.All()[0].Message, "damaged or unfinished queue files")
	require.NoError(t, os.Remove(kept))
	eventually(t, gone)
}

// A process that is killed while it writes a file anew leaves the new one: all live
// entries of then.
func TestAFileThatWasNotFinishedIsWaitedFor(t *testing.T) {
	elsewhere := t.TempDir()
	b := open(t, t.TempDir(), func(c *filestorage.Config) { c.Compaction.Directory = elsewhere })
	left := filepath.Join(elsewhere, filestorage.TempDbPrefix+"123")
	require.NoError(t, os.WriteFile(left, []byte(canary), 0o600))
	gone := b.ext.Forget()
	require.Never(t, gone, 3*lookEvery, lookEvery)
	require.Zero(t, b.logs.Len(), "it may be one that is being written")
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(left, old, old))
	require.False(t, gone())
	require.False(t, gone())
	require.Equal(t, 1, b.logs.Len(), "said once")
	require.NoError(t, os.Remove(left))
	eventually(t, gone)
}

func TestAFileThatCannotBeWrittenAnewIsTriedAgain(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "not-there-yet")
	b := open(t, t.TempDir(), func(c *filestorage.Config) { c.Compaction.Directory = elsewhere })
	b.set("0")
	b.delete("0")
	gone := b.ext.Forget()
	require.Eventually(t, func() bool { return b.logs.Len() > 0 }, time.Minute, 10*time.Millisecond)
	require.False(t, gone())
	require.NoError(t, os.Mkdir(elsewhere, 0o700))
	eventually(t, gone)
	require.False(t, b.onDisk(canary))
}

func TestWhatAKillLeftOfARewriteIsRemovedAtTheNextStart(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, filestorage.TempDbPrefix+"123")
	require.NoError(t, os.WriteFile(left, []byte(canary), 0o600))
	open(t, dir, nil)
	require.NoFileExists(t, left)
}
