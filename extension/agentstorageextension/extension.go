package agentstorageextension

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.uber.org/zap"

	"github.com/steptrail/steptrail/internal/engine"
	"github.com/steptrail/steptrail/internal/store"
)

// Storage is what other components ask the extension for.
type Storage interface {
	// Store gives the store, or ErrNotReady until its tables are there. It does
	// not block and may be called at any time.
	Store() (*store.Store, error)
}

// ErrNotReady says that the store is not there yet. It is worth another try.
var ErrNotReady = errors.New("store is not ready")

// Find looks the extension up among those of the host.
func Find(host component.Host, id component.ID) (Storage, error) {
	ext, ok := host.GetExtensions()[id]
	if !ok {
		return nil, fmt.Errorf("no extension %q: define it and list it under service::extensions", id)
	}
	s, ok := ext.(Storage)
	if !ok {
		return nil, fmt.Errorf("extension %q is no %s extension", id, Type)
	}
	return s, nil
}

// storage is the extension.
type storage struct {
	cfg    *Config
	logger *zap.Logger
	start  startEngine
	health *health

	engine *engine.Engine     // nil with a server
	stop   context.CancelFunc // ends migrate
	done   sync.WaitGroup     // of migrate

	mu    sync.Mutex
	store *store.Store // from Start to Shutdown
	err   error        // why it cannot be used yet; nil when it can
}

var (
	_ extension.Extension = (*storage)(nil)
	_ Storage             = (*storage)(nil)
)

func newStorage(set extension.Settings, cfg *Config, start startEngine) (*storage, error) {
	h, err := newHealth(set.MeterProvider)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return &storage{cfg: cfg, logger: set.Logger, start: start, health: h, err: ErrNotReady}, nil
}

// Store implements Storage.
func (s *storage) Store() (*store.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	return s.store, nil
}

// Start starts the embedded engine and waits for it, so that a data folder in
// use or a missing library is an error of the start. The tables follow in the
// background: a server may be away.
func (s *storage) Start(ctx context.Context, _ component.Host) error {
	log := slog.New(newZapHandler(s.logger))
	opts, database, err := s.connect(ctx, log)
	if err != nil {
		return err
	}
	st, err := store.Open(ctx, opts, store.Config{Database: database, Cluster: s.cfg.Cluster, Logger: log})
	if err != nil {
		return errors.Join(err, s.stopEngine(ctx))
	}
	s.mu.Lock()
	s.store = st
	s.mu.Unlock()
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	s.done.Go(func() { s.prepare(background, st) }) // ended by Shutdown
	return nil
}

// connect gives the options of the server, or of the engine that it starts.
func (s *storage) connect(ctx context.Context, log *slog.Logger) (*clickhouse.Options, string, error) {
	if !s.cfg.embedded() {
		opts, err := s.cfg.options()
		if err != nil {
			return nil, "", fmt.Errorf("dsn: %w", err)
		}
		if err := s.cfg.access(opts); err != nil {
			return nil, "", err
		}
		return opts, s.cfg.database(opts), nil
	}
	e, err := s.start(ctx, engine.Config{
		DataDir:       filepath.Join(s.cfg.DataDir, "engine"),
		MaxMemory:     s.cfg.Engine.MaxMemoryMiB << 20,
		MaxConcurrent: s.cfg.Engine.MaxConcurrent,
		Logger:        log,
	})
	if err != nil {
		return nil, "", fmt.Errorf("start the embedded engine: %w", err)
	}
	s.engine = e
	restarts := e.Restarts
	s.health.restarts.Store(&restarts)
	return e.Options(s.cfg.Database), s.cfg.Database, nil
}

// Time between tries to reach a server that is away.
const (
	firstWait = 200 * time.Millisecond
	maxWait   = 10 * time.Second
	// tryTimeout bounds one try, so that a server that accepts and says nothing
	// does not hold up the next.
	tryTimeout = 2 * time.Minute
)

// prepare migrates until it succeeds or ctx ends, then opens the store to
// others and watches whether it answers.
func (s *storage) prepare(ctx context.Context, st *store.Store) {
	wait := firstWait
	for {
		err := s.try(ctx, st)
		if err == nil {
			s.mu.Lock()
			s.err = nil
			s.mu.Unlock()
			s.logger.Info("store is ready")
			s.health.watch(ctx, st)
			return
		}
		if ctx.Err() != nil {
			return
		}
		s.mu.Lock()
		s.err = fmt.Errorf("%w: %w", ErrNotReady, err)
		s.mu.Unlock()
		s.logger.Warn("store is not ready, trying again", zap.Error(err), zap.Duration("wait", wait))
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
			wait = min(2*wait, maxWait)
		}
	}
}

func (s *storage) try(ctx context.Context, st *store.Store) error {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	if s.cfg.Migrate {
		return st.Migrate(ctx)
	}
	return st.Ping(ctx)
}

// Shutdown closes the connections, then stops the engine.
func (s *storage) Shutdown(ctx context.Context) error {
	if s.stop != nil {
		s.stop()
		s.done.Wait()
	}
	s.mu.Lock()
	st := s.store
	s.store, s.err = nil, ErrNotReady
	s.mu.Unlock()
	var err error
	if st != nil {
		err = st.Close()
	}
	return errors.Join(err, s.stopEngine(ctx), s.health.stop.Unregister())
}

func (s *storage) stopEngine(ctx context.Context) error {
	if s.engine == nil {
		return nil
	}
	e := s.engine
	s.engine = nil
	if err := e.Shutdown(ctx); err != nil {
		return fmt.Errorf("stop the embedded engine: %w", err)
	}
	return nil
}
