package agentstorageextension

import (
	"context"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/steptrail/steptrail/internal/engine"
)

func serverConfig(change func(*Config)) *Config {
	cfg := createDefaultConfig().(*Config)
	cfg.DSN = "clickhouse://a.example:9440,b.example:9440/traces?secure=true&connection_open_strategy=round_robin"
	change(cfg)
	return cfg
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestAServerIsSignedInToWithTheFilesPassword(t *testing.T) {
	for _, text := range []string{"hunter2", "hunter2\n", "hunter2\r\n"} {
		cfg := serverConfig(func(c *Config) { c.Username, c.PasswordFile = "ingest", file(t, text) })
		require.NoError(t, confmap.Validate(cfg))
		opts, err := cfg.options()
		require.NoError(t, err)
		require.NoError(t, cfg.access(opts))
		require.Equal(t, []string{"a.example:9440", "b.example:9440"}, opts.Addr)
		require.Equal(t, "ingest", opts.Auth.Username)
		require.Equal(t, "hunter2", opts.Auth.Password)
		require.NotNil(t, opts.TLS)
	}
}

func TestAFileThatIsNoPasswordIsNamedAndNotShown(t *testing.T) {
	for _, text := range []string{"", "\n", "hunter2\nhunter3\n", "hunter2\x00"} {
		cfg := serverConfig(func(c *Config) { c.PasswordFile = file(t, text) })
		opts, err := cfg.options()
		require.NoError(t, err)
		err = cfg.access(opts)
		require.ErrorContains(t, err, cfg.PasswordFile)
		require.NotContains(t, err.Error(), "hunter")
	}
	cfg := serverConfig(func(c *Config) { c.CAFile = file(t, "no certificate") })
	opts, err := cfg.options()
	require.NoError(t, err)
	require.ErrorContains(t, cfg.access(opts), "ca_file: "+cfg.CAFile)
}

// Whatever goes wrong, from a mistyped address to a server that refuses, and
// whatever of the config is printed: no password is in it.
func TestNoPasswordIsShown(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer refuses.Close()
	for _, dsn := range []string{
		"http://user:hunter2@db.example:8123/%zz", "clickhouse://user:hunter2@a:b:c", "http://user:hunter2@127.0.0.1:1", "https://user:hunter2@127.0.0.1:1",
		"clickhouse://user:hunter2@127.0.0.1:1", "clickhouse://user:hunter2@127.0.0.1:1?secure=nonsense&hunter2=1",
		strings.Replace(refuses.URL, "//", "//user:hunter2@", 1), strings.Replace(refuses.URL, "//", "//user:hunter2@", 1) + "?password=hunter2",
	} {
		t.Run(strings.ReplaceAll(dsn, "hunter2", "…"), func(t *testing.T) {
			core, logs := observer.New(zap.DebugLevel)
			set := extensiontest.NewNopSettings(Type)
			set.Logger = zap.New(core)
			cfg := createDefaultConfig().(*Config)
			cfg.DSN = configopaque.String(dsn)
			said := fmt.Sprintf("%v %+v", cfg, *cfg)
			if err := confmap.Validate(cfg); err != nil {
				said += err.Error()
			}
			factory := newFactory(func(context.Context, engine.Config) (*engine.Engine, error) { return nil, nil })
			ext, err := factory.Create(t.Context(), set, cfg)
			require.NoError(t, err)
			if err := ext.Start(t.Context(), componenttest.NewNopHost()); err != nil {
				said += err.Error()
			} else {
				require.Eventually(t, func() bool { return logs.FilterMessageSnippet("not ready").Len() > 0 }, 2*time.Minute, 10*time.Millisecond)
				_, err := ext.(Storage).Store()
				require.ErrorIs(t, err, ErrNotReady)
				said += err.Error()
				require.NoError(t, ext.Shutdown(t.Context()))
			}
			for _, e := range logs.All() {
				said += fmt.Sprint(e.Message, e.ContextMap())
			}
			require.NotContains(t, said, "hunter2")
		})
	}
}

func TestAServersCertificateIsTrustedByOnesOwnAuthority(t *testing.T) {
	asked := make(chan string, 100)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("X-ClickHouse-User") + ":" + r.Header.Get("X-ClickHouse-Key")
		w.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()
	ca := file(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	cfg := createDefaultConfig().(*Config)
	cfg.DSN = configopaque.String(server.URL)
	cfg.Username, cfg.Password = "ingest", "hunter2"

	why := func() string {
		ext, err := newStorage(extensiontest.NewNopSettings(Type), cfg, nil)
		require.NoError(t, err)
		require.NoError(t, ext.Start(t.Context(), componenttest.NewNopHost()))
		defer func() { require.NoError(t, ext.Shutdown(t.Context())) }()
		require.Eventually(t, func() bool { _, err = ext.Store(); return err.Error() != ErrNotReady.Error() }, 2*time.Minute, 5*time.Millisecond)
		return err.Error()
	}
	require.Contains(t, why(), "certificate")
	require.Empty(t, asked, "nothing was said to a server that is not trusted")
	cfg.CAFile = ca
	require.NotContains(t, why(), "certificate")
	require.Equal(t, "ingest:hunter2", <-asked)
}
