package agentqueryextension

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/extensioncapabilities"
	"go.uber.org/zap"

	"github.com/steptrail/steptrail/extension/agentstorageextension"
	"github.com/steptrail/steptrail/internal/detect"
	"github.com/steptrail/steptrail/internal/policy"
	"github.com/steptrail/steptrail/internal/policyfile"
	"github.com/steptrail/steptrail/query"
)

const (
	maxHeaderBytes    = 64 << 10
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second
	idleTimeout       = 2 * time.Minute
	// stallAfter is the wall-time limit of runs to which the policy gives none.
	stallAfter = time.Hour
	// drainTimeout keeps a long history from holding up the collector's stop.
	drainTimeout = 5 * time.Second
)

var (
	_ extension.Extension                   = (*server)(nil)
	_ extensioncapabilities.Dependent       = (*server)(nil)
	_ extensioncapabilities.PipelineWatcher = (*server)(nil)
)

// server is the extension: an HTTP server around a query.Server.
type server struct {
	cfg    *Config
	set    component.TelemetrySettings
	policy *policy.Policy
	now    func() time.Time

	storage   agentstorageextension.Storage
	pipelines atomic.Bool // they run

	http     *http.Server
	handler  *query.Server
	listener net.Listener
	done     sync.WaitGroup
}

func newServer(set extension.Settings, cfg *Config) (*server, error) {
	// Checked only: a collector that is validated makes no key.
	p, _, err := policyfile.Check(cfg.PolicyFile, cfg.DataDir)
	if err != nil {
		return nil, err
	}
	return &server{cfg: cfg, set: set.TelemetrySettings, policy: p, now: time.Now}, nil
}

// Dependencies makes the collector start the storage first and stop it last.
func (s *server) Dependencies() []component.ID { return []component.ID{s.cfg.Storage} }

// Start listens and serves until Shutdown.
func (s *server) Start(ctx context.Context, host component.Host) error {
	var err error
	if s.storage, err = agentstorageextension.Find(host, s.cfg.Storage); err != nil {
		return err
	}
	redaction, err := newRedaction(s.cfg)
	if err != nil {
		return err
	}
	handler, err := query.New(query.Options{
		Reader: s.reader, Ready: s.ready, Timing: timing(s.policy), Policy: s.policy, Redaction: redaction, Kinds: detect.Kinds(), HostAllowed: s.cfg.hostAllowed(),
		RequestTimeout: s.cfg.RequestTimeout, HistoryTimeout: s.cfg.HistoryTimeout, MaxRequests: s.cfg.MaxRequests,
		Registry: prometheus.NewRegistry(), Now: s.now, Log: s.set.Logger,
	})
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	if s.listener, err = lc.Listen(ctx, "tcp", s.cfg.Endpoint); err != nil {
		return fmt.Errorf("endpoint of the query API: %w", err) // names the address
	}
	// A name such as localhost may have been pointed elsewhere.
	if a, ok := s.listener.Addr().(*net.TCPAddr); !s.cfg.Insecure && (!ok || !a.IP.IsLoopback()) {
		return errors.Join(errBeyondLoopback(s.listener.Addr().String()), s.listener.Close())
	}
	s.handler = handler
	s.http = &http.Server{
		Handler: handler, MaxHeaderBytes: maxHeaderBytes,
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout,
		WriteTimeout: s.cfg.RequestTimeout + s.cfg.HistoryTimeout, // histories shorten it buffer by buffer
		ErrorLog:     zap.NewStdLog(s.set.Logger),
	}
	s.done.Go(func() { // ends when Shutdown closes the server
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(fmt.Errorf("serve: %w", err)))
		}
	})
	s.set.Logger.Info("query API listens", zap.Stringer("endpoint", s.listener.Addr()))
	return nil
}

// Ready is called by the collector when the pipelines have started.
func (s *server) Ready() error {
	s.pipelines.Store(true)
	s.set.Logger.Info("Steptrail is up: spans are taken in, and the query API answers", zap.Stringer("endpoint", s.listener.Addr()))
	return nil
}

// NotReady is called by the collector before the pipelines stop.
func (s *server) NotReady() error {
	s.pipelines.Store(false)
	return nil
}

// Shutdown lets requests end for as long as the context allows, then cuts them.
func (s *server) Shutdown(ctx context.Context) error {
	if s.http == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close()
	}
	s.done.Wait()
	s.handler.Close()
	return err
}

// ready is nil once the storage is migrated and the pipelines run. Its error
// names what is missing and nothing else: clients read it.
func (s *server) ready() error {
	if _, err := s.storage.Store(); err != nil {
		return errors.New("the storage is not ready: not reached yet, or its migrations are not done")
	}
	if !s.pipelines.Load() {
		return errors.New("the pipelines have not started")
	}
	return nil
}

func timing(p *policy.Policy) query.Timing {
	return query.Timing{
		Quiet: p.Detection.Quiet, InFlight: p.Detection.InFlight,
		StallAfter: func(agent, taskType string) time.Duration {
			if d := p.Limits(agent, taskType).WallTime; d > 0 {
				return d
			}
			return stallAfter
		},
	}
}
