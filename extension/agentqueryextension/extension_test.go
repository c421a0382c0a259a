package agentqueryextension

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/extensiontest"

	"github.com/steptrail/steptrail/extension/agentstorageextension"
	"github.com/steptrail/steptrail/internal/contracttest"
	"github.com/steptrail/steptrail/internal/engine"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
	"github.com/steptrail/steptrail/internal/store"
	"github.com/steptrail/steptrail/query"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func toText(v any) string { return fmt.Sprint(v) }

// fakeStorage is a storage extension without an engine.
type fakeStorage struct {
	component.StartFunc
	component.ShutdownFunc
	store *store.Store
	err   error
}

func (f *fakeStorage) Store() (*store.Store, error) { return f.store, f.err }

type host map[component.ID]component.Component

func (h host) GetExtensions() map[component.ID]component.Component { return h }

func hostWith(f *fakeStorage) host {
	return host{component.MustNewID("agentstorage"): f}
}

func TestTheExtensionHoldsTheContract(t *testing.T) {
	contracttest.Extension(t, NewFactory(), contracttest.Options{
		Type:           "agentquery",
		Config:         func(t testing.TB, cfg component.Config) { set(t, cfg.(*Config)) },
		Host:           func(testing.TB) component.Host { return hostWith(&fakeStorage{err: agentstorageextension.ErrNotReady}) },
		DefaultInvalid: "policy_file",
	})
}

func set(t testing.TB, c *Config) {
	c.Endpoint, c.PolicyFile, c.DataDir = "127.0.0.1:0", "builtin:demo", t.TempDir()
}

// serve starts the extension over a storage and gives it with its address.
func serve(t testing.TB, f *fakeStorage, edit func(*Config)) (*server, string) {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	set(t, cfg)
	if edit != nil {
		edit(cfg)
	}
	require.NoError(t, cfg.Validate())
	s, err := newServer(extensiontest.NewNopSettings(Type), cfg)
	require.NoError(t, err)
	var asked atomic.Int64
	s.now = func() time.Time { return time.Now().Add(time.Duration(asked.Add(1)) * time.Second) } // no list reuses what another derived
	require.NoError(t, s.Start(t.Context(), hostWith(f)))
	t.Cleanup(func() { require.NoError(t, s.Shutdown(context.Background())) }) //nolint:usetesting // the test's own context has ended by then
	return s, "http://" + s.listener.Addr().String()
}

var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func fetch(t testing.TB, url string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	res, err := client.Do(req)
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode, body
}

func TestItIsReadyOnceStoreAndPipelinesAre(t *testing.T) {
	f := &fakeStorage{err: agentstorageextension.ErrNotReady}
	s, url := serve(t, f, nil)
	ready := func() (int, string) {
		status, body := fetch(t, url+"/readyz")
		return status, string(body)
	}
	status, body := ready()
	require.Equal(t, 503, status)
	require.Contains(t, body, "migrations")
	status, body = func() (int, string) { s, b := fetch(t, url+"/api/v1/runs"); return s, string(b) }()
	require.Equal(t, 503, status)
	require.NotContains(t, body, "engine")

	f.err = nil
	status, body = ready()
	require.Equal(t, 503, status)
	require.Contains(t, body, "pipelines")
	require.NoError(t, s.Ready())
	status, _ = ready()
	require.Equal(t, 200, status)
	require.NoError(t, s.NotReady())
	status, _ = ready()
	require.Equal(t, 503, status)
	status, _ = fetch(t, url+"/healthz")
	require.Equal(t, 200, status)
}

func TestItDependsOnItsStorageAndRefusesAHostWithoutIt(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	set(t, cfg)
	s, err := newServer(extensiontest.NewNopSettings(Type), cfg)
	require.NoError(t, err)
	require.Equal(t, []component.ID{component.MustNewID("agentstorage")}, s.Dependencies())
	require.ErrorContains(t, s.Start(t.Context(), host{}), "agentstorage")
	require.NoError(t, s.Shutdown(t.Context()))
}

func TestAPolicyThatCannotBeReadIsAnErrorOfTheCreation(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.PolicyFile = t.TempDir() + "/none.yaml"
	_, err := NewFactory().Create(t.Context(), extensiontest.NewNopSettings(Type), cfg)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestAPortInUseIsAnErrorOfTheStartThatNamesIt(t *testing.T) {
	s, _ := serve(t, &fakeStorage{}, nil)
	cfg := createDefaultConfig().(*Config)
	set(t, cfg)
	cfg.Endpoint = s.listener.Addr().String()
	other, err := newServer(extensiontest.NewNopSettings(Type), cfg)
	require.NoError(t, err)
	require.ErrorContains(t, other.Start(t.Context(), hostWith(&fakeStorage{})), cfg.Endpoint)
	require.NoError(t, other.Shutdown(t.Context()))
}

func TestForeignHostNamesAreRefusedOnLoopback(t *testing.T) {
	_, url := serve(t, &fakeStorage{err: agentstorageextension.ErrNotReady}, nil)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/healthz", http.NoBody)
	require.NoError(t, err)
	req.Host = "evil.example"
	res, err := client.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusMisdirectedRequest, res.StatusCode)
}

func TestHeadersBeyondTheLimitAreRefused(t *testing.T) {
	_, url := serve(t, &fakeStorage{err: agentstorageextension.ErrNotReady}, nil)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/healthz", http.NoBody)
	require.NoError(t, err)
	req.Header.Set("X-Large", fmt.Sprintf("%0*d", maxHeaderBytes+8192, 0))
	res, err := client.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, res.StatusCode)
}

func TestErrorsOfTheStoreAreToldApart(t *testing.T) {
	require.NoError(t, classify(nil))
	require.ErrorIs(t, classify(fmt.Errorf("x: %w", store.ErrNotFound)), query.ErrNotFound)
	for _, err := range []error{engine.ErrUnavailable, io.ErrUnexpectedEOF, &net.OpError{Op: "dial", Err: errors.New("refused")}} {
		require.ErrorIs(t, classify(fmt.Errorf("x: %w", err)), query.ErrUnavailable)
	}
	for _, err := range []error{context.Canceled, context.DeadlineExceeded, errors.New("other")} {
		got := classify(err)
		require.ErrorIs(t, got, err)
		require.NotErrorIs(t, got, query.ErrUnavailable)
		require.NotErrorIs(t, got, query.ErrNotFound)
	}
}

func TestTimesComeFromThePolicy(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	set(t, cfg)
	s, err := newServer(extensiontest.NewNopSettings(Type), cfg)
	require.NoError(t, err)
	got := timing(s.policy)
	require.Equal(t, s.policy.Detection.Quiet, got.Quiet)
	require.Equal(t, s.policy.Detection.InFlight, got.InFlight)
	for _, agent := range []string{"", "nobody"} {
		want := s.policy.Limits(agent, "").WallTime
		if want == 0 {
			want = time.Hour
		}
		require.Equal(t, want, got.StallAfter(agent, ""))
	}
}
