package filestorageextension

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/steptrail/steptrail/internal/meter"
)

const scopeName = "github.com/steptrail/steptrail/extension/filestorageextension"

// described are all metrics of the extension.
var described = []meter.Metric{
	{
		Name: "steptrail_queue_rewrites", Kind: meter.Counter, Unit: "{file}", Labels: []string{"result"},
		Description: "Queue files written anew so that nothing erased stays in them, by result (ok, error).",
	},
}

const (
	// lookEvery is how often it is looked whether what is to be forgotten has been
	// taken out, while there is any.
	lookEvery = 500 * time.Millisecond
	// retryAfter is the time between tries to write a file anew.
	retryAfter = 2 * time.Second
)

// files is the extension.
type files struct {
	storage.Extension
	cfg      *filestorage.Config
	log      *zap.Logger
	rewrites metric.Int64Counter

	wake chan struct{} // one token: something is to be forgotten
	stop context.CancelFunc
	done sync.WaitGroup

	mu      sync.Mutex
	clients []*client
	warned  bool // of damaged files that were kept
}

var (
	_ storage.Extension   = (*files)(nil)
	_ extension.Extension = (*files)(nil)
)

func newFiles(set extension.Settings, inner storage.Extension, cfg *filestorage.Config) (*files, error) {
	m := meter.New(set.MeterProvider, scopeName, described)
	f := &files{Extension: inner, cfg: cfg, log: set.Logger, rewrites: m.Counter("steptrail_queue_rewrites"), wake: make(chan struct{}, 1)}
	if err := m.Err(); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return f, nil
}

// Start starts upstream's extension, and what writes files anew.
func (f *files) Start(ctx context.Context, host component.Host) error {
	if err := f.Extension.Start(ctx, host); err != nil {
		return err
	}
	for _, result := range []string{"ok", "error"} {
		f.rewrites.Add(ctx, 0, metric.WithAttributes(attribute.String("result", result)))
	}
	ctx, f.stop = context.WithCancel(context.WithoutCancel(ctx))
	f.done.Go(func() { f.run(ctx) }) // ends in Shutdown
	return nil
}

// Shutdown ends what writes files anew, then upstream's extension.
func (f *files) Shutdown(ctx context.Context) error {
	if f.stop != nil {
		f.stop()
		f.done.Wait()
	}
	return f.Extension.Shutdown(ctx)
}

// GetClient implements storage.Extension.
func (f *files) GetClient(ctx context.Context, kind component.Kind, id component.ID, name string) (storage.Client, error) {
	inner, err := f.Extension.GetClient(ctx, kind, id, name)
	if err != nil {
		return nil, err
	}
	c, err := newClient(ctx, inner)
	if err != nil {
		return nil, errors.Join(err, inner.Close(ctx))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clients = append(f.clients, c)
	return c, nil
}

// Forget asks that nothing of what has been stored so far is in the files once
// it has been taken out. The function that it gives reports whether that has
// come true: everything that was stored before the call has been taken out
// since, and the files were written anew afterwards. It never blocks. Both may be
// called at any time, from any goroutine.
func (f *files) Forget() (gone func() bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	type mark struct {
		of *client
		at uint64
	}
	var marks []mark
	for _, c := range f.clients {
		if !c.ended() {
			marks = append(marks, mark{c, c.forget()})
		}
	}
	select {
	case f.wake <- struct{}{}:
	default: // it will look anyway
	}
	return func() bool {
		for _, m := range marks {
			if !m.of.forgotten(m.at) {
				return false
			}
		}
		return !f.damaged()
	}
}

// damaged reports whether upstream has kept files that nobody takes anything out of
// any more, or may have: damaged ones, and those that were being written anew when a
// process was killed. One that is being written now is such a file until it is done.
func (f *files) damaged() bool {
	kept, err := named(f.cfg.Directory, func(name string) bool { return strings.HasSuffix(name, ".backup") })
	if err != nil {
		return true
	}
	begun, err := named(f.cfg.Compaction.Directory, func(name string) bool { return strings.HasPrefix(name, filestorage.TempDbPrefix) })
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return true
	}
	all := slices.Concat(kept, begun)
	if len(all) == 0 {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.warned && (len(kept) > 0 || slices.ContainsFunc(begun, isLeft)) {
		f.warned = true
		f.log.Warn("an erasure waits until damaged or unfinished queue files are removed: they may hold what is to be erased", zap.Strings("files", all))
	}
	return true
}

// named gives the paths of the files in a folder whose names are as asked for.
func named(dir string, is func(name string) bool) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if is(e.Name()) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, err
}

// leftAfter is for how long nothing was written to a file that nobody writes.
const leftAfter = time.Minute

func isLeft(path string) bool {
	info, err := os.Stat(path)
	return err == nil && time.Since(info.ModTime()) > leftAfter
}

// run writes files anew until ctx ends.
func (f *files) run(ctx context.Context) {
	wait := time.NewTimer(lookEvery)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
		case <-wait.C:
		}
		if next := f.look(ctx); next > 0 {
			wait.Reset(next)
		} else {
			wait.Stop() // until somebody wants something forgotten
		}
	}
}

// look writes the files anew out of which everything was taken that is to be
// forgotten, and gives when to look again: 0 if nothing is left to do.
func (f *files) look(ctx context.Context) (next time.Duration) {
	f.mu.Lock()
	clients := append([]*client(nil), f.clients...)
	f.mu.Unlock()
	for _, c := range clients {
		wrote, pending, err := c.look(func(inner compacter) error {
			if err := inner.Compact(f.cfg.Compaction.Directory, f.cfg.Timeout, f.cfg.Compaction.MaxTransactionSize); err != nil {
				return err
			}
			return syncAll(f.cfg.Directory)
		})
		switch {
		case err != nil:
			f.rewrites.Add(ctx, 1, metric.WithAttributes(attribute.String("result", "error")))
			f.log.Error("a queue file could not be written anew; an erasure waits for it", zap.Error(err))
			next = retryAfter
			continue
		case wrote:
			f.rewrites.Add(ctx, 1, metric.WithAttributes(attribute.String("result", "ok")))
		}
		if pending && next == 0 {
			next = lookEvery
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	open := f.clients[:0]
	for _, c := range f.clients {
		if !c.ended() {
			open = append(open, c)
		}
	}
	clear(f.clients[len(open):])
	f.clients = open
	return next
}

// syncAll writes a folder and the files in it out to the disk, so that a power
// cut does not bring back what a file was before.
func syncAll(dir string) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	names := []string{"."}
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	for _, name := range names {
		file, err := root.Open(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := errors.Join(file.Sync(), file.Close()); err != nil {
			return err
		}
	}
	return nil
}
