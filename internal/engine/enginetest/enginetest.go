// Package enginetest gives tests the real ClickHouse: one engine for a test
// binary, started when first asked for, and an empty database for each test.
//
//	func TestMain(m *testing.M) { enginetest.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		conn := enginetest.Start(t).Conn()
//
// The environment variable STEPTRAIL_TEST_ENGINE says what happens where the
// library is not installed: skip (such tests never run), auto (they are skipped,
// the default), required (they fail; for CI).
package enginetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/steptrail/steptrail/internal/engine"
)

// ModeEnv names the environment variable with the mode.
const ModeEnv = "STEPTRAIL_TEST_ENGINE"

// Engine is a running engine with a database of the test's own.
type Engine struct {
	*engine.Engine
	// Database is empty at first and dropped when the test ends.
	Database string

	t testing.TB
}

// shared is the engine of this test binary.
var shared struct {
	sync.Mutex
	engine *engine.Engine
	err    error // of a start that failed; it is not tried again
}

// How long a start and an end may take on a machine that is busy with other things.
const (
	startLimit    = 5 * time.Minute
	shutdownLimit = 2 * time.Minute
)

// Start gives t a fresh database on the shared engine, or skips t, or fails it,
// as the mode says. Tests may run in parallel.
func Start(t testing.TB) *Engine {
	t.Helper()
	return use(t, sharedEngine(t))
}

// StartOwn gives t an engine of its own, for tests that stop or kill it. change
// may be nil. The engine is shut down when the test ends.
func StartOwn(t testing.TB, change func(*engine.Config)) *Engine {
	t.Helper()
	cfg := Config(t)
	if change != nil {
		change(&cfg)
	}
	e, err := engine.Start(t.Context(), cfg)
	if err != nil {
		t.Fatalf("start the engine: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), shutdownLimit)
		defer cancel()
		if err := e.Shutdown(ctx); err != nil {
			t.Errorf("shut the engine down: %v", err)
		}
	})
	return use(t, e)
}

// Config for engine.Start in a test: the library, a program that can host it
// and an empty directory. It skips or fails t where there is no library. The
// caller shuts down what it starts.
func Config(t testing.TB) engine.Config {
	t.Helper()
	library := Library(t)
	host, err := buildHost()
	if err != nil {
		t.Fatalf("build the engine's host: %v", err)
	}
	dir, err := os.MkdirTemp("", "engine") //nolint:usetesting // t.TempDir is often too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return engine.Config{DataDir: dir, LibraryPath: library, Executable: host, StartTimeout: startLimit, Logger: testLogger()}
}

// Library is the path of libchdb.so. It skips or fails t where there is none.
func Library(t testing.TB) string {
	t.Helper()
	mode := os.Getenv(ModeEnv)
	if mode == "skip" {
		t.Skipf("%s=skip", ModeEnv)
	}
	path, err := findLibrary()
	switch {
	case err == nil:
		return path
	case mode == "required":
		t.Fatalf("%s=required: %v", ModeEnv, err)
	case mode == "" || mode == "auto":
		t.Skip(err)
	default:
		t.Fatalf("%s=%s: want skip, auto or required", ModeEnv, mode)
	}
	return ""
}

func findLibrary() (string, error) {
	dir, err := os.Getwd() // of a test: the folder of its package
	if err != nil {
		return "", err
	}
	return engine.FindLibrary(dir)
}

func sharedEngine(t testing.TB) *engine.Engine {
	t.Helper()
	library := Library(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.engine == nil && shared.err == nil {
		shared.engine, shared.err = startShared(library)
	}
	if shared.err != nil {
		t.Fatalf("start the engine: %v", shared.err)
	}
	return shared.engine
}

func startShared(library string) (*engine.Engine, error) {
	host, err := buildHost()
	if err != nil {
		return nil, fmt.Errorf("build the engine's host: %w", err)
	}
	dir, err := os.MkdirTemp("", "engine")
	if err != nil {
		return nil, err
	}
	return engine.Start(context.Background(), engine.Config{
		DataDir:      dir,
		Temporary:    true, // also where the test binary is killed
		LibraryPath:  library,
		Executable:   host,
		StartTimeout: startLimit,
		Logger:       testLogger(),
	})
}

// testLogger shows what goes wrong with the engine beside the tests' output.
func testLogger() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// use makes a database for t.
func use(t testing.TB, e *engine.Engine) *Engine {
	t.Helper()
	name := "test_" + strings.ToLower(rand.Text()[:12])
	mustExec(t, e, "CREATE DATABASE "+name)
	t.Cleanup(func() {
		if err := tryExec(e, "DROP DATABASE IF EXISTS "+name); err != nil && !errors.Is(err, engine.ErrClosed) {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return &Engine{Engine: e, Database: name, t: t}
}

func mustExec(t testing.TB, e *engine.Engine, statement string) {
	t.Helper()
	if err := tryExec(e, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func tryExec(e *engine.Engine, statement string) error {
	db := clickhouse.OpenDB(e.Options(""))
	defer func() { _ = db.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownLimit)
	defer cancel()
	_, err := db.ExecContext(ctx, statement)
	return err
}

// Options for clickhouse.Open on the test's database.
func (e *Engine) Options() *clickhouse.Options { return e.Engine.Options(e.Database) }

// Conn is a client of the test's database, closed when the test ends.
func (e *Engine) Conn() driver.Conn {
	e.t.Helper()
	conn, err := clickhouse.Open(e.Options())
	if err != nil {
		e.t.Fatalf("open a client: %v", err)
	}
	e.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// DB is a database/sql handle on the test's database, closed when the test ends.
func (e *Engine) DB() *sql.DB {
	e.t.Helper()
	db := clickhouse.OpenDB(e.Options())
	e.t.Cleanup(func() { _ = db.Close() })
	return db
}

// Exec runs statements on the test's database and fails the test on an error.
func (e *Engine) Exec(statements ...string) {
	e.t.Helper()
	db := e.DB()
	for _, statement := range statements {
		if _, err := db.ExecContext(e.t.Context(), statement); err != nil {
			e.t.Fatalf("%s: %v", statement, err)
		}
	}
}

// root is the folder of the module that the test belongs to.
func root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod above the test's folder")
		}
		dir = parent
	}
}
