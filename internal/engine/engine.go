package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/steptrail/steptrail/internal/engine/chhttp"
)

// ErrUnavailable is in every error of a connection to an engine that is down or
// has gone down: the same call may succeed later, and an insert may or may not
// have been stored.
var ErrUnavailable = errors.New("the engine is not available")

// ErrClosed is in errors after Shutdown.
var ErrClosed = errors.New("the engine is shut down")

// Engine is a running ClickHouse. Its methods may be called from several
// goroutines.
type Engine struct {
	cfg  Config
	host hostConfig
	lock *os.File

	stopping chan struct{} // closed by Shutdown
	stopOnce sync.Once
	done     chan struct{} // closed when the child is gone for good

	mu       sync.Mutex
	current  *process      // the child that serves; nil between two
	changed  chan struct{} // closed and replaced when current changes
	restarts int64
	lastErr  error // of the last start that failed
}

// maxSocketPath is what fits into a unix socket's address, with its final NUL.
const maxSocketPath = 107

// Start opens the data directory and waits until the engine answers, or ctx
// ends. It fails with ErrInUse where another process owns the directory, and
// with ErrLibraryNotFound. The engine lives until Shutdown, or as long as this
// process: it is started again when it crashes.
func Start(ctx context.Context, cfg Config) (*Engine, error) {
	if os.Getenv(childEnv) != "" {
		return nil, errors.New("engine: started inside an engine's child: its program does not call engine.ChildMain")
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if cfg.LibraryPath == "" {
		if cfg.LibraryPath, err = FindLibrary(); err != nil {
			return nil, fmt.Errorf("engine: %w", err)
		}
	}
	if err := os.MkdirAll(directoriesOf(cfg.DataDir).run, 0o700); err != nil {
		return nil, fmt.Errorf("engine: make the data directory: %w", err)
	}
	// One directory has one name: the library compares paths as text.
	if cfg.DataDir, err = filepath.EvalSymlinks(cfg.DataDir); err != nil {
		return nil, fmt.Errorf("engine: resolve DataDir: %w", err)
	}
	lock, err := lockDir(ctx, cfg.DataDir)
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	e := &Engine{
		cfg:      cfg,
		host:     newHostConfig(cfg),
		lock:     lock,
		stopping: make(chan struct{}),
		done:     make(chan struct{}),
		changed:  make(chan struct{}),
	}
	started := make(chan error, 1)
	go e.supervise(started) // ends with Shutdown, or when the first start fails
	select {
	case err = <-started:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		e.stopOnce.Do(func() { close(e.stopping) })
		<-e.done
		return nil, fmt.Errorf("engine: %w", err)
	}
	return e, nil
}

func newHostConfig(cfg Config) hostConfig {
	host := hostConfig{
		Library:        cfg.LibraryPath,
		DataDir:        cfg.DataDir,
		MaxMemory:      cfg.MaxMemory,
		MaxConcurrent:  cfg.MaxConcurrent,
		MaxQueryBytes:  cfg.MaxQueryBytes,
		MaxInsertBytes: cfg.MaxInsertBytes,
		Network:        "unix",
		Socket:         filepath.Join(directoriesOf(cfg.DataDir).run, "engine.sock"),
		Temporary:      cfg.Temporary,
	}
	if cfg.Loopback || len(host.Socket) > maxSocketPath {
		host.Network, host.Socket, host.Secret = "tcp", "", rand.Text()
	}
	return host
}

// Back-off between two starts: it doubles up to the most, and begins anew after
// a child that served for a while.
const (
	firstBackOff = 100 * time.Millisecond
	mostBackOff  = 10 * time.Second
	calmAfter    = 30 * time.Second
)

// supervise keeps a child running until Shutdown. It reports the first start.
func (e *Engine) supervise(started chan<- error) {
	defer close(e.done)
	defer func() { _ = e.lock.Close() }()
	if e.cfg.Temporary {
		defer func() { _ = os.RemoveAll(e.cfg.DataDir) }()
	}
	backOff := firstBackOff
	for first := true; ; first = false {
		begin := time.Now()
		child, err := startProcess(e.cfg, e.host, e.lock, e.stopping)
		if err == nil {
			e.setCurrent(child, nil)
		}
		if first {
			started <- err
			if err != nil {
				return
			}
		}
		if err == nil {
			e.cfg.Logger.Info("engine started", slog.String("version", child.status.Version),
				slog.Int("pid", child.handle.Pid), slog.Duration("took", time.Since(begin)))
			if e.watch(child) {
				return
			}
			err = fmt.Errorf("the engine's process ended (%w)", errorOr(child.err, errors.New("exit code 0")))
		}
		if time.Since(begin) > calmAfter {
			backOff = firstBackOff
		}
		e.setCurrent(nil, err)
		e.cfg.Logger.Error("engine is down, starting it again", slog.Any("error", err), slog.Duration("after", backOff))
		select {
		case <-e.stopping:
			return
		case <-time.After(backOff):
		}
		backOff = min(2*backOff, mostBackOff)
		e.mu.Lock()
		e.restarts++
		e.mu.Unlock()
	}
}

// watch waits until the child ends, and reports whether that was asked for.
func (e *Engine) watch(child *process) (stopped bool) {
	select {
	case <-child.exited:
		return false
	case <-e.stopping:
		child.stop()
		<-child.exited
		e.setCurrent(nil, ErrClosed)
		return true
	}
}

func (e *Engine) setCurrent(child *process, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.current, e.lastErr = child, err
	close(e.changed)
	e.changed = make(chan struct{})
}

// Shutdown lets running statements end, for a few seconds, then kills them and
// ends the child; when ctx ends first, the child is killed. Stored data is safe
// either way. It returns when the child is gone and the directory is free. A
// second call waits for the first.
func (e *Engine) Shutdown(ctx context.Context) error {
	e.stopOnce.Do(func() { close(e.stopping) })
	select {
	case <-e.done:
		return nil
	case <-ctx.Done():
	}
	e.mu.Lock()
	child := e.current
	e.mu.Unlock()
	if child != nil {
		child.kill()
	}
	<-e.done
	return ctx.Err()
}

// Wait blocks until the engine serves: at once as a rule, later after a crash.
// It fails with ErrClosed, or with ErrUnavailable when ctx ends.
func (e *Engine) Wait(ctx context.Context) error {
	_, err := e.wait(ctx)
	return err
}

func (e *Engine) wait(ctx context.Context) (*process, error) {
	for {
		e.mu.Lock()
		child, changed, lastErr := e.current, e.changed, e.lastErr
		e.mu.Unlock()
		if child != nil {
			return child, nil
		}
		select {
		case <-e.stopping:
			return nil, ErrClosed
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w (%w)", ErrUnavailable, ctx.Err(), errorOr(lastErr, errors.New("it is starting")))
		}
	}
}

// Health asks the engine whether it answers. It does not wait for a restart:
// between two children it fails with ErrUnavailable and the reason.
func (e *Engine) Health(ctx context.Context) error {
	e.mu.Lock()
	child, lastErr := e.current, e.lastErr
	e.mu.Unlock()
	if child == nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, errorOr(lastErr, errors.New("it is starting")))
	}
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return e.dial(ctx) },
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+hostName+"/health", http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set(chhttp.SecretHeader, e.host.Secret)
	response, err := transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
		return fmt.Errorf("%w: %s", ErrUnavailable, text)
	}
	return nil
}

// Restarts counts the starts after the first, whether they succeeded or not.
func (e *Engine) Restarts() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.restarts
}

// PID is the process of the child that serves, 0 between two.
func (e *Engine) PID() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.current == nil {
		return 0
	}
	return e.current.handle.Pid
}

// Version of ClickHouse, as in SELECT version(); empty between two children.
func (e *Engine) Version() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.current == nil {
		return ""
	}
	return e.current.status.Version
}
