package agentstorageextension

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/extensiontest"

	"github.com/steptrail/steptrail/internal/contracttest"
	"github.com/steptrail/steptrail/internal/engine"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
	"github.com/steptrail/steptrail/internal/store"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// testFactory starts engines as a test can: hosted by a helper program.
func testFactory(t testing.TB) extension.Factory {
	t.Helper()
	host := enginetest.Config(t)
	return newFactory(func(ctx context.Context, cfg engine.Config) (*engine.Engine, error) {
		cfg.Executable, cfg.LibraryPath = host.Executable, host.LibraryPath
		cfg.StartTimeout = host.StartTimeout
		cfg.Loopback = len(cfg.DataDir) > 80 // too long for a socket
		return engine.Start(ctx, cfg)
	})
}

func TestTheExtensionHoldsTheContract(t *testing.T) {
	contracttest.Extension(t, testFactory(t), contracttest.Options{
		Type:   "agentstorage",
		Config: func(t testing.TB, cfg component.Config) { cfg.(*Config).DataDir = t.TempDir() },
	})
}

func TestTheStoreIsReadyOnceItsTablesAreThereAndGoneAfterShutdown(t *testing.T) {
	factory := testFactory(t)
	cfg := factory.CreateDefaultConfig().(*Config)
	cfg.DataDir = t.TempDir()
	ext, err := factory.Create(t.Context(), extensiontest.NewNopSettings(Type), cfg)
	require.NoError(t, err)
	s := ext.(Storage)
	_, err = s.Store()
	require.ErrorIs(t, err, ErrNotReady)
	require.NoError(t, ext.Start(t.Context(), componenttest.NewNopHost()))
	st := waitReady(t, s)
	require.NoError(t, st.Ping(t.Context()))
	_, err = st.Tenant("default").RunGroup(t.Context(), "none")
	require.ErrorIs(t, err, store.ErrNotFound)

	other, err := factory.Create(t.Context(), extensiontest.NewNopSettings(Type), cfg)
	require.NoError(t, err)
	require.ErrorIs(t, other.Start(t.Context(), componenttest.NewNopHost()), engine.ErrInUse, "the second owner of a data folder")

	require.NoError(t, ext.Shutdown(t.Context()))
	_, err = s.Store()
	require.ErrorIs(t, err, ErrNotReady)
}

func TestAServerThatIsAwayIsTriedUntilItComes(t *testing.T) {
	e := enginetest.StartOwn(t, func(c *engine.Config) { c.Loopback = true })
	opts := e.Options()
	factory := newFactory(func(context.Context, engine.Config) (*engine.Engine, error) { return nil, errors.New("not asked for") })
	cfg := factory.CreateDefaultConfig().(*Config)
	cfg.DSN = "http://127.0.0.1:1" // nobody listens there
	ext, err := factory.Create(t.Context(), extensiontest.NewNopSettings(Type), cfg)
	require.NoError(t, err)
	require.NoError(t, ext.Start(t.Context(), componenttest.NewNopHost()))
	require.Eventually(t, func() bool {
		_, err := ext.(Storage).Store()
		return errors.Is(err, ErrNotReady) && err.Error() != ErrNotReady.Error() // it says why
	}, 2*time.Minute, 10*time.Millisecond)
	require.NoError(t, ext.Shutdown(t.Context()), "while it is trying")
	require.NotEmpty(t, opts.Addr)
}

func TestFindSaysWhatIsMissing(t *testing.T) {
	_, err := Find(host{}, component.MustNewID("agentstorage"))
	require.ErrorContains(t, err, "service::extensions")
	id := component.MustNewID("other")
	_, err = Find(host{id: other{}}, id)
	require.ErrorContains(t, err, "no agentstorage extension")
}

func TestConfigProblemsNameTheirKeys(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"no dsn", func(c *Config) { c.DSN = "" }, "dsn must be set"},
		{"a dsn that is no address", func(c *Config) { c.DSN = "localhost" }, "dsn: want embedded"},
		{"a scheme that is not known", func(c *Config) { c.DSN = "tcp://secret@x:1" }, `dsn: scheme "tcp"`},
		{"a database in the dsn that is no name", func(c *Config) { c.DSN = "http://x:1/a-b" }, "dsn: the database's name"},
		{"embedded without a folder", func(c *Config) { c.DataDir = "" }, "data_dir must be set"},
		{"a database that is no name", func(c *Config) { c.Database = "a`b" }, "database is"},
		{"a cluster that is no name", func(c *Config) { c.DSN = "http://x:1"; c.Cluster = "a b" }, "cluster is"},
		{"a cluster of the embedded engine", func(c *Config) { c.Cluster = "main" }, "cluster needs a server"},
		{"a user of the embedded engine", func(c *Config) { c.Username = "ingest" }, "username needs a server"},
		{"an empty host between others", func(c *Config) { c.DSN = "clickhouse://a:9000,,b:9000" }, "dsn: not a ClickHouse address"},
		{"two users", func(c *Config) { c.DSN = "http://u@x:1"; c.Username = "ingest" }, "username is given twice"},
		{"two passwords", func(c *Config) { c.DSN = "http://u:p@x:1"; c.Password = "hunter2" }, "password is given twice"},
		{"a password and its file", func(c *Config) { c.DSN = "http://x:1"; c.Password = "hunter2"; c.PasswordFile = "f" }, "password is given twice"},
		{"authorities without TLS", func(c *Config) { c.DSN = "http://x:1"; c.CAFile = "f" }, "need TLS"},
		{"half a certificate", func(c *Config) { c.DSN = "clickhouse://x:1?secure=true"; c.CertFile = "f" }, "go together"},
		{"too little memory", func(c *Config) { c.Engine.MaxMemoryMiB = 10 }, "engine::max_memory_mib"},
		{"nothing at once", func(c *Config) { c.Engine.MaxConcurrent = 0 }, "engine::max_concurrent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := createDefaultConfig().(*Config)
			c.change(cfg)
			require.ErrorContains(t, confmap.Validate(cfg), c.want)
		})
	}
}

func TestAServersDSNIsTakenWithItsDatabase(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.DSN = "clickhouse://user:secret@db.example:9000/traces?compress=lz4"
	require.NoError(t, confmap.Validate(cfg))
	opts, err := cfg.options()
	require.NoError(t, err)
	require.Equal(t, "traces", cfg.database(opts))
	cfg.Database = "own"
	require.Equal(t, "own", cfg.database(opts), "the config's own goes first")
}

func waitReady(t *testing.T, s Storage) *store.Store {
	t.Helper()
	var st *store.Store
	require.Eventually(t, func() bool {
		var err error
		st, err = s.Store()
		return err == nil
	}, 5*time.Minute, 5*time.Millisecond)
	return st
}

type host map[component.ID]component.Component

func (h host) GetExtensions() map[component.ID]component.Component { return h }

type other struct{ component.Component }
